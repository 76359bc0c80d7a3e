package io.understudy.gateway.primary;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.gateway.primary.PrimaryChoice.Side;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.fault.FaultProxy;
import io.understudy.local.fault.Party;
import io.understudy.local.junit.EtcdExtension;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The record of a cluster that is rebuilt, with the same ID or another.
 *
 * <p>Tests invariant G3.
 */
@Timeout(120)
final class PrimaryRecordsIT {

    @RegisterExtension
    static final EtcdExtension CLUSTER =
            EtcdExtension.voters(1).named("rebuilt").own();

    @RegisterExtension
    static final EtcdExtension OTHER = EtcdExtension.voters(1).named("other").own();

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private final List<Long> epochs = new CopyOnWriteArrayList<>();

    @Test
    void theRecordOfARebuiltClusterIsRead() throws Exception {
        Path early = folder.resolve("early.db");
        CLUSTER.cluster().snapshot(early);
        put(CLUSTER.cluster(), 6, 7);
        FaultProxy proxy = FaultProxy.to(address(CLUSTER.cluster()));
        int port = proxy.port();
        try (PrimaryRecords records = new PrimaryRecords(
                Side.SOURCE,
                EtcdSettings.of(URI.create("http://127.0.0.1:" + port)).withDiscovery(MemberDiscovery.CONFIGURED),
                "dr",
                EtcdFeedOptions.DEFAULTS,
                new SimpleMeterRegistry(),
                seen -> epochs.add(seen.record().epoch()))) {
            records.start();
            await().atMost(PATIENCE).until(() -> epochs.contains(7L));

            CLUSTER.cluster().restore(early);
            put(CLUSTER.cluster(), 8);
            await().atMost(PATIENCE).until(() -> epochs.contains(8L));

            proxy.close();
            put(OTHER.cluster(), 9);
            proxy = FaultProxy.between(port, address(OTHER.cluster()), Party.ANYONE);
            await().atMost(PATIENCE).until(() -> epochs.contains(9L));
            await().atMost(PATIENCE).until(() -> records.problem().isEmpty());
            var unused = records.read(PATIENCE).get();
        } finally {
            proxy.close();
        }
    }

    private static void put(LocalEtcd cluster, long... moves) {
        InetSocketAddress member = address(cluster);
        ManagedChannel channel = ManagedChannelBuilder.forAddress(member.getHostString(), member.getPort())
                .usePlaintext()
                .build();
        try {
            for (long each : moves) {
                var unused = KVGrpc.newBlockingStub(channel)
                        .put(PutRequest.newBuilder()
                                .setKey(PrimaryRecord.key("dr"))
                                .setValue(ByteString.copyFromUtf8(
                                        "{\"home\":\"1\",\"scope\":{\"include\":[],\"exclude\":[],\"from\":\"\",\"to\":\"\"},\"moves\":"
                                                + each + "}"))
                                .build());
            }
        } finally {
            channel.shutdownNow();
        }
    }

    private static InetSocketAddress address(LocalEtcd cluster) {
        URI url = cluster.voters().get(0).directClientUrl();
        return new InetSocketAddress(url.getHost(), url.getPort());
    }
}
