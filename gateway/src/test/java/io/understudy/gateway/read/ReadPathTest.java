package io.understudy.gateway.read;

import static io.understudy.gateway.read.Refusals.assertRefused;
import static io.understudy.gateway.read.Refusals.assertRefusedMatching;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.ReadIndex;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.replica.ReplicaState.Condition;
import io.understudy.gateway.replica.ReplicaState.ReplicaListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Completion of reads, with a replica and rounds controlled by the test.
 *
 * <p>Tests invariants C1, C4.
 */
@Timeout(60)
final class ReadPathTest {

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final ByteString KEY = ByteString.copyFromUtf8("k");

    /** No periodic rounds, and short timeouts. */
    private static final ReadSettings SETTINGS = new ReadSettings(
            Duration.ofSeconds(2),
            Duration.ofMillis(1_500),
            Duration.ofSeconds(1),
            Duration.ofMinutes(1),
            4,
            10,
            1 << 20);

    private static final ReplicaSettings REPLICA = new ReplicaSettings(100, 1L << 20, 2L << 20, Duration.ofMinutes(1));

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = vertx.getOrCreateContext();
    private final List<CompletableFuture<ReadIndex>> rounds = new CopyOnWriteArrayList<>();
    private final AtomicInteger progressRequests = new AtomicInteger();
    private final EtcdCluster nowhere =
            EtcdCluster.connect(EtcdSettings.of(URI.create("http://127.0.0.1:1")), new SimpleMeterRegistry());
    private final Session session = new Session();
    private final AtomicBoolean gone = new AtomicBoolean();
    private Replica replica;
    private ReadPath reads;

    @BeforeEach
    void replicaAtTen() {
        begin(KeyRange.all());
    }

    private void begin(KeyRange range) {
        ReadPath[] created = new ReadPath[1];
        replica = new Replica(range, REPLICA, new ReplicaListener() {
            @Override
            public void published(ReplicaState state) {
                Objects.requireNonNull(created[0]).published(state);
            }

            @Override
            public void dropped(Condition.Dropped why) {
                Objects.requireNonNull(created[0]).dropped();
            }
        });
        reads = new ReadPath(
                vertx,
                SETTINGS,
                replica,
                new ResponseHeaders(new MemberId(1), () -> 1),
                ReadPermissions.EVERYTHING,
                new ReadSource.Cluster(nowhere, deadline -> {
                    CompletableFuture<ReadIndex> round = new CompletableFuture<>();
                    rounds.add(round);
                    return round;
                }),
                progressRequests::incrementAndGet,
                () -> false,
                new SimpleMeterRegistry(),
                System::nanoTime);
        created[0] = reads;
        replica.snapshotStarted(CLUSTER, new Revision(10));
        replica.snapshotPage(range, List.of(new KeyValue(KEY, KEY, new Revision(10), new Revision(10), 1, 0)));
        replica.snapshotCompleted(new Position(CLUSTER, new Revision(10), null));
    }

    @AfterEach
    void close() throws Exception {
        nowhere.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    @Test
    void serializableReadsReturnAtOnce() throws Exception {
        assertThat(read(true, Freshness.ANY))
                .succeedsWithin(Duration.ofSeconds(5))
                .satisfies(answer -> {
                    assertThat(answer.revision()).isEqualTo(10);
                    assertThat(answer.staleness()).isNull();
                });
        assertThat(rounds).isEmpty();
    }

    @Test
    void linearizableReadsAwaitALaterRoundAndItsRevision() throws Exception {
        var first = read(false, Freshness.ANY);
        roundUnderWay(0);
        var second = read(false, Freshness.ANY);
        confirm(0, 10);
        assertThat(first).succeedsWithin(Duration.ofSeconds(5));
        assertThat(second).isNotDone();
        roundUnderWay(1);
        confirm(1, 12);
        applied(11);
        settle();
        assertThat(second).isNotDone();
        applied(13);
        assertThat(second).succeedsWithin(Duration.ofSeconds(5)).satisfies(answer -> assertThat(answer.revision())
                .isEqualTo(13));
    }

    @Test
    void concurrentReadsShareARound() throws Exception {
        var first = read(false, Freshness.ANY);
        roundUnderWay(0);
        var others = List.of(read(false, Freshness.ANY), read(false, Freshness.ANY), read(false, Freshness.ANY));
        confirm(0, 10);
        roundUnderWay(1);
        confirm(1, 10);
        assertThat(first).succeedsWithin(Duration.ofSeconds(5));
        assertThat(others).allSatisfy(read -> assertThat(read).succeedsWithin(Duration.ofSeconds(5)));
        assertThat(rounds).hasSize(2);
    }

    @Test
    void aFailedRoundIsRetriedUntilTheDeadline() throws Exception {
        var read = read(false, Freshness.ANY);
        for (int round = 0; round < 3; round++) {
            roundUnderWay(round);
            rounds.get(round).completeExceptionally(new IllegalStateException("no quorum"));
        }
        roundUnderWay(3);
        assertThat(read).isNotDone();
        assertRefused(read, Status.Code.UNAVAILABLE, "etcdserver: request timed out");
    }

    @Test
    void aRoundBelowTheReplicasRevisionIsRejected() throws Exception {
        var read = read(false, Freshness.ANY);
        roundUnderWay(0);
        confirm(0, 9);
        roundUnderWay(1);
        assertThat(read).isNotDone();
        confirm(1, 10);
        assertThat(read).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    void boundedReadsUseARecentRound() throws Exception {
        confirmed(10);
        assertThat(read(true, new Freshness(Duration.ofMinutes(1), 0))).succeedsWithin(Duration.ofSeconds(5));
        assertThat(rounds).hasSize(1);
    }

    @Test
    void anUnmetBoundSendsARoundAndThenReportsTheStaleness() throws Exception {
        confirmed(10);
        var met = read(true, new Freshness(Duration.ZERO, 0));
        roundUnderWay(1);
        confirm(1, 10);
        assertThat(met).succeedsWithin(Duration.ofSeconds(5));

        var unmet = read(true, new Freshness(Duration.ZERO, 0));
        roundUnderWay(2);
        assertRefusedMatching(unmet, Status.Code.UNAVAILABLE, "understudy: staleness is \\d+ ms; allowed: 0 ms");
    }

    @Test
    void aReplicaBehindTheRoundDoesNotMeetTheBound() throws Exception {
        var read = read(true, new Freshness(Duration.ofSeconds(10), 0));
        roundUnderWay(0);
        confirm(0, 11);
        assertRefusedMatching(read, Status.Code.UNAVAILABLE, "understudy: staleness is unknown; allowed: 10000 ms");
    }

    @Test
    void atLeastReadsAwaitTheirRevisionUntilTheTimeout() throws Exception {
        var met = read(true, new Freshness(null, 11));
        settle();
        applied(11);
        assertThat(met).succeedsWithin(Duration.ofSeconds(5));
        assertRefused(
                read(true, new Freshness(null, 12)),
                Status.Code.OUT_OF_RANGE,
                "etcdserver: mvcc: required revision is a future revision");
    }

    @Test
    void maxStalenessAndMinRevisionBothApply() throws Exception {
        var read = read(true, new Freshness(Duration.ZERO, 12));
        roundUnderWay(0);
        confirm(0, 11);
        applied(11);
        settle();
        assertThat(read).isNotDone();
        applied(12);
        assertThat(read).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    void aReadAwaitsTheRevisionThatItsSessionHadSeen() throws Exception {
        onLoop(() -> session.answered(12));
        var read = read(true, Freshness.ANY);
        settle();
        assertThat(read).isNotDone();
        // A concurrent answer, which the read need not include.
        onLoop(() -> session.answered(13));
        applied(12);
        assertThat(read).succeedsWithin(Duration.ofSeconds(5)).satisfies(answer -> assertThat(answer.revision())
                .isEqualTo(12));
    }

    @Test
    void excessWaitingReadsAreRejected() throws Exception {
        for (int i = 0; i < SETTINGS.maxWaiting(); i++) {
            assertThat(read(false, Freshness.ANY)).isNotDone();
        }
        assertRefused(read(false, Freshness.ANY), Status.Code.RESOURCE_EXHAUSTED, "etcdserver: too many requests");
    }

    @Test
    void readsOfDisconnectedClientsFreeTheirSlots() throws Exception {
        for (int i = 0; i < SETTINGS.maxWaiting(); i++) {
            assertThat(read(false, Freshness.ANY)).isNotDone();
        }
        gone.set(true);
        await().atMost(SETTINGS.timeout().dividedBy(2))
                .until(() -> !read(false, Freshness.ANY).isDone());
    }

    @Test
    void readsDoNotWaitForADroppedReplica() throws Exception {
        var read = read(true, new Freshness(null, 12));
        settle();
        assertThat(read).isNotDone();
        overflow();
        // The source is unreachable, so without the drop the read would wait longer for the replica.
        assertThat(read).failsWithin(SETTINGS.freshnessTimeout().dividedBy(2));
    }

    @Test
    void onlyAPartialReplicaRequestsProgress() throws Exception {
        var ofAll = read(true, new Freshness(null, 11));
        settle();
        assertThat(ofAll).isNotDone();
        assertThat(progressRequests).hasValue(0);

        begin(KeyRange.prefix(KEY));
        var ofPart = read(true, new Freshness(null, 11));
        await().atMost(Duration.ofSeconds(5)).until(() -> progressRequests.get() >= 2);
        replica.progress(new Position(CLUSTER, new Revision(11), null));
        assertThat(ofPart).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    void aFailingCompletionDelaysNoOtherRead() throws Exception {
        var alone = read(false, Freshness.ANY);
        failOnCompletion(false, Freshness.ANY);
        var sharesTheRound = read(false, Freshness.ANY);
        confirm(0, 10);
        assertThat(alone).succeedsWithin(Duration.ofSeconds(5));
        roundUnderWay(1);
        confirm(1, 10);
        assertThat(sharesTheRound).succeedsWithin(Duration.ofSeconds(5));

        failOnCompletion(true, new Freshness(null, 12));
        var awaitsTheSame = read(true, new Freshness(null, 12));
        applied(12);
        assertThat(awaitsTheSame).succeedsWithin(Duration.ofSeconds(5));

        failOnCompletion(true, new Freshness(null, 13));
        var expiresWithIt = read(true, new Freshness(null, 13));
        assertThat(expiresWithIt).failsWithin(Duration.ofSeconds(10));
    }

    private void failOnCompletion(boolean serializable, Freshness freshness) throws Exception {
        onLoop(() -> {
            var created = start(serializable, freshness).onComplete(answered -> {
                throw new IllegalStateException("it fails when told, as the test wants");
            });
            assertThat(created.isComplete()).isFalse();
        });
    }

    private CompletableFuture<Answer<RangeResult>> read(boolean serializable, Freshness freshness) throws Exception {
        CompletableFuture<Answer<RangeResult>> answer = new CompletableFuture<>();
        onLoop(() ->
                start(serializable, freshness).onSuccess(answer::complete).onFailure(answer::completeExceptionally));
        return answer;
    }

    private Future<Answer<RangeResult>> start(boolean serializable, Freshness freshness) {
        Caller caller =
                new Caller(Principal.ANONYMOUS, session, freshness, Caller.NO_DEADLINE, gone::get, Runnable::run);
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(KEY)
                .setSerializable(serializable)
                .build();
        return reads.range(caller, request);
    }

    /** A round of the past that confirmed {@code revision}. */
    private void confirmed(long revision) throws Exception {
        var read = read(false, Freshness.ANY);
        roundUnderWay(0);
        confirm(0, revision);
        assertThat(read).succeedsWithin(Duration.ofSeconds(5));
    }

    private void roundUnderWay(int round) {
        await().atMost(Duration.ofSeconds(5)).until(() -> rounds.size() > round);
    }

    private void confirm(int round, long revision) {
        rounds.get(round)
                .complete(new ReadIndex(new Revision(revision), CLUSTER, new MemberId(2), System.nanoTime(), null));
    }

    private void applied(long revision) {
        replica.progress(new Position(CLUSTER, new Revision(revision), null));
    }

    /** A commit that the replica has no room for. */
    private void overflow() {
        replica.commit(
                new Commit(
                        new Revision(11),
                        List.of(new Change.Put(new KeyValue(
                                KEY,
                                ByteString.copyFrom(new byte[3 << 20]),
                                new Revision(10),
                                new Revision(11),
                                2,
                                0)))),
                new Position(CLUSTER, new Revision(11), null));
    }

    /** Waits until all tasks of the loop are done. */
    private void settle() throws Exception {
        onLoop(() -> {});
        onLoop(() -> {});
    }

    private void onLoop(Runnable work) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.runOnContext(now -> {
            work.run();
            done.complete(null);
        });
        done.get(10, TimeUnit.SECONDS);
    }
}
