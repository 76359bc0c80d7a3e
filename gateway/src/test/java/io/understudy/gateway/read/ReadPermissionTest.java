package io.understudy.gateway.read;

import static io.understudy.gateway.read.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.ReadIndex;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.replica.Replica;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Permissions of reads at the time of the answer.
 *
 * <p>Tests invariant P1.
 */
@Timeout(60)
final class ReadPermissionTest {

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final String DENIED = "etcdserver: permission denied";
    /** After which a permission is checked again. */
    private static final Duration LONG = Duration.ofMillis(150);

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = vertx.getOrCreateContext();
    private final EtcdCluster nowhere =
            EtcdCluster.connect(EtcdSettings.of(URI.create("http://127.0.0.1:1")), new SimpleMeterRegistry());
    private final List<CompletableFuture<ReadIndex>> rounds = new CopyOnWriteArrayList<>();
    private final Session session = new Session();
    private final AtomicInteger checks = new AtomicInteger();
    private final AtomicLong clock = new AtomicLong(System.nanoTime());
    private volatile Future<Void> permitted = Future.succeededFuture();
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
                (principal, wanted) -> {
                    checks.incrementAndGet();
                    return permitted;
                },
                new ReadSource.Cluster(nowhere, deadline -> {
                    CompletableFuture<ReadIndex> round = new CompletableFuture<>();
                    rounds.add(round);
                    return round;
                }),
                () -> {},
                () -> false,
                new SimpleMeterRegistry(),
                clock::get);
        created[0] = reads;
        replica.snapshotStarted(CLUSTER, new Revision(10));
        replica.snapshotPage(KeyRange.all(), List.of());
        replica.snapshotCompleted(new Position(CLUSTER, new Revision(10), null));
    }

    @AfterEach
    void close() throws Exception {
        reads.close();
        nowhere.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    @Test
    void aFastReadIsCheckedOnce() throws Exception {
        assertThat(read(true, 0)).succeedsWithin(Duration.ofSeconds(5));
        assertThat(checks).hasValue(1);
    }

    @Test
    void aReadRevokedWhileWaitingForItsRevisionIsDenied() throws Exception {
        var late = read(true, 11);
        passLong();
        permitted = Future.failedFuture(ApiException.permissionDenied());
        replica.progress(new Position(CLUSTER, new Revision(11), null));
        assertRefused(late, Status.Code.PERMISSION_DENIED, DENIED);
    }

    @Test
    void aReadRevokedWhileWaitingForARoundIsDenied() throws Exception {
        var late = read(false, 0);
        await().until(() -> rounds.size() == 1);
        passLong();
        permitted = Future.failedFuture(ApiException.permissionDenied());
        rounds.get(0).complete(new ReadIndex(new Revision(10), CLUSTER, new MemberId(2), System.nanoTime(), null));
        assertRefused(late, Status.Code.PERMISSION_DENIED, DENIED);
    }

    @Test
    void theSessionMayAdvanceDuringTheSecondCheck() throws Exception {
        var late = read(true, 11);
        passLong();
        Promise<Void> answer = Promise.promise();
        permitted = answer.future();
        replica.progress(new Position(CLUSTER, new Revision(11), null));
        await().until(() -> checks.get() == 2);
        assertThat(late).isNotDone();
        onLoop(() -> session.answered(12));
        onLoop(() -> answer.complete());
        assertThat(late).succeedsWithin(Duration.ofSeconds(5)).satisfies(answered -> assertThat(answered.revision())
                .isEqualTo(11));
    }

    private void passLong() {
        clock.addAndGet(LONG.toNanos());
    }

    private CompletableFuture<Answer<RangeResult>> read(boolean serializable, long minRevision) throws Exception {
        CompletableFuture<Answer<RangeResult>> answer = new CompletableFuture<>();
        Caller caller = new Caller(
                new Principal.Token("guest.7"),
                session,
                new Freshness(null, minRevision),
                Caller.NO_DEADLINE,
                () -> false,
                Runnable::run);
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("k"))
                .setSerializable(serializable)
                .build();
        onLoop(() -> reads.range(caller, request).onComplete(answer::complete, answer::completeExceptionally));
        return answer;
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
