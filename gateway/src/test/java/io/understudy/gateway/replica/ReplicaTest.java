package io.understudy.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.ReplicaState.Condition;
import io.understudy.gateway.replica.ReplicaState.ReplicaListener;
import io.understudy.gateway.replica.ReplicaWriter.SourceMove;
import io.understudy.gateway.replica.SnapshotMerge.ReplicaDivergedException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * A replica rejects what would break its invariants, and keeps its state.
 *
 * <p>Tests invariants G4, R2, R3, R4.
 */
final class ReplicaTest {

    private static final ClusterId CLUSTER = new ClusterId(0xabc);
    private static final ClusterId OTHER = new ClusterId(0xdef);
    private static final ByteString A = Keys.key("a");
    private static final ByteString B = Keys.key("b");

    private final Replica replica = new Replica(KeyRange.all(), state -> {});

    @Test
    void isNotReadyBeforeTheFirstSnapshotIsComplete() {
        assertThat(replica.state()).isNull();
        replica.snapshotStarted(CLUSTER, new Revision(5));
        replica.snapshotPage(KeyRange.all(), List.of(Keys.entry(A, "1", 5)));
        assertThat(replica.state()).isNull();
        replica.snapshotCompleted(position(5));
        assertThat(replica.state()).isNotNull();
        assertThat(replica.state().get(A)).isEqualTo(Entry.of(Keys.entry(A, "1", 5)));
    }

    @Test
    void readersKeepTheOldStateWhileASnapshotIsMerged() {
        load(5, Keys.entry(A, "1", 5));
        ReplicaState before = replica.state();
        replica.snapshotStarted(CLUSTER, new Revision(9));
        replica.snapshotPage(KeyRange.all(), List.of(Keys.entry(B, "2", 8)));
        assertThat(replica.state()).isSameAs(before);
        replica.snapshotCompleted(position(9));
        assertThat(replica.state().keys()).isEqualTo(1);
        assertThat(replica.state().get(A)).isNull();
        assertThat(before.get(A)).isNotNull();
    }

    @Test
    void entriesThatDidNotChangeAreSharedWithTheStateBefore() {
        load(5, Keys.entry(A, "1", 5));
        byte[] held = replica.state().get(A).wire();
        load(9, Keys.entry(A, "1", 5), Keys.entry(B, "2", 9));
        assertThat(replica.state().get(A).wire()).isSameAs(held);
    }

    @Test
    void refusesACommitAtOrBeforeItsRevision() {
        load(5, Keys.entry(A, "1", 5));
        refuses(() -> put(A, 5), "commit at revision 5 is not newer than the replica at revision 5");
    }

    @Test
    void refusesACommitBeforeTheFirstSnapshotOrInsideOne() {
        refuses(() -> put(A, 6), "before the first snapshot");
        load(5);
        replica.snapshotStarted(CLUSTER, new Revision(9));
        refuses(() -> put(A, 6), "during a snapshot");
    }

    @Test
    void refusesASnapshotThatGoesBack() {
        load(5);
        refuses(() -> replica.snapshotStarted(CLUSTER, new Revision(4)), "older than the replica at revision 5");
    }

    @Test
    void theLogStartsAgainAfterASnapshot() {
        load(5);
        put(A, 6);
        load(9);
        assertThat(replica.log().from()).isEqualTo(9);
        assertThat(replica.log().size()).isZero();
    }

    /** Two threads may report compactions in another order. */
    @Test
    void theCompactRevisionOfTheLogDoesNotDecrease() {
        CommitLog log = new CommitLog();
        log.compacted(20);
        log.compacted(10);
        assertThat(log.isCompactRevision(20)).isTrue();
    }

    @Test
    void refusesAnotherCluster() {
        load(5);
        refuses(
                () -> replica.snapshotStarted(new ClusterId(0xdef), new Revision(9)),
                "reads cluster def, but the replica is of cluster abc");
        refuses(() -> replica.progress(new Position(new ClusterId(0xdef), new Revision(9), null)), "cluster def");
    }

    @Test
    void refusesASnapshotOfAnotherHistory() {
        load(5, Keys.entry(A, "1", 5));
        replica.snapshotStarted(CLUSTER, new Revision(9));
        refuses(
                () -> replica.snapshotPage(KeyRange.all(), List.of(Keys.entry(A, "other", 5))),
                "source history changed: the snapshot at revision 9 has a key last modified at 5");
    }

    @Test
    void refusesPagesWithAHoleOrMissingAtTheEnd() {
        replica.snapshotStarted(CLUSTER, new Revision(9));
        replica.snapshotPage(new KeyRange(ByteString.EMPTY, A), List.of());
        refuses(() -> replica.snapshotPage(KeyRange.fromKey(B), List.of()), "does not adjoin");
        refuses(() -> replica.snapshotCompleted(position(9)), "completed before its last page");
    }

    @Test
    void refusesPagesOutOfOrderOrOutOfRange() {
        replica.snapshotStarted(CLUSTER, new Revision(9));
        refuses(
                () -> replica.snapshotPage(KeyRange.all(), List.of(Keys.entry(B, "", 2), Keys.entry(A, "", 2))),
                "out of order");
        replica.snapshotStarted(CLUSTER, new Revision(9));
        refuses(
                () -> replica.snapshotPage(new KeyRange(ByteString.EMPTY, A), List.of(Keys.entry(B, "", 2))),
                "out of its range");
    }

    @Test
    void refusesAChangeOutsideItsRange() {
        Replica part = new Replica(KeyRange.prefix(A), state -> {});
        part.snapshotStarted(CLUSTER, new Revision(5));
        part.snapshotPage(KeyRange.prefix(A), List.of());
        part.snapshotCompleted(position(5));
        assertThatExceptionOfType(ReplicaDivergedException.class)
                .isThrownBy(() ->
                        part.commit(SourceModel.commit(6, List.of(new Change.Put(Keys.entry(B, "", 6)))), position(6)))
                .withMessageContaining("outside the replica's range");
    }

    @Test
    void afterAMoveTheLogContinuesIfItEndsAtTheEndMarker() {
        load(5, Keys.entry(A, "1", 5));
        put(A, 6);
        put(Keys.key("own"), 7);
        replica.moved(move(100, 6));
        assertThat(replica.state()).isNull();
        assertThat(replica.log().from()).isEqualTo(5);
        assertThat(replica.log().head()).isEqualTo(100);
        replica.snapshotStarted(OTHER, new Revision(103));
        replica.snapshotPage(KeyRange.all(), List.of(Keys.entry(A, "1", 99)));
        replica.snapshotCompleted(new Position(OTHER, new Revision(103), null));
        assertThat(replica.state().cluster()).isEqualTo(OTHER);
        assertThat(replica.log().from()).isEqualTo(103);
    }

    @Test
    void afterAMoveNothingOfTheLogCountsThatIsNotProvenToEndThere() {
        for (long uncertain : new long[] {0, 5, 7}) {
            Replica other = new Replica(KeyRange.all(), state -> {});
            load(other, 5, Keys.entry(A, "1", 5));
            put(other, A, 6);
            other.moved(move(100, uncertain));
            assertThat(other.log().from()).as("end marker %d", uncertain).isEqualTo(100);
            assertThat(other.log().head()).isEqualTo(100);
        }
    }

    @Test
    void afterAMoveToLowerRevisionsTheLogStartsAgain() {
        List<String> calls = new ArrayList<>();
        Replica other = new Replica(KeyRange.all(), new ReplicaListener() {
            @Override
            public void published(ReplicaState state) {
                calls.add("published " + state.revision());
            }

            @Override
            public void dropped(Condition.Dropped why) {
                calls.add("dropped");
            }

            @Override
            public void restarted(Revision revision) {
                calls.add("restarted " + revision);
            }
        });
        load(other, 50, Keys.entry(A, "1", 5));
        SourceMove move =
                new SourceMove(new Revision(20), new Revision(50), new Revision(60), key -> false, range -> true);
        assertThat(other.goesBack(move)).isTrue();
        other.moved(move);
        assertThat(other.log().head()).isEqualTo(CommitLog.NONE);
        assertThat(other.log().former()).isEqualTo(60);
        other.snapshotStarted(OTHER, new Revision(21));
        other.snapshotPage(KeyRange.all(), List.of(Keys.entry(A, "2", 19)));
        other.snapshotCompleted(new Position(OTHER, new Revision(21), null));
        assertThat(other.log().from()).isEqualTo(21);
        assertThat(calls).containsExactly("published 50", "dropped", "restarted 20", "published 21");
    }

    @Test
    void clientsKnowRevisionsUpToTheEndMarker() {
        load(5);
        SourceMove move = move(8, 9);
        assertThat(replica.goesBack(move)).isTrue();
        replica.moved(move);
        assertThat(replica.log().former()).isEqualTo(9);
    }

    private static SourceMove move(long revision, long endMarker) {
        return new SourceMove(
                new Revision(revision),
                new Revision(endMarker),
                Revision.ZERO,
                key -> key.equals(Keys.key("own")),
                range -> true);
    }

    private void load(long revision, KeyValue... entries) {
        load(replica, revision, entries);
    }

    private static void load(Replica loaded, long revision, KeyValue... entries) {
        loaded.snapshotStarted(CLUSTER, new Revision(revision));
        loaded.snapshotPage(KeyRange.all(), List.of(entries));
        loaded.snapshotCompleted(position(revision));
    }

    private void put(ByteString key, long revision) {
        put(replica, key, revision);
    }

    private static void put(Replica written, ByteString key, long revision) {
        written.commit(
                SourceModel.commit(revision, List.of(new Change.Put(Keys.entry(key, "x", revision)))),
                position(revision));
    }

    private void refuses(ThrowingCallable action, String message) {
        ReplicaState before = replica.state();
        assertThatExceptionOfType(ReplicaDivergedException.class)
                .isThrownBy(action)
                .withMessageContaining(message);
        assertThat(replica.state()).isSameAs(before);
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }
}
