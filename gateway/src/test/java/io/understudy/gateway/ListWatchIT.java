package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Caches that are kept as Kubernetes keeps its own stay right, whatever becomes of the gateway.
 *
 * <p>Tests invariant V8.
 */
@Timeout(120)
final class ListWatchIT {

    private static final String REGISTRY = "/registry/";

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final AtomicBoolean writing = new AtomicBoolean(true);

    @Test
    void cachesEqualTheSourceAcrossRestartsAndCompactions() throws Exception {
        EtcdMember member = SOURCE.cluster().members().get(0);
        ManagedChannel direct = GatewayFixture.channel(
                member.clientUrl().getHost(), member.clientUrl().getPort());
        Thread writer = new Thread(() -> write(direct), "writer");
        List<ListWatch> caches = new ArrayList<>();
        GatewayFixture whole = null;
        try (FreePorts ports = FreePorts.take(1);
                GatewayFixture part = new GatewayFixture(settings(member, 0).withPrefix(REGISTRY))) {
            whole = new GatewayFixture(settings(member, ports.get(0)));
            whole.awaitReady();
            part.awaitReady();
            writer.start();
            caches.add(new ListWatch("127.0.0.1", ports.get(0), REGISTRY));
            caches.add(new ListWatch("127.0.0.1", ports.get(0), REGISTRY + "pods/"));
            caches.add(new ListWatch("127.0.0.1", part.gateway.apiPort(), REGISTRY));
            readConsistently(caches, direct, 8);

            whole.close();
            whole = new GatewayFixture(settings(member, ports.get(0)));
            whole.awaitReady();
            readConsistently(caches, direct, 4);
            assertThat(caches).as("resumed, not listed anew").allMatch(cache -> cache.lists() == 1);

            whole.close();
            // Past all that the caches have.
            long gone = revision(direct) + 20;
            await().atMost(PATIENCE).until(() -> revision(direct) > gone);
            SOURCE.cluster().etcdctl("compact", Long.toString(gone));
            whole = new GatewayFixture(settings(member, ports.get(0)));
            whole.awaitReady();
            readConsistently(caches, direct, 4);
            assertThat(caches.get(0).lists()).isEqualTo(2);

            writing.set(false);
            writer.join();
            readConsistently(caches, direct, 1);
        } finally {
            writing.set(false);
            writer.join();
            caches.forEach(ListWatch::close);
            if (whole != null) {
                whole.close();
            }
            direct.shutdownNow();
        }
    }

    private static GatewaySettings settings(EtcdMember member, int port) {
        return GatewaySettings.of(
                "test-" + port,
                new HostPort("127.0.0.1", port),
                EtcdSettings.of(member.clientUrl()).withName("source"));
    }

    private void readConsistently(List<ListWatch> caches, ManagedChannel direct, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            for (ListWatch cache : caches) {
                long least = revision(direct);
                ListWatch.Snapshot read = cache.consistentRead(PATIENCE);
                assertThat(read.revision()).as("seed %d: %s", seed, cache).isGreaterThanOrEqualTo(least);
                assertThat(read.entries())
                        .as("seed %d: %s at %d", seed, cache, read.revision())
                        .isEqualTo(ofSource(direct, cache.prefix(), read.revision()));
                assertThat(cache.faults()).as("seed %d", seed).isEmpty();
            }
        }
    }

    private static List<KeyValue> ofSource(ManagedChannel direct, String prefix, long revision) {
        KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8(prefix));
        return GatewayFixture.kv(direct)
                .range(RangeRequest.newBuilder()
                        .setKey(range.etcdKey())
                        .setRangeEnd(range.etcdRangeEnd())
                        .setRevision(revision)
                        .build())
                .getKvsList();
    }

    private static long revision(ManagedChannel direct) {
        return GatewayFixture.kv(direct)
                .range(RangeRequest.newBuilder()
                        .setKey(GatewayFixture.ZERO)
                        .setCountOnly(true)
                        .build())
                .getHeader()
                .getRevision();
    }

    private void write(ManagedChannel direct) {
        while (writing.get()) {
            String kind = List.of(REGISTRY + "pods/", REGISTRY + "leases/", "elsewhere/")
                    .get(random.nextInt(3));
            String key = kind + random.nextInt(30);
            long unused = random.nextInt(4) == 0
                    ? WatchIT.delete(key).applyAsLong(GatewayFixture.kv(direct))
                    : WatchIT.put(key, Long.toString(random.nextLong())).applyAsLong(GatewayFixture.kv(direct));
            LockSupport.parkNanos(3_000_000);
        }
    }
}
