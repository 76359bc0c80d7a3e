package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.replica.Replica;
import io.understudy.vocabulary.ClusterId;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Long reads do not block the event loop. A read evaluated on the loop is complete when the call returns; one on a worker is
 * not before the loop's next task.
 *
 * <p>Tests invariant S4.
 */
@Timeout(60)
final class LongReadsTest {

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final int KEYS = 100_000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final List<KeyValue> ENTRIES = IntStream.range(0, KEYS)
            .mapToObj(i -> new KeyValue(
                    ByteString.copyFromUtf8(String.format("k%06d", i)),
                    ByteString.copyFromUtf8(Integer.toString(i * 7_919 % KEYS)),
                    new Revision(2),
                    new Revision(2 + i % 8),
                    1,
                    0))
            .toList();

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = vertx.getOrCreateContext();
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final EtcdCluster nowhere =
            EtcdCluster.connect(EtcdSettings.of(URI.create("http://127.0.0.1:1")), new SimpleMeterRegistry());
    private final Session session = new Session();
    private final AtomicBoolean gone = new AtomicBoolean();
    private Replica replica;
    private ReadPath reads;

    @BeforeEach
    void replicaAtTen() {
        ReadPath[] created = new ReadPath[1];
        replica = new Replica(
                KeyRange.all(), state -> Objects.requireNonNull(created[0]).published(state));
        reads = new ReadPath(
                vertx,
                ReadSettings.DEFAULTS,
                replica,
                new ResponseHeaders(new MemberId(1), () -> 1),
                ReadPermissions.EVERYTHING,
                new ReadSource.Cluster(nowhere, deadline -> new CompletableFuture<>()),
                () -> {},
                () -> false,
                registry,
                System::nanoTime);
        created[0] = reads;
        replica.snapshotStarted(CLUSTER, new Revision(10));
        replica.snapshotPage(KeyRange.all(), ENTRIES);
        replica.snapshotCompleted(new Position(CLUSTER, new Revision(10), null));
    }

    @AfterEach
    void close() throws Exception {
        reads.close();
        nowhere.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    @Test
    void shortReadsReturnDuringALongOne() throws Exception {
        for (RangeRequest request : List.of(sorted(), all().setMinModRevision(5).build())) {
            var late = onLoop(() -> {
                var longer = read(request);
                assertThat(longer.isComplete()).isFalse();
                assertThat(read(one()).succeeded()).isTrue();
                return longer;
            });
            assertThat(completed(late)).succeedsWithin(PATIENCE);
        }
        assertThat(evaluations()).isEqualTo(2);
    }

    @Test
    void aTransactionThatComparesManyKeysIsALongRead() throws Exception {
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(all().getKey())
                        .setRangeEnd(all().getRangeEnd())
                        .setTarget(Compare.CompareTarget.VERSION)
                        .setResult(Compare.CompareResult.GREATER))
                .addSuccess(RequestOp.newBuilder().setRequestRange(one()))
                .addFailure(RequestOp.newBuilder().setRequestRange(one()))
                .build();
        var late = onLoop(() -> {
            var longer = reads.txn(caller(), txn);
            assertThat(longer.isComplete()).isFalse();
            return longer;
        });
        assertThat(completed(late))
                .succeedsWithin(PATIENCE)
                .satisfies(answer -> assertThat(answer.result().succeeded()).isTrue());
    }

    @Test
    void aLargeAnswerWithoutAScanIsNotALongRead() throws Exception {
        onLoop(() -> {
            assertThat(read(all().build()).succeeded()).isTrue();
            assertThat(read(all().setLimit(KEYS - 1).build()).succeeded()).isTrue();
            assertThat(read(all().setSortOrder(SortOrder.DESCEND).build()).succeeded())
                    .isTrue();
            assertThat(read(all().setSortOrder(SortOrder.DESCEND)
                                    .setLimit(KEYS - 1)
                                    .build())
                            .succeeded())
                    .isTrue();
            assertThat(read(sorted().toBuilder().setCountOnly(true).build()).succeeded())
                    .isTrue();
            return null;
        });
        assertThat(evaluations()).isZero();
    }

    @Test
    void aLongReadReturnsNothingOlderThanItsSessionHadSeen() throws Exception {
        var late = onLoop(() -> {
            session.answered(11);
            var longer = read(sorted());
            loop.runOnContext(next -> applied(11));
            return longer;
        });
        assertThat(completed(late)).succeedsWithin(PATIENCE).satisfies(answer -> assertThat(answer.revision())
                .isEqualTo(11));
        assertThat(evaluations()).isEqualTo(1);
    }

    /** Such as by events of a watch, or by responses to writes. */
    @Test
    void aLongReadIsNotRepeatedWhileItsSessionAdvances() throws Exception {
        var late = onLoop(() -> {
            var longer = read(sorted());
            advance(longer, 11);
            return longer;
        });
        assertThat(completed(late)).succeedsWithin(PATIENCE).satisfies(answer -> assertThat(answer.revision())
                .isEqualTo(10));
        assertThat(evaluations()).isEqualTo(1);
        assertThat(session.lastRevision()).isGreaterThan(10);
    }

    private void advance(Future<?> until, long revision) {
        if (!until.isComplete()) {
            session.answered(revision);
            loop.runOnContext(next -> advance(until, revision + 1));
        }
    }

    @Test
    void queuedLongReadsAreBoundedAndSkippedAfterADisconnect() throws Exception {
        List<Future<Answer<RangeResult>>> all = new ArrayList<>();
        onLoop(() -> {
            while (all.isEmpty() || !all.get(all.size() - 1).failed()) {
                all.add(read(sorted()));
            }
            Future<?> other = reads.range(caller(new Session()), sorted());
            assertThat(other.failed()).isFalse();
            gone.set(true);
            return null;
        });
        assertThat(all).hasSizeBetween(250, 300);
        assertThat(all.get(all.size() - 1).cause())
                .isInstanceOfSatisfying(ApiException.class, refusal -> assertThat(refusal.code())
                        .isEqualTo(Status.Code.RESOURCE_EXHAUSTED));
        for (Future<?> each : all) {
            assertThat(completed(each).handle((answer, failure) -> true)).succeedsWithin(PATIENCE);
        }
        long answered = all.stream().filter(Future::succeeded).count();
        assertThat(answered).isEqualTo(evaluations()).isLessThan(all.size() / 2);
    }

    private long evaluations() {
        return registry.get("understudy.gateway.reads.evaluation").timer().count();
    }

    private Future<Answer<RangeResult>> read(RangeRequest request) {
        return reads.range(caller(), request);
    }

    private Caller caller() {
        return caller(session);
    }

    private Caller caller(Session of) {
        return new Caller(Principal.ANONYMOUS, of, Freshness.ANY, Caller.NO_DEADLINE, gone::get, Runnable::run);
    }

    private static RangeRequest one() {
        return RangeRequest.newBuilder()
                .setKey(ENTRIES.get(0).key())
                .setSerializable(true)
                .build();
    }

    private static RangeRequest sorted() {
        return all().setSortTarget(SortTarget.VALUE)
                .setSortOrder(SortOrder.ASCEND)
                .setLimit(1)
                .build();
    }

    private static RangeRequest.Builder all() {
        return RangeRequest.newBuilder()
                .setKey(KeyRange.all().etcdKey())
                .setRangeEnd(KeyRange.all().etcdRangeEnd())
                .setSerializable(true);
    }

    private void applied(long revision) {
        replica.progress(new Position(CLUSTER, new Revision(revision), null));
    }

    private static <T> CompletableFuture<T> completed(Future<T> future) {
        return future.toCompletionStage().toCompletableFuture();
    }

    private <T> T onLoop(Callable<T> work) throws Exception {
        CompletableFuture<T> done = new CompletableFuture<>();
        loop.runOnContext(now -> {
            try {
                done.complete(work.call());
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return done.get(10, TimeUnit.SECONDS);
    }
}
