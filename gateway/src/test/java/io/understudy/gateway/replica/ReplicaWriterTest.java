package io.understudy.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.feed.FeedEndedException;
import io.understudy.gateway.replica.ReplicaWriter.SourceMove;
import io.understudy.gateway.replica.SnapshotMerge.ReplicaDivergedException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests invariants G2, R4. */
@Timeout(60)
final class ReplicaWriterTest {

    private static final ClusterId CLUSTER = new ClusterId(1);
    private static final KeyValue A = Keys.entry(Keys.key("a"), "1", 5);
    private static final KeyValue B = Keys.entry(Keys.key("b"), "2", 9);

    private final ScriptedFeeds feeds = new ScriptedFeeds();
    private final Replica replica = new Replica(KeyRange.all(), state -> {});
    private final AtomicInteger applied = new AtomicInteger();
    private final AtomicInteger resyncs = new AtomicInteger();
    private final ReplicaWriter writer =
            new ReplicaWriter(replica, feeds, took -> applied.incrementAndGet(), resyncs::incrementAndGet);

    @BeforeEach
    void start() {
        snapshot(5, A);
        writer.start();
        awaitRevision(5);
    }

    @AfterEach
    void close() throws InterruptedException {
        writer.close(Duration.ofSeconds(10));
        await().untilAsserted(() -> assertThat(feeds.closed.get()).isGreaterThanOrEqualTo(feeds.opened.size()));
    }

    @Test
    void afterAGapTheSnapshotOfTheNextFeedIsMerged() {
        feeds.next(consumer -> {
            throw new FeedEndedException.Gap(position(5), new Revision(8), "compacted");
        });
        snapshot(9, B);
        awaitRevision(9);
        assertThat(replica.state().get(A.key())).isNull();
        assertThat(replica.state().get(B.key())).isEqualTo(Entry.of(B));
        assertThat(feeds.opened).hasSize(2);
        assertThat(resyncs).hasValue(1);
        assertThat(writer.failed()).isNull();
    }

    @Test
    void aGapThatTheSnapshotDoesNotPassIsReported_andTheNextFeedWaits() {
        for (int i = 0; i < 2; i++) {
            feeds.next(consumer -> {
                throw new FeedEndedException.Gap(position(5), Revision.ZERO, "too large");
            });
        }
        await().atMost(Duration.ofSeconds(20)).until(() -> writer.problem() != null);
        assertThat(writer.problem()).contains("too large");
        assertThat(feeds.opened).hasSize(2);
        snapshot(9, B);
        awaitRevision(9);
        await().atMost(Duration.ofSeconds(20)).until(() -> writer.problem() == null);
        assertThat(writer.failure()).isNotDone();
    }

    @Test
    void aFeedThatIsRejectedIsOpenedAgainUntilItIsServed() {
        feeds.next(consumer -> {
            throw new FeedEndedException.Unexplained("permission denied");
        });
        await().atMost(Duration.ofSeconds(20)).until(() -> "permission denied".equals(writer.problem()));
        feeds.next(consumer -> {
            throw new FeedEndedException.Unexplained("topic is too old");
        });
        await().atMost(Duration.ofSeconds(20)).until(() -> "topic is too old".equals(writer.problem()));
        assertThat(replica.state().revision()).isEqualTo(new Revision(5));
        snapshot(9, B);
        awaitRevision(9);
        await().atMost(Duration.ofSeconds(20)).until(() -> writer.problem() == null);
        assertThat(feeds.opened).hasSize(3);
        assertThat(resyncs).hasValue(1);
        assertThat(writer.failure()).isNotDone();
    }

    @Test
    void anotherClusterFailsTheWriterAndTheStateStays() {
        FeedEndedException why = new FeedEndedException.AnotherCluster("http://127.0.0.1:1", CLUSTER, new ClusterId(2));
        feeds.next(consumer -> {
            throw why;
        });
        await().atMost(Duration.ofSeconds(20)).until(() -> writer.failed() != null);
        assertThat(writer.failed()).isSameAs(why);
        assertThat(writer.failure()).isCompletedExceptionally();
        assertThat(replica.state().revision()).isEqualTo(new Revision(5));
        assertThat(feeds.opened).hasSize(1);
    }

    @Test
    void afterAMoveTheNextFeedIsOfTheOtherCluster() {
        AtomicInteger openedBefore = new AtomicInteger();
        writer.move(
                        new SourceMove(new Revision(20), new Revision(5), Revision.ZERO, key -> false, range -> true),
                        () -> openedBefore.set(feeds.opened.size()))
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
        assertThat(openedBefore).hasValue(1);
        assertThat(replica.log().head()).isEqualTo(20);
        feeds.next(consumer -> {
            consumer.snapshotStarted(new ClusterId(2), new Revision(21));
            consumer.snapshotPage(KeyRange.all(), List.of(B));
            consumer.snapshotCompleted(new Position(new ClusterId(2), new Revision(21), null));
        });
        awaitRevision(21);
        assertThat(writer.failed()).isNull();
    }

    @Test
    void theFormerFeedDeliversUpToTheEndMarker_andTwoMovesAreMadeInOrder() {
        List<String> calls = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> first = writer.move(
                new SourceMove(new Revision(20), new Revision(9), Revision.ZERO, key -> false, range -> true),
                () -> calls.add("first at " + replica.log().head()));
        CompletableFuture<Void> second = writer.move(
                new SourceMove(new Revision(40), new Revision(30), Revision.ZERO, key -> false, range -> true),
                () -> calls.add("second at " + replica.log().head()));
        feeds.next(consumer -> consumer.commit(SourceModel.commit(9, List.of(new Change.Put(B))), position(9)));
        CompletableFuture.allOf(first, second).orTimeout(20, TimeUnit.SECONDS).join();
        assertThat(calls).containsExactly("first at 9", "second at 20");
        assertThat(replica.log().from()).isEqualTo(40);
        assertThat(writer.failed()).isNull();
    }

    @Test
    void aMoveDoesNotWaitForAFormerClusterThatIsSilent() {
        writer.move(
                        new SourceMove(new Revision(20), new Revision(9), Revision.ZERO, key -> false, range -> true),
                        () -> assertThat(replica.log().head()).isEqualTo(5))
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
        assertThat(replica.log().from()).isEqualTo(20);
        assertThat(writer.failed()).isNull();
    }

    /** The former cluster may be lost for good. */
    @Test
    void aMoveDoesNotWaitUntilAFormerHistoryIsRecognised() {
        replica.rebuild("it differs");
        await().atMost(Duration.ofSeconds(20)).until(() -> feeds.opened.size() == 2);
        snapshot(9, B);
        await().atMost(Duration.ofSeconds(20)).until(() -> !feeds.resumedAt.isEmpty());
        writer.move(
                        new SourceMove(new Revision(20), Revision.ZERO, Revision.ZERO, key -> false, range -> true),
                        () -> {})
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
        assertThat(writer.failed()).isNull();
    }

    @Test
    void aReplicaThatWouldDivergeFailsTheWriter() {
        feeds.next(consumer -> consumer.snapshotStarted(CLUSTER, new Revision(4)));
        await().atMost(Duration.ofSeconds(20)).until(() -> writer.failed() != null);
        assertThat(writer.failed()).isInstanceOf(ReplicaDivergedException.class);
    }

    @Test
    void aDroppedStateIsReplacedOnlyFromTheSameHistory() {
        rebuildFromASnapshot();
        await().atMost(Duration.ofSeconds(20)).until(() -> !feeds.resumedAt.isEmpty());
        assertThat(feeds.resumedAt).containsExactly(position(5));
        assertThat(replica.state()).isNull();
        feeds.nextResumed(consumer -> consumer.progress(position(9)));
        awaitRevision(9);
        assertThat(writer.failed()).isNull();
    }

    /** A feed that resumes a history replaces a commit by a snapshot only in the same history. */
    @Test
    void aHistoryWithACommitTooLargeIsRecognised() {
        feeds.nextResumed(consumer -> {
            consumer.historyRecognised();
            consumer.commitReplaced(new Revision(8));
            consumer.snapshotStarted(CLUSTER, new Revision(9));
        });
        rebuildFromASnapshot();
        awaitRevision(9);
        assertThat(writer.failed()).isNull();
    }

    @Test
    void aSnapshotIsVerifiedAfterAnUnfinishedOneThatReplacedACommit() {
        replica.rebuild("it differs");
        await().atMost(Duration.ofSeconds(20)).until(() -> feeds.opened.size() == 2);
        feeds.next(consumer -> {
            consumer.historyRecognised();
            consumer.commitReplaced(new Revision(8));
            consumer.snapshotStarted(CLUSTER, new Revision(9));
        });
        feeds.next(consumer -> {
            throw new FeedEndedException.Gap(position(5), new Revision(8), "compacted");
        });
        snapshot(9, B);
        await().atMost(Duration.ofSeconds(20)).until(() -> !feeds.resumedAt.isEmpty());
        assertThat(replica.state()).isNull();
        feeds.nextResumed(consumer -> consumer.progress(position(9)));
        awaitRevision(9);
    }

    @Test
    void aRejectionWhileTheHistoryIsVerifiedIsNoOtherHistory() {
        feeds.nextResumed(consumer -> {
            throw new FeedEndedException.Unexplained("permission denied");
        });
        replica.rebuild("it differs");
        await().atMost(Duration.ofSeconds(20)).until(() -> feeds.opened.size() == 2);
        snapshot(9, B);
        await().atMost(Duration.ofSeconds(20)).until(() -> "permission denied".equals(writer.problem()));
        snapshot(9, B);
        feeds.nextResumed(consumer -> consumer.progress(position(9)));
        awaitRevision(9);
        assertThat(writer.failure()).isNotDone();
    }

    @Test
    void aSnapshotOfAnotherHistoryIsNeverPutInADroppedStatesPlace() {
        feeds.nextResumed(consumer -> {
            throw new FeedEndedException.AnotherHistory("restored");
        });
        rebuildFromASnapshot();
        await().atMost(Duration.ofSeconds(20)).until(() -> writer.failed() != null);
        assertThat(writer.failed()).isInstanceOf(ReplicaDivergedException.class).hasMessage("restored");
        assertThat(replica.state()).isNull();
    }

    @Test
    void aDivergedReplicaIsNotRebuiltFromAnUnrecognisedHistory() {
        feeds.nextResumed(consumer -> {
            throw new FeedEndedException.Gap(position(5), new Revision(8), "compacted");
        });
        rebuildFromASnapshot();
        await().atMost(Duration.ofSeconds(20)).until(() -> writer.failed() != null);
        assertThat(writer.failed())
                .hasMessageContaining("cannot be verified (gap after revision 5: compacted); restart the gateway");
        assertThat(replica.state()).isNull();
    }

    /** A state topic is read as a whole before its snapshot starts. */
    @Test
    void aFeedWithoutASnapshotYetIsNotReplaced() throws InterruptedException {
        Replica small = small();
        writing(small, () -> {
            large(5);
            feeds.next(consumer -> {});
            feeds.next(consumer -> {});
            snapshot(9, B);
            awaitRevision(small, 9);
            assertThat(feeds.opened).hasSize(3);
        });
    }

    @Test
    void aVerifiedSnapshotThatDoesNotFitEndsTheDoubt() throws InterruptedException {
        Replica small = small();
        writing(small, () -> {
            snapshot(5, A);
            awaitRevision(small, 5);
            small.rebuild("it differs");
            await().atMost(Duration.ofSeconds(20)).until(() -> feeds.opened.size() == 3);
            feeds.nextResumed(consumer -> consumer.progress(position(9)));
            feeds.nextResumed(consumer -> {
                throw new FeedEndedException.Gap(position(9), new Revision(11), "compacted");
            });
            large(9);
            snapshot(12, B);
            awaitRevision(small, 12);
        });
    }

    @Test
    void commitsAreMeasured() {
        long before = System.nanoTime();
        feeds.next(consumer -> consumer.commit(SourceModel.commit(9, List.of(new Change.Put(B))), position(9)));
        awaitRevision(9);
        await().untilAsserted(() -> assertThat(applied).hasValue(1));
        assertThat(writer.silence().toNanos()).isLessThan(System.nanoTime() - before);
    }

    @Test
    void closingIsNotAFailure() throws InterruptedException {
        writer.close(Duration.ofSeconds(10));
        assertThat(writer.failed()).isNull();
        assertThat(writer.failure()).isNotDone();
    }

    /** A replica without room for {@link #large}, which reads another snapshot at once. */
    private static Replica small() {
        return new Replica(KeyRange.all(), new ReplicaSettings(1_000, 1 << 20, 1 << 20, Duration.ZERO), state -> {});
    }

    private void large(long revision) {
        snapshot(revision, Keys.entry(Keys.key("a"), "x".repeat(2 << 20), revision));
    }

    /** Runs {@code task} while feeds are written to {@code other} instead, which must not fail. */
    private void writing(Replica other, Runnable task) throws InterruptedException {
        writer.close(Duration.ofSeconds(10));
        ReplicaWriter another = new ReplicaWriter(other, feeds, took -> {}, () -> {});
        another.start();
        try {
            task.run();
            assertThat(another.failed()).isNull();
        } finally {
            another.close(Duration.ofSeconds(10));
        }
    }

    private void rebuildFromASnapshot() {
        replica.rebuild("it differs");
        await().atMost(Duration.ofSeconds(20)).until(() -> feeds.opened.size() == 2);
        snapshot(9, B);
    }

    private void snapshot(long revision, KeyValue... entries) {
        feeds.next(consumer -> {
            consumer.snapshotStarted(CLUSTER, new Revision(revision));
            consumer.snapshotPage(KeyRange.all(), List.of(entries));
            consumer.snapshotCompleted(position(revision));
        });
    }

    private void awaitRevision(long revision) {
        awaitRevision(replica, revision);
    }

    private static void awaitRevision(Replica replica, long revision) {
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            ReplicaState state = replica.state();
            return state != null && state.revision().equals(new Revision(revision));
        });
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }
}
