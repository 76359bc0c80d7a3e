package io.understudy.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * What versions cost that only slow readers keep, and which readers end.
 *
 * <p>Tests invariant S3.
 */
final class KeptVersionsTest {

    private static final ClusterId CLUSTER = new ClusterId(1);
    private static final long LEAST = Runtime.getRuntime().maxMemory() / 16;

    private final List<String> ended = new ArrayList<>();
    private int counted;

    @Test
    void statesInTheWindowCostNothing() {
        KeptVersions kept = new KeptVersions(() -> 0, count -> counted += count);
        Runnable unused = kept.keepState(100, 5, 50 * LEAST, () -> ended.add("a"));
        kept.replace(10 * LEAST);
        kept.dropped(100, 4);

        assertThat(kept.bytes()).isZero();
        assertThat(ended).isEmpty();
    }

    @Test
    void aStateCostsWhatTheNextDoesNotHave() {
        KeptVersions kept = new KeptVersions(() -> Long.MAX_VALUE, count -> counted += count);
        Runnable first = kept.keepState(0, 1, 1_000, () -> ended.add("first"));
        Runnable same = kept.keepState(0, 1, 1_000, () -> ended.add("same"));
        Runnable second = kept.keepState(300, 4, 1_000, () -> ended.add("second"));
        kept.replace(5_000);
        kept.dropped(5_000, 9);

        // The second is not larger than itself.
        assertThat(kept.bytes()).isEqualTo(300 + 1_000);
        first.run();
        assertThat(kept.bytes()).isEqualTo(1_300);
        same.run();
        same.run();
        assertThat(kept.bytes()).isEqualTo(1_000);
        second.run();
        assertThat(kept.bytes()).isZero();
        assertThat(ended).isEmpty();
    }

    @Test
    void beyondTheLimitTheReadersOfTheOldestVersionEnd() {
        KeptVersions kept = new KeptVersions(() -> 0, count -> counted += count);
        Runnable old = kept.keepState(0, 1, LEAST, () -> ended.add("old"));
        Runnable alsoOld = kept.keepState(0, 1, LEAST, () -> ended.add("also old"));
        Runnable batch = kept.keepBatch(2, 1, LEAST / 2, () -> ended.add("batch"));
        Runnable later = kept.keepBatch(3, 1, LEAST / 4, () -> ended.add("later batch"));
        kept.replace(LEAST - 1);
        kept.dropped(LEAST - 1, 0);
        assertThat(ended).isEmpty();

        kept.dropped(LEAST - 1, 4);

        assertThat(ended).containsExactly("old", "also old");
        assertThat(counted).isEqualTo(2);
        assertThat(kept.bytes()).isEqualTo(LEAST / 2 + LEAST / 4);
        // Their own ends change nothing.
        old.run();
        alsoOld.run();
        assertThat(kept.bytes()).isEqualTo(LEAST / 2 + LEAST / 4);
        batch.run();
        later.run();
        assertThat(kept.bytes()).isZero();
    }

    /** Its watchers would resume at it, and end again. */
    @Test
    void theWatchersOfOneBatchDoNotEnd() {
        KeptVersions kept = new KeptVersions(() -> 0, count -> counted += count);
        kept.dropped(0, 9);
        Runnable unused = kept.keepBatch(2, 1, 2 * LEAST, () -> ended.add("large"));
        assertThat(ended).isEmpty();

        unused = kept.keepBatch(3, 1, 2 * LEAST, () -> ended.add("next"));

        assertThat(ended).containsExactly("large");
        assertThat(kept.bytes()).isEqualTo(2 * LEAST);
    }

    /** Each reading of history has copies of its own. */
    @Test
    void batchesOfTheSameRevisionFromSeveralLogsAddUp() {
        KeptVersions kept = new KeptVersions(() -> 0, count -> counted += count);
        kept.dropped(0, 9);
        Runnable unused = kept.keepBatch(2, 1, LEAST / 2, () -> ended.add("first"));
        unused = kept.keepBatch(2, 1, LEAST / 2, () -> ended.add("same"));
        unused = kept.keepBatch(2, 2, LEAST / 2, () -> ended.add("second"));
        assertThat(kept.bytes()).isEqualTo(2 * (LEAST / 2));
        assertThat(ended).isEmpty();

        unused = kept.keepBatch(2, 3, LEAST, () -> ended.add("third"));

        assertThat(ended).as("would end again, in place of another").containsExactly("third");
        assertThat(kept.bytes()).isEqualTo(2 * (LEAST / 2));
    }

    /** A watcher that ends reads the commit again, so two could end each other forever. */
    @Test
    void aReaderOfALargeCommitEndsOnlyAfterItHasStalled() {
        AtomicLong now = new AtomicLong();
        KeptVersions kept = new KeptVersions(() -> 0, count -> counted += count, now::get);
        kept.dropped(0, 9);
        Runnable slow = kept.keepBatch(2, 1, LEAST, () -> ended.add("slow"));
        for (int log = 2; log < 5; log++) {
            now.addAndGet(KeptVersions.STALLED_NANOS - 1);
            Runnable unused = kept.keepBatch(2, log, LEAST, () -> ended.add("other"));
            // It has written a part.
            slow.run();
            slow = kept.keepBatch(2, 1, LEAST, () -> ended.add("slow"));
        }
        assertThat(ended).containsExactly("other", "other", "other");

        now.addAndGet(KeptVersions.STALLED_NANOS);
        Runnable other = kept.keepBatch(2, 5, LEAST, () -> ended.add("other"));

        assertThat(ended).endsWith("other", "slow");
        other.run();
        assertThat(kept.bytes()).isZero();
    }

    @Test
    void statesOfAReplicaAreCountedOnceTheyLeaveTheWindow() {
        Replica replica = new Replica(KeyRange.all(), ReplicaSettings.DEFAULTS.withWindowRevisions(2), state -> {});
        replica.snapshotStarted(CLUSTER, new Revision(1));
        replica.snapshotPage(KeyRange.all(), List.of(entry("a", 1), entry("b", 1)));
        replica.snapshotCompleted(position(1));
        Runnable release = Objects.requireNonNull(replica.state()).keep(() -> {});
        BooleanSupplier isFree = () -> replica.kept().bytes() == 0;

        put(replica, "a", 2);
        put(replica, "a", 3);
        assertThat(isFree.getAsBoolean()).isTrue();
        put(replica, "a", 4);
        long one = replica.kept().bytes();
        assertThat(one).isBetween(1_000L, 2_000L);
        put(replica, "a", 5);
        put(replica, "a", 6);
        put(replica, "a", 7);
        // No more than the whole state.
        assertThat(replica.kept().bytes()).isBetween(one + 1, 3_000L);
        replica.rebuild("test");
        assertThat(replica.isSnapshotDue()).isTrue();
        assertThat(replica.kept().bytes()).isBetween(one + 1, 3_000L);
        release.run();
        assertThat(isFree.getAsBoolean()).isTrue();
    }

    private static void put(Replica replica, String key, long revision) {
        replica.commit(
                new Commit(new Revision(revision), List.of(new Change.Put(entry(key, revision)))), position(revision));
    }

    private static KeyValue entry(String key, long revision) {
        return new KeyValue(
                ByteString.copyFromUtf8(key),
                ByteString.copyFrom(new byte[1_000]),
                new Revision(1),
                new Revision(revision),
                revision,
                0);
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }
}
