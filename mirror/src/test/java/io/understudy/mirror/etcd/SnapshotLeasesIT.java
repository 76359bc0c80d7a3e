package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.ForeignWriteHint;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A snapshot keeps the order of key creation, which is the queue for a lock.
 *
 * <p>Tests invariant M16.
 */
final class SnapshotLeasesIT {

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    private static final ClusterId SOURCE = new ClusterId(0xfeed);
    private static final Revision SNAPSHOT = new Revision(1_000);
    private static final int KEYS = 60;

    private EtcdCluster cluster;
    private TestClient target;

    @BeforeEach
    void connect() {
        cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
        target = TestClient.of(TARGET.cluster().leader());
    }

    @AfterEach
    void disconnect() {
        target.close();
        cluster.close();
    }

    /** Grants a lease of the target for each of the source's. */
    private final class Granted implements TargetLeases {
        private final Map<Long, Long> granted = new HashMap<>();

        @Override
        public boolean areKept() {
            return true;
        }

        @Override
        public synchronized long forPut(ByteString key, long sourceLease) {
            return sourceLease == 0 ? 0 : granted.computeIfAbsent(sourceLease, lease -> target.lease(60));
        }
    }

    @Test
    void entriesWithLeasesAreWrittenLastInTheOrderOfTheirCreation() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed);
        List<KeyValue> entries = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            Revision created = new Revision(random.nextInt(1, 500) * 2L);
            boolean leased = random.nextInt(3) == 0;
            entries.add(new KeyValue(
                    ByteString.copyFromUtf8(String.format("/q/%03d", i)),
                    ByteString.copyFromUtf8("v" + i),
                    created,
                    created,
                    1,
                    leased ? 1 + i % 2 : 0));
        }
        EtcdSinkOptions options = EtcdSinkOptions.DEFAULTS;
        try (EtcdSink sink = new EtcdSink(
                "leases",
                MirrorScope.prefix("/q/"),
                "test/1",
                null,
                cluster,
                options,
                new Granted(),
                ForeignWriteHint.NONE,
                new Silent())) {
            assertThat(sink.open()).isNull();
            sink.snapshotStarted(SOURCE, SNAPSHOT);
            ByteString middle = entries.get(KEYS / 2).key();
            KeyRange whole = KeyRange.prefix(ByteString.copyFromUtf8("/q/"));
            sink.snapshotPage(new KeyRange(whole.from(), middle), entries.subList(0, KEYS / 2));
            sink.snapshotPage(new KeyRange(middle, whole.to()), entries.subList(KEYS / 2, KEYS));
            sink.snapshotCompleted(new Position(SOURCE, SNAPSHOT, null));
        }

        List<io.etcd.jetcd.api.KeyValue> held = new ArrayList<>(target.kv()
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("/q/"))
                        .setRangeEnd(ByteString.copyFromUtf8("/q0"))
                        .build())
                .getKvsList());
        assertThat(held).as("seed %d", seed).hasSize(KEYS);
        held.sort(Comparator.comparing(io.etcd.jetcd.api.KeyValue::getCreateRevision));
        List<ByteString> expected = entries.stream()
                .filter(entry -> entry.lease() != 0)
                .sorted(Comparator.comparing(KeyValue::createRevision).thenComparing(KeyValue::key, KeyRange.KEY_ORDER))
                .map(KeyValue::key)
                .toList();
        List<io.etcd.jetcd.api.KeyValue> last = held.subList(KEYS - expected.size(), KEYS);
        assertThat(last)
                .as("seed %d", seed)
                .extracting(io.etcd.jetcd.api.KeyValue::getKey)
                .isEqualTo(expected);
        assertThat(last)
                .extracting(io.etcd.jetcd.api.KeyValue::getCreateRevision)
                .doesNotHaveDuplicates();
        assertThat(last).allMatch(entry -> entry.getLease() != 0);
        assertThat(held.subList(0, KEYS - expected.size())).allMatch(entry -> entry.getLease() == 0);
    }
}
