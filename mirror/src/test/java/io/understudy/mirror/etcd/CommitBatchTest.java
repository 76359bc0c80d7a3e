package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.etcd.CommitBatch.TargetCommit;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.mirror.etcd.Operations.OperationTree;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/**
 * Joined commits lead from one state that the source had to a later one, and are never more than one transaction.
 *
 * <p>Tests invariants M3, M21.
 */
final class CommitBatchTest {

    private static final ClusterId SOURCE = new ClusterId(1);
    private static final List<ClusterId> OWN = List.of(SOURCE);

    /** What a commit does, before it has a revision. */
    private record Draft(Map<ByteString, RequestOp> operations, List<ClusterId> path) {}

    @Property(tries = 500)
    void eachBatchLeadsToAStateOfTheSourceInOrder(
            @ForAll("commits") @Size(max = 60) List<Draft> drafts, @ForAll @IntRange(min = 50, max = 3_000) int room) {
        List<TargetCommit> commits = commits(drafts);
        List<CommitBatch> batches = batches(commits, TargetHistory.COALESCED, room);

        SortedMap<ByteString, ByteString> source = state();
        SortedMap<ByteString, ByteString> target = state();
        int applied = 0;
        for (CommitBatch batch : batches) {
            batch.operations().forEach(operation -> apply(operation, target));
            while (applied < commits.size()
                    && !commits.get(applied)
                            .position()
                            .revision()
                            .isAfter(batch.position().revision())) {
                commits.get(applied++).operations().forEach(operation -> apply(operation, source));
            }
            assertThat(target).isEqualTo(source);
        }
        assertThat(applied).isEqualTo(commits.size());
    }

    @Property(tries = 500)
    void noBatchOfSeveralCommitsIsLargerThanATransaction(
            @ForAll("commits") @Size(max = 60) List<Draft> drafts, @ForAll @IntRange(min = 50, max = 3_000) int room) {
        List<TargetCommit> commits = commits(drafts);
        for (CommitBatch batch : batches(commits, TargetHistory.COALESCED, room)) {
            int bytes = TxnRequest.newBuilder()
                    .addAllSuccess(OperationTree.of(batch.operations(), 39))
                    .build()
                    .getSerializedSize();
            boolean alone = commits.stream()
                    .anyMatch(commit -> commit.position().equals(batch.position())
                            && List.copyOf(commit.operations()).equals(batch.operations()));
            assertThat(bytes <= room || alone).as("%d bytes", bytes).isTrue();
        }
    }

    /** An independent model: what etcd's watchers receive, of the source commit by commit, of the target batch by batch. */
    @Property(tries = 500)
    void aWatchResumedAfterAnyCommitSeesEachDeletionThatFollows(@ForAll("commits") @Size(max = 40) List<Draft> drafts) {
        List<TargetCommit> commits = commits(drafts);
        List<Map<ByteString, Character>> source =
                events(commits.stream().map(TargetCommit::operations).toList());
        List<CommitBatch> batches = batches(commits, TargetHistory.COALESCED, 3_000);
        List<Map<ByteString, Character>> target =
                events(batches.stream().map(CommitBatch::operations).toList());
        int next = 0;
        for (int seen = 0; seen < commits.size(); seen++) {
            while (batches.get(next).position().revision().value() <= seen) {
                next++;
            }
            Map<ByteString, String> expected = courses(source.subList(seen, source.size()));
            Map<ByteString, String> received = courses(target.subList(next, target.size()));
            for (Map.Entry<ByteString, String> each : expected.entrySet()) {
                assertThat(received.getOrDefault(each.getKey(), ""))
                        .as("events of %s after revision %d", each.getKey().toStringUtf8(), seen)
                        .endsWith(each.getValue());
            }
        }
    }

    /** One event per key and transaction; none where a deletion finds nothing. */
    private static List<Map<ByteString, Character>> events(List<List<RequestOp>> transactions) {
        SortedMap<ByteString, ByteString> state = state();
        List<Map<ByteString, Character>> all = new ArrayList<>();
        for (List<RequestOp> transaction : transactions) {
            Map<ByteString, Character> events = new LinkedHashMap<>();
            for (RequestOp operation : transaction) {
                boolean had = state.containsKey(Operations.key(operation));
                apply(operation, state);
                if (operation.hasRequestPut() || had) {
                    events.put(Operations.key(operation), operation.hasRequestPut() ? 'P' : 'D');
                }
            }
            all.add(events);
        }
        return all;
    }

    /** The events of each key in order, several puts in a row as one. */
    private static Map<ByteString, String> courses(List<Map<ByteString, Character>> transactions) {
        Map<ByteString, String> courses = new LinkedHashMap<>();
        transactions.forEach(events -> events.forEach((key, event) -> courses.merge(
                key,
                event.toString(),
                (before, one) -> before.endsWith("P") && one.equals("P") ? before : before + one)));
        return courses;
    }

    @Property(tries = 500)
    void joinedCommitsHaveOnePathAndAtMostOneCreatesKeysWithLeases(
            @ForAll("commits") @Size(max = 60) List<Draft> drafts) {
        List<TargetCommit> commits = commits(drafts);
        int next = 0;
        for (CommitBatch batch : batches(commits, TargetHistory.COALESCED, 3_000)) {
            int queueing = 0;
            while (next < commits.size()
                    && !commits.get(next)
                            .position()
                            .revision()
                            .isAfter(batch.position().revision())) {
                assertThat(commits.get(next).path()).isEqualTo(batch.path());
                queueing += commits.get(next).queues() ? 1 : 0;
                next++;
            }
            assertThat(queueing).isLessThanOrEqualTo(1);
        }
    }

    @Property(tries = 100)
    void commitsAreNotJoinedWithEveryCommitHistory(@ForAll("commits") @Size(max = 60) List<Draft> drafts) {
        List<TargetCommit> commits = commits(drafts);
        assertThat(batches(commits, TargetHistory.EVERY_COMMIT, 3_000))
                .extracting(CommitBatch::position)
                .containsExactlyElementsOf(
                        commits.stream().map(TargetCommit::position).toList());
    }

    @Test
    void aDeletionAndAPutOfOneKeyAreNotJoined() {
        CommitBatch batch = new CommitBatch(TargetHistory.COALESCED);
        batch.add(commit(1, EtcdMessages.delete(bytes("lock/a"))), 1_000);
        assertThat(batch.takes(commit(2, EtcdMessages.put(bytes("lock/a"), bytes("1"), 7)), 1_000))
                .as("it would keep its place in the queue")
                .isFalse();
        assertThat(batch.takes(commit(2, EtcdMessages.put(bytes("lock/a"), bytes("1"))), 1_000))
                .as("watchers would miss the deletion")
                .isFalse();
        assertThat(batch.takes(commit(2, EtcdMessages.put(bytes("lock/b"), bytes("1"), 7)), 1_000))
                .as("the lease may be one that was granted again")
                .isFalse();
        CommitBatch other = new CommitBatch(TargetHistory.COALESCED);
        other.add(commit(2, EtcdMessages.put(bytes("lock/b"), bytes("1"), 7)), 1_000);
        assertThat(other.takes(commit(3, EtcdMessages.delete(bytes("lock/b"))), 1_000))
                .isFalse();
    }

    /** Each round trip takes one otherwise, which a distant target's are too few for. */
    @Test
    void updatesOfKeysWithLeasesAreJoined() {
        CommitBatch batch = new CommitBatch(TargetHistory.COALESCED);
        for (int revision = 1; revision < 10; revision++) {
            TargetCommit next = commit(revision, EtcdMessages.put(bytes("a"), bytes("v" + revision), 7));
            assertThat(batch.takes(next, 1_000)).isTrue();
            batch.add(next, 1_000);
        }
        assertThat(batch.operations()).hasSize(1);
    }

    @Test
    void overwrittenOperationsTakeNoRoom() {
        CommitBatch batch = new CommitBatch(TargetHistory.COALESCED);
        TargetCommit first = commit(1, EtcdMessages.put(bytes("a"), bytes("x".repeat(100))));
        batch.add(first, first.bytes());
        for (int revision = 2; revision < 100; revision++) {
            TargetCommit next = commit(revision, EtcdMessages.put(bytes("a"), bytes("y".repeat(100))));
            assertThat(batch.takes(next, first.bytes())).isTrue();
            batch.add(next, first.bytes());
        }
        assertThat(batch.operations()).containsExactly(EtcdMessages.put(bytes("a"), bytes("y".repeat(100))));
    }

    /** Its limit may be below what is configured here. */
    @Test
    void aTargetThatRejectsTheSizeOfAPartHasNoneOfTheCommit() {
        CommitBatch batch = new CommitBatch(TargetHistory.COALESCED);
        RequestOp small = EtcdMessages.put(bytes("a"), bytes("x".repeat(100)));
        RequestOp large = EtcdMessages.put(bytes("b"), bytes("x".repeat(350)));
        batch.add(commit(1, small, large), 400);
        assertThat(batch.parts()).containsExactly(List.of(large), List.of(small));
    }

    @Test
    void advancesToALaterPositionWithoutChanges() {
        CommitBatch batch = new CommitBatch(TargetHistory.COALESCED);
        assertThat(batch.isEmpty()).isTrue();
        batch.add(commit(1, EtcdMessages.delete(bytes("a"))), 1_000);
        Position later = new Position(SOURCE, new Revision(9), null);
        batch.advanceTo(later, Instant.EPOCH);
        assertThat(batch.position()).isEqualTo(later);
        assertThat(batch.operations()).hasSize(1);
    }

    @Provide
    Arbitrary<List<Draft>> commits() {
        Arbitrary<ByteString> keys = Arbitraries.integers().between(0, 9).map(i -> bytes("k" + i));
        Arbitrary<RequestOp> operations = Combinators.combine(
                        keys,
                        Arbitraries.frequencyOf(
                                Tuple.of(1, Arbitraries.just(-1)),
                                Tuple.of(3, Arbitraries.integers().between(0, 400))),
                        Arbitraries.frequency(Tuple.of(9, 0L), Tuple.of(1, 7L)))
                .as((key, size, lease) ->
                        size < 0 ? EtcdMessages.delete(key) : EtcdMessages.put(key, bytes("v".repeat(size)), lease));
        Arbitrary<List<ClusterId>> paths =
                Arbitraries.frequency(Tuple.of(9, OWN), Tuple.of(1, List.of(new ClusterId(2), SOURCE)));
        return Combinators.combine(operations.list().ofMinSize(1).ofMaxSize(8), paths)
                .as((list, path) -> {
                    Map<ByteString, RequestOp> byKey = new LinkedHashMap<>();
                    list.forEach(operation -> byKey.put(Operations.key(operation), operation));
                    return new Draft(byKey, path);
                })
                .list();
    }

    private static List<TargetCommit> commits(List<Draft> drafts) {
        List<TargetCommit> commits = new ArrayList<>();
        SortedMap<ByteString, ByteString> state = state();
        for (Draft draft : drafts) {
            boolean queues = draft.operations().values().stream()
                    .anyMatch(operation ->
                            operation.getRequestPut().getLease() != 0 && !state.containsKey(Operations.key(operation)));
            draft.operations().values().forEach(operation -> apply(operation, state));
            commits.add(new TargetCommit(
                    List.copyOf(draft.operations().values()),
                    draft.path(),
                    new Position(SOURCE, new Revision(commits.size() + 1L), null),
                    Instant.EPOCH,
                    queues));
        }
        return commits;
    }

    private static List<CommitBatch> batches(List<TargetCommit> commits, TargetHistory history, long room) {
        List<CommitBatch> batches = new ArrayList<>();
        CommitBatch gathering = new CommitBatch(history);
        for (TargetCommit commit : commits) {
            if (!gathering.takes(commit, room)) {
                batches.add(gathering);
                gathering = new CommitBatch(history);
            }
            gathering.add(commit, room);
        }
        if (!gathering.isEmpty()) {
            batches.add(gathering);
        }
        return batches;
    }

    private static TargetCommit commit(long revision, RequestOp... operations) {
        return new TargetCommit(
                List.of(operations), OWN, new Position(SOURCE, new Revision(revision), null), Instant.EPOCH, false);
    }

    private static SortedMap<ByteString, ByteString> state() {
        return new TreeMap<>(KeyRange.KEY_ORDER);
    }

    private static void apply(RequestOp operation, SortedMap<ByteString, ByteString> state) {
        if (operation.hasRequestPut()) {
            state.put(Operations.key(operation), operation.getRequestPut().getValue());
        } else {
            state.remove(Operations.key(operation));
        }
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
