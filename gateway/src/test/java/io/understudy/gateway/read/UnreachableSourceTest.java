package io.understudy.gateway.read;

import static io.understudy.gateway.read.Refusals.assertRefused;
import static io.understudy.gateway.read.Refusals.assertRefusedMatching;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.api.ApiException;
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
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Reads without a source: answered by the replica with the staleness of its heartbeats, or rejected.
 *
 * <p>Tests invariants K1, K2.
 */
@Timeout(60)
final class UnreachableSourceTest {

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final ByteString KEY = ByteString.copyFromUtf8("a/key");
    private static final KeyRange RANGE = KeyRange.prefix(ByteString.copyFromUtf8("a/"));
    private static final Duration SKEW = Duration.ofMillis(100);
    private static final Duration SOON = Duration.ofSeconds(10);

    private static final ReadSettings SETTINGS = new ReadSettings(
            Duration.ofSeconds(2),
            Duration.ofMillis(700),
            Duration.ofSeconds(1),
            Duration.ofMinutes(1),
            100,
            10,
            1 << 20);

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = vertx.getOrCreateContext();
    private final Session session = new Session();
    private Replica replica;
    private ReadPath reads;

    @BeforeEach
    void begin() {
        ReadPath[] created = new ReadPath[1];
        replica = new Replica(
                RANGE, new ReplicaSettings(2, 1L << 20, 2L << 20, Duration.ofMinutes(1)), new ReplicaListener() {
                    @Override
                    public void published(ReplicaState state) {
                        Objects.requireNonNull(created[0]).published(state);
                    }

                    @Override
                    public void asOf(Revision revision, Instant time) {
                        Objects.requireNonNull(created[0]).asOf(revision, time);
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
                new ResponseHeaders(new MemberId(1), () -> 0),
                ReadPermissions.EVERYTHING,
                new ReadSource.Heartbeats(SKEW, InstantSource.system()),
                () -> {},
                () -> false,
                new SimpleMeterRegistry(),
                System::nanoTime);
        created[0] = reads;
    }

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    @Test
    void readsBeforeTheFirstSnapshotAreUnavailable() throws Exception {
        assertRefused(
                read(request(), Freshness.ANY),
                Status.Code.UNAVAILABLE,
                "etcdserver: request timed out, waiting for the applied index took too long");
    }

    @Test
    void serializableReadsReportHeartbeatStalenessPlusSkew() throws Exception {
        snapshotAtTen();
        assertThat(read(request(), Freshness.ANY)).succeedsWithin(SOON).satisfies(answer -> {
            assertThat(answer.revision()).isEqualTo(10);
            assertThat(answer.staleness()).isNull();
        });
        replica.asOf(Instant.now().minusMillis(200));
        assertThat(read(request(), Freshness.ANY))
                .succeedsWithin(SOON)
                .satisfies(answer -> assertThat(answer.staleness()).isGreaterThanOrEqualTo(Duration.ofMillis(300)));
    }

    @Test
    void aHeartbeatConfirmsEarlierRevisionsOnly() throws Exception {
        snapshotAtTen();
        replica.asOf(Instant.now().minusSeconds(60));
        commit(11);
        replica.asOf(Instant.now());
        assertThat(reads.staleness()).isLessThan(Duration.ofSeconds(30));
        replica.snapshotStarted(CLUSTER, new Revision(12));
        replica.asOf(Instant.now().plusMillis(90));
        assertThat(reads.staleness()).isGreaterThanOrEqualTo(SKEW);
    }

    @Test
    void linearizableReadsFailWithAnErrorThatIsNotRetried() throws Exception {
        snapshotAtTen();
        replica.asOf(Instant.now());
        assertRefused(
                read(request().setSerializable(false), Freshness.ANY),
                Status.Code.FAILED_PRECONDITION,
                ApiException.noVoters().text());
        TxnRequest txn = TxnRequest.newBuilder()
                .addSuccess(RequestOp.newBuilder().setRequestRange(request().setSerializable(false)))
                .build();
        assertRefused(
                onLoop(() -> reads.txn(caller(Freshness.ANY), txn)),
                Status.Code.FAILED_PRECONDITION,
                ApiException.noVoters().text());
    }

    @Test
    void aBoundIsMetByTheLastOrTheNextHeartbeat() throws Exception {
        snapshotAtTen();
        replica.asOf(Instant.now());
        Freshness bound = new Freshness(Duration.ofMillis(400), 0);
        assertThat(read(request(), bound)).succeedsWithin(SOON);
        var late = read(request(), new Freshness(Duration.ofMillis(100), 0));
        settle();
        assertThat(late).isNotDone();
        replica.asOf(Instant.now().plusMillis(90));
        assertThat(late).succeedsWithin(SOON).satisfies(answer -> assertThat(answer.staleness())
                .isLessThanOrEqualTo(Duration.ofMillis(100)));
    }

    @Test
    void anOldHeartbeatDoesNotMeetTheBound() throws Exception {
        snapshotAtTen();
        var read = read(request(), new Freshness(Duration.ofMillis(250), 0));
        settle();
        replica.asOf(Instant.now().minusSeconds(3));
        assertRefusedMatching(
                read, Status.Code.UNAVAILABLE, "understudy: staleness is [3-5]\\d\\d\\d ms; allowed: 250 ms");
    }

    @Test
    void atLeastReadsAwaitTheirRevision() throws Exception {
        snapshotAtTen();
        var read = read(request(), new Freshness(null, 11));
        settle();
        assertThat(read).isNotDone();
        commit(11);
        assertThat(read).succeedsWithin(SOON);
        assertRefused(
                read(request(), new Freshness(null, 99)),
                Status.Code.OUT_OF_RANGE,
                "etcdserver: mvcc: required revision is a future revision");
    }

    @Test
    void keysOutsideOfTheRangeAreRejected() throws Exception {
        snapshotAtTen();
        assertRefused(
                read(request().setKey(ByteString.copyFromUtf8("b")), Freshness.ANY),
                Status.Code.FAILED_PRECONDITION,
                ApiException.outsideOfRange().text());
    }

    @Test
    void revisionsBeforeTheWindowCountAsCompacted() throws Exception {
        snapshotAtTen();
        commit(11);
        assertThat(read(request().setRevision(10), Freshness.ANY)).succeedsWithin(SOON);
        commit(12);
        commit(13);
        assertRefused(
                read(request().setRevision(10), Freshness.ANY),
                Status.Code.OUT_OF_RANGE,
                "etcdserver: mvcc: required revision has been compacted");
    }

    @Test
    void anOversizedReplicaIsReported() throws Exception {
        snapshotAtTen();
        replica.commit(
                new Commit(new Revision(11), List.of(put(11, ByteString.copyFrom(new byte[3 << 20])))), position(11));
        assertThat(replica.condition()).isInstanceOf(Condition.Dropped.class);
        assertThat(replica.cluster()).isEqualTo(CLUSTER);
        assertRefused(
                read(request(), Freshness.ANY),
                Status.Code.UNAVAILABLE,
                ApiException.replicaDropped().text());
    }

    private void snapshotAtTen() {
        replica.snapshotStarted(CLUSTER, new Revision(10));
        replica.snapshotPage(RANGE, List.of(new KeyValue(KEY, KEY, new Revision(10), new Revision(10), 1, 0)));
        replica.snapshotCompleted(position(10));
    }

    private void commit(long revision) {
        replica.commit(new Commit(new Revision(revision), List.of(put(revision, KEY))), position(revision));
    }

    private static Change put(long revision, ByteString value) {
        return new Change.Put(new KeyValue(KEY, value, new Revision(10), new Revision(revision), revision - 9, 0));
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }

    private static RangeRequest.Builder request() {
        return RangeRequest.newBuilder().setKey(KEY).setSerializable(true);
    }

    private Caller caller(Freshness freshness) {
        return new Caller(Principal.ANONYMOUS, session, freshness, Caller.NO_DEADLINE, () -> false, Runnable::run);
    }

    private CompletableFuture<? extends Answer<?>> read(RangeRequest.Builder request, Freshness freshness)
            throws Exception {
        return onLoop(() -> reads.range(caller(freshness), request.build()));
    }

    private <T> CompletableFuture<T> onLoop(Supplier<Future<T>> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        loop.runOnContext(now -> work.get().onComplete(done::complete, done::completeExceptionally));
        return done;
    }

    /** Waits until all tasks of the loop are done. */
    private void settle() throws Exception {
        for (int i = 0; i < 2; i++) {
            onLoop(Future::succeededFuture).get(10, TimeUnit.SECONDS);
        }
    }
}
