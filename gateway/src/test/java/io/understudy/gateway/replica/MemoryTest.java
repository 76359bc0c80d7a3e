package io.understudy.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a replica takes of memory, the window full: live heap after a full collection, and direct and mapped memory. A
 * million keys with {@code -Dunderstudy.schedule=long}, otherwise a part of that and of the window.
 *
 * <p>Tests invariant R5.
 */
@Timeout(600)
@Tag("speed")
final class MemoryTest {

    private static final Logger LOG = LoggerFactory.getLogger(MemoryTest.class);
    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int KEYS = LONG ? 1_000_000 : 100_000;
    private static final int KEY_BYTES = 20;
    private static final int VALUE_BYTES = 256;
    /** Of a commit: so many that the window's bytes are full before its revisions are. */
    private static final int CHANGES = 3;

    private static final double MOST = 1.6;
    private static final int PAGE = 1_000;
    private static final long SNAPSHOT = 3_000_000;
    private static final ClusterId CLUSTER = new ClusterId(1);

    private final Random random = new Random(20_261_121);

    @Test
    void aReplicaWithAFullWindowTakesLittleMoreThanItsKeysAndValues() {
        ReplicaSettings settings = new ReplicaSettings(
                ReplicaSettings.DEFAULTS.windowRevisions(),
                ReplicaSettings.DEFAULTS.windowBytes() / (1_000_000 / KEYS),
                1L << 40,
                Duration.ofHours(1));
        long before = liveBytes();
        Replica replica = new Replica(KeyRange.all(), settings, state -> {});
        load(replica);
        long loaded = liveBytes() - before;
        requireNear(replica.state().heapBytes(), loaded);
        long revision = SNAPSHOT;
        for (int i = 0; i < 3 * settings.windowRevisions(); i++) {
            change(replica, ++revision);
        }
        long full = liveBytes() - before;
        long raw = (long) KEYS * (KEY_BYTES + VALUE_BYTES);
        LOG.info(
                "memory keys={} raw={} loaded={} full={} ratio={} window commits={} bytes={}",
                KEYS,
                raw,
                loaded,
                full,
                (double) full / raw,
                replica.log().size(),
                replica.log().bytes());
        assertThat((double) full / raw).isLessThanOrEqualTo(MOST);
        requireNear(replica.state().heapBytes() + replica.log().bytes(), full);
        assertThat(replica.log().bytes()).isBetween(settings.windowBytes() * 9 / 10, settings.windowBytes());
        assertThat(replica.state().keys()).isEqualTo(KEYS);
    }

    /** Limits depend on the size that the replica reports. */
    private static void requireNear(long reported, long measured) {
        assertThat((double) reported / measured).isBetween(0.9, 1.15);
    }

    private void load(Replica replica) {
        replica.snapshotStarted(CLUSTER, new Revision(SNAPSHOT));
        ByteString from = ByteString.EMPTY;
        for (int begin = 0; begin < KEYS; begin += PAGE) {
            List<KeyValue> page = new ArrayList<>(PAGE);
            for (int i = begin; i < begin + PAGE; i++) {
                page.add(entry(i, 1_000_000 + i));
            }
            ByteString to = begin + PAGE == KEYS ? null : key(begin + PAGE);
            replica.snapshotPage(new KeyRange(from, to), page);
            from = to;
        }
        replica.snapshotCompleted(new Position(CLUSTER, new Revision(SNAPSHOT), null));
    }

    private void change(Replica replica, long revision) {
        List<Change> changes = random.ints(0, KEYS)
                .distinct()
                .limit(CHANGES)
                .<Change>mapToObj(number -> new Change.Put(entry(number, revision)))
                .toList();
        replica.commit(
                new Commit(new Revision(revision), changes), new Position(CLUSTER, new Revision(revision), null));
    }

    private KeyValue entry(int number, long revision) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        return new KeyValue(
                key(number),
                ByteString.copyFrom(value),
                new Revision(1_000_000 + number),
                new Revision(revision),
                1,
                0);
    }

    private static ByteString key(int number) {
        return ByteString.copyFromUtf8(String.format("/registry/%010d", number));
    }

    /** The least of some, since a full collection may leave dead objects where moving the live ones isn't worth it. */
    private static long liveBytes() {
        return LongStream.generate(MemoryTest::usedBytes).limit(5).min().orElseThrow();
    }

    private static long usedBytes() {
        long before = collections();
        System.gc();
        await().until(() -> collections() > before);
        long buffers = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() + buffers;
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }
}
