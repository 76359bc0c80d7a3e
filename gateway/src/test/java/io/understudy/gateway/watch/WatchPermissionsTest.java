package io.understudy.gateway.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.WatchCancelRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchProgressRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.gateway.hub.WatchHub;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.KeptVersions;
import io.understudy.gateway.replica.LoggedCommit;
import io.understudy.gateway.watch.WatchControl.WatchForwarding;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Watches while permissions change, with scripted permissions.
 *
 * <p>Tests invariant P1b.
 */
@Timeout(30)
final class WatchPermissionsTest {

    private static final ByteString KEY = ByteString.copyFromUtf8("script");
    private static final ByteString ELSEWHERE = ByteString.copyFromUtf8("elsewhere");

    private final Vertx vertx = Vertx.vertx();
    private final ContextInternal loop = (ContextInternal) vertx.getOrCreateContext();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final CommitLog log = new CommitLog();
    private final WatchHub hub = new WatchHub(
            HubSettings.DEFAULTS,
            log,
            new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
            (from, previous) -> {
                throw new AssertionError("no history is asked for");
            },
            commit -> new CompletableFuture<>(),
            registry);

    private final AtomicInteger progress = new AtomicInteger();
    private final AtomicLong clock = new AtomicLong(System.nanoTime());
    private volatile WatchForwarding source = (caller, calls, requests, taker) -> {
        throw new AssertionError("nothing is forwarded");
    };
    private volatile boolean leaderLost;
    private volatile Duration unwatched = Duration.ZERO;
    private volatile boolean enforced;
    private volatile Future<Void> permitted = Future.succeededFuture();

    private final Watches watches = new Watches(
            hub,
            KeyRange.prefix(KEY),
            new ResponseHeaders(new MemberId(1), () -> 1),
            new ReadPermissions() {
                @Override
                public Future<Void> check(Principal principal, Permission wanted) {
                    return permitted;
                }

                @Override
                public boolean areRechecked() {
                    return enforced;
                }
            },
            new Watches.Source(() -> new ClusterId(7), () -> leaderLost, () -> unwatched, progress::incrementAndGet),
            (caller, calls, requests, taker) -> source.watch(caller, calls, requests, taker),
            1 << 20,
            registry,
            clock::get);

    @AfterEach
    void close() throws Exception {
        watches.close();
        hub.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void watchesOpenedBeforeEnforcementAreRecheckedAtOnce() throws Exception {
        log.begin(5);
        Client client = new Client();
        client.watch();
        await().until(() -> client.received.size() == 1);
        assertThat(client.received.get(0).canceled()).isFalse();
        enforced = true;
        permitted = Future.failedFuture(ApiException.permissionDenied());

        await().until(() -> client.received.size() == 2);
        assertThat(client.received.get(1).canceled()).isTrue();
    }

    /** The task of the hub that creates it runs outside a context of Vert.x. */
    @Test
    void aWatchThatHadToWaitIsRechecked() throws Exception {
        log.begin(5);
        enforced = true;
        Client client = new Client();
        client.session.answered(6);
        client.watch();
        assertThat(client.received).isEmpty();
        log.add(new LoggedCommit(new Revision(6), List.of(), null));
        hub.wake();
        await().until(() -> client.received.size() == 1);
        permitted = Future.failedFuture(ApiException.permissionDenied());
        await().until(() -> client.received.size() == 2);
        assertThat(client.received.get(1).canceled()).isTrue();
    }

    @Test
    void progressRequestsOfClientsShareOnePerInterval() throws Exception {
        log.begin(5);
        for (int client = 0; client < 3; client++) {
            Client one = new Client();
            one.watch();
            for (int i = 0; i < 10; i++) {
                one.requestProgress();
            }
        }
        assertThat(progress).hasValue(1);
        clock.addAndGet(Duration.ofMillis(100).toNanos());
        Client later = new Client();
        later.watch();
        later.requestProgress();
        assertThat(progress).hasValue(2);
        assertThat(later.received).hasSize(2);
    }

    @Test
    void progressRequestsForAForwardedWatchShareOnePerInterval() throws Exception {
        log.begin(5);
        AtomicInteger atSource = new AtomicInteger();
        source = (caller, calls, requests, taker) -> {
            var unused = requests.poll();
            taker.take(atRevision(5).setCreated(true).build().toByteArray());
            requests.onChange(() -> {
                if (requests.poll() != null) {
                    atSource.incrementAndGet();
                    taker.take(atRevision(5).build().toByteArray());
                }
            });
            return new Ended();
        };
        Client client = new Client();
        client.watch(ELSEWHERE);
        for (int i = 0; i < 10; i++) {
            client.requestProgress();
        }
        assertThat(atSource).hasValue(1);
        clock.addAndGet(Duration.ofMillis(100).toNanos());
        await().until(() -> atSource.get() == 2);
    }

    @Test
    void aWatchThatHadToWaitIsRefusedIfItIsNotPermittedAnyMore() throws Exception {
        Client client = new Client();
        client.watch();
        permitted = Future.failedFuture(ApiException.permissionDenied());
        assertThat(client.received).isEmpty();
        // Longer than the maximum age of a permission check.
        clock.addAndGet(Duration.ofMillis(200).toNanos());
        log.begin(5);
        hub.wake();
        await().until(() -> !client.received.isEmpty());
        assertThat(client.received.get(0).cancelReason()).contains("permission denied");
    }

    /** clientv3 closes a watcher that is refused, and resumes those of a stream that ends so. */
    @Test
    void whileChecksAreQueued_theStreamEndsSoThatItIsResumed() throws Exception {
        log.begin(5);
        permitted = Future.failedFuture(ApiException.tooManyRequests());
        Client client = new Client();
        client.watch();
        assertThat(client.received).isEmpty();
        assertThat(client.ended).extracting(ApiException::code).containsExactly(Status.Code.UNAVAILABLE);
    }

    /** Otherwise its check would outlive it, and cancel another watch of that ID. */
    @Test
    void aForwardedWatchThatIsRefusedAtOnceIsNotRechecked() throws Exception {
        log.begin(5);
        enforced = true;
        source = (caller, calls, requests, taker) -> {
            taker.end(new ApiException(Status.Code.RESOURCE_EXHAUSTED, "too many"));
            return new Ended();
        };
        Client client = new Client();
        client.watch(ELSEWHERE);
        client.watch();
        permitted = Future.failedFuture(ApiException.permissionDenied());
        await().until(() ->
                client.received.stream().anyMatch(response -> response.canceled() && response.watchId() == 1));
        assertThat(client.received).extracting(WatchControl::watchId).containsExactly(-1L, 1L, 1L);
    }

    /** Otherwise it would stay in the hub after its client has gone. */
    @Test
    void aStreamThatEndsWhileAWatchIsAddedKeepsNoWatcher() throws Exception {
        log.begin(5);
        Client client = new Client();
        client.watch();
        KeyValue put = new KeyValue(KEY, ByteString.EMPTY, new Revision(6), new Revision(6), 1, 0);
        log.add(new LoggedCommit(new Revision(6), List.of(Entry.of(put)), null));
        client.whenEvents = client.stream::close;
        client.watch();
        hub.wake();
        await().untilAsserted(() -> assertThat(
                        registry.get("understudy.gateway.watchers").gauges())
                .allSatisfy(gauge -> assertThat(gauge.value()).isZero()));
        assertThat(client.received).hasSize(1);
    }

    /** As at a member of etcd: the client's own write comes before its watch. */
    @Test
    void aForwardedWatchBeginsAfterTheLastAnswerOfItsConnection() throws Exception {
        log.begin(5);
        Client client = new Client();
        client.session.answered(9);
        source = (caller, calls, requests, taker) -> {
            taker.take(atRevision(8).setCreated(true).build().toByteArray());
            taker.take(atRevision(9).addEvents(put(9)).build().toByteArray());
            taker.take(atRevision(9).build().toByteArray());
            taker.take(atRevision(11)
                    .addEvents(put(8))
                    .addEvents(put(10))
                    .addEvents(put(11))
                    .build()
                    .toByteArray());
            return new Ended();
        };
        client.watch(ELSEWHERE);
        assertThat(client.forwarded)
                .containsExactly(
                        atRevision(9).setCreated(true).build(),
                        atRevision(9).build(),
                        atRevision(11).addEvents(put(10)).addEvents(put(11)).build());
    }

    /** As clientv3 reads it, "no leader" closes all watchers of the stream. */
    @Test
    void aForwardedWatchThatReachesNoMemberEndsTheStreamForARetry() throws Exception {
        log.begin(5);
        source = (caller, calls, requests, taker) -> {
            taker.end(ApiException.noLeader());
            return new Ended();
        };
        Client client = new Client();
        client.watch(ELSEWHERE);
        assertThat(client.ended).extracting(ApiException::text).containsExactly("etcdserver: request timed out");
        assertThat(client.ended.get(0).code()).isEqualTo(Status.Code.UNAVAILABLE);
    }

    @Test
    void requestsAfterAForwardedCreationAreReadBeforeItsAnswer_creationsInOrder() throws Exception {
        log.begin(5);
        List<StreamTaker> takers = new CopyOnWriteArrayList<>();
        source = (caller, calls, requests, taker) -> {
            takers.add(taker);
            return new Ended();
        };
        Client client = new Client();
        client.watch();
        client.watch(ELSEWHERE);
        assertThat(client.taken).hasValue(2);

        client.requestProgress();
        assertThat(client.taken).hasValue(3);
        client.cancel(0);
        assertThat(client.received).extracting(WatchControl::canceled).contains(true);
        client.watch();
        assertThat(client.taken).hasValue(4);
        assertThat(client.received).extracting(WatchControl::created).containsOnlyOnce(true);

        inLoop(() -> takers.get(0).take(atRevision(5).setCreated(true).build().toByteArray()));
        assertThat(client.taken).hasValue(5);
        assertThat(client.received).last().isEqualTo(WatchControl.created(5, 2));
    }

    @Test
    void aForwardedWatchCanceledBeforeItsAnswerIsAnsweredAsCreated() throws Exception {
        log.begin(5);
        source = (caller, calls, requests, taker) -> new Ended();
        Client client = new Client();
        client.watch(ELSEWHERE);
        client.watch();
        client.cancel(0);
        assertThat(client.received)
                .containsExactly(WatchControl.created(5, 0), WatchControl.canceled(5, 0), WatchControl.created(5, 1));
    }

    @Test
    void streamsThatWaitEndWhenTheSourceCannotBeWatched_othersIfTheyRequireALeader() throws Exception {
        log.begin(5);
        Client open = new Client();
        open.watch();
        Client waiting = new Client();
        waiting.session.answered(6);
        waiting.watch();
        Client requiring = new Client(true);
        leaderLost = true;

        await().until(() -> waiting.ended.size() == 1 && requiring.ended.size() == 1);
        assertThat(waiting.ended.get(0).text())
                .isEqualTo(ApiException.timedOut().text());
        assertThat(requiring.ended.get(0).text())
                .isEqualTo(ApiException.noLeader().text());
        assertThat(open.ended).isEmpty();
    }

    /** After "no leader" clientv3 would close the watchers, although another gateway may serve them. */
    @Test
    void whileAQuorumConfirms_streamsThatRequireALeaderEndSoThatTheyAreResumed() throws Exception {
        // No snapshot yet, or one that takes long.
        Client requiring = new Client(true);
        requiring.watch();
        unwatched = HubSettings.DEFAULTS.noLeaderTimeout();

        await().until(() -> requiring.ended.size() == 1);
        assertThat(requiring.ended.get(0).text())
                .isEqualTo(ApiException.timedOut().text());
        assertThatThrownBy(() -> new Client(true))
                .hasMessageContaining(ApiException.timedOut().text());
    }

    @Test
    void progressIsRequestedAsLongAsAWatchWaitsForARevision() throws Exception {
        log.begin(5);
        Client client = new Client();
        client.session.answered(7);
        client.watch();
        await().until(() -> progress.get() >= 3);
        log.advance(7);
        hub.wake();
        await().until(() -> client.received.size() == 1);
        int requests = progress.get();
        await().during(Duration.ofMillis(100)).until(() -> progress.get() <= requests + 1);
    }

    /** clientv3 would lose what comes in between. */
    @Test
    void nothingComesBetweenTheFragmentsOfAForwardedWatch() throws Exception {
        log.begin(5);
        List<StreamTaker> takers = new CopyOnWriteArrayList<>();
        source = (caller, calls, requests, taker) -> {
            takers.add(taker);
            return new Ended();
        };
        Client client = new Client();
        client.watch();
        for (int i = 0; i < 2; i++) {
            client.watch(ELSEWHERE);
            StreamTaker taker = takers.get(i);
            byte[] created = atRevision(5).setCreated(true).build().toByteArray();
            inLoop(() -> taker.take(created));
        }
        AtomicInteger events = new AtomicInteger();
        client.whenEvents = events::incrementAndGet;
        inLoop(() -> {
            takers.get(0).take(fragment(6, true));
            assertThat(takers.get(0).takes()).isTrue();
            assertThat(takers.get(1).takes()).isFalse();
            takers.get(1).take(fragment(7, true));
        });
        int before = client.received.size();
        client.cancel(0);
        KeyValue put = new KeyValue(KEY, ByteString.EMPTY, new Revision(6), new Revision(6), 1, 0);
        log.add(new LoggedCommit(new Revision(6), List.of(Entry.of(put)), null));
        hub.wake();
        await().until(() -> onLoop(hub.on(loop.nettyEventLoop())::revision) == 6);
        assertThat(client.received).hasSize(before);

        inLoop(() -> takers.get(0).take(fragment(6, false)));
        assertThat(client.forwarded)
                .extracting(response ->
                        response.getWatchId() + " at " + response.getHeader().getRevision())
                .endsWith("1 at 6", "1 at 6", "2 at 7");
        assertThat(events).hasValue(0);
        inLoop(() -> takers.get(1).take(fragment(7, false)));
        assertThat(client.received).hasSize(before + 1);
        assertThat(client.received).last().isEqualTo(WatchControl.canceled(6, 0));
    }

    private static byte[] fragment(long revision, boolean more) {
        return atRevision(revision)
                .addEvents(put(revision))
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                7,
                                UnknownFieldSet.Field.newBuilder()
                                        .addVarint(more ? 1 : 0)
                                        .build())
                        .build())
                .build()
                .toByteArray();
    }

    private static WatchResponse.Builder atRevision(long revision) {
        return WatchResponse.newBuilder().setHeader(ResponseHeader.newBuilder().setRevision(revision));
    }

    private static Event put(long revision) {
        return Event.newBuilder()
                .setKv(io.etcd.jetcd.api.KeyValue.newBuilder().setKey(ELSEWHERE).setModRevision(revision))
                .build();
    }

    /** A call to which nothing happens any more. */
    private static final class Ended implements StreamedCall {
        @Override
        public void takesMore() {
            // It has nothing.
        }

        @Override
        public void gone() {
            // It is.
        }
    }

    private void inLoop(Runnable work) throws Exception {
        var unused = onLoop(() -> {
            work.run();
            return true;
        });
    }

    private <T> T onLoop(Callable<T> work) throws Exception {
        CompletableFuture<T> done = new CompletableFuture<>();
        loop.runOnContext(now -> {
            try {
                done.complete(work.call());
            } catch (Exception | AssertionError e) {
                done.completeExceptionally(e);
            }
        });
        return done.get(10, TimeUnit.SECONDS);
    }

    /** Takes whatever it is received. */
    private final class Client implements WatchOutput {
        private final List<WatchControl> received = new CopyOnWriteArrayList<>();
        private final List<WatchResponse> forwarded = new CopyOnWriteArrayList<>();
        private final Session session = new Session();
        private final List<ApiException> ended = new CopyOnWriteArrayList<>();
        /** Number of requests after which the next one is read. */
        private final AtomicInteger taken = new AtomicInteger();

        private volatile Runnable whenEvents = () -> {};
        private final WatchStream stream;

        Client() throws Exception {
            this(false);
        }

        Client(boolean requiresLeader) throws Exception {
            stream = onLoop(() -> watches.open(
                    this,
                    new Caller(
                            new Principal.Token("guest.7"),
                            session,
                            Freshness.ANY,
                            Caller.NO_DEADLINE,
                            () -> false,
                            Runnable::run),
                    requiresLeader,
                    loop.nettyEventLoop(),
                    Runnable::run));
        }

        void watch() throws Exception {
            watch(KEY);
        }

        void watch(ByteString key) throws Exception {
            var unused = onLoop(() -> {
                stream.receive(
                        WatchRequest.newBuilder()
                                .setCreateRequest(
                                        WatchCreateRequest.newBuilder().setKey(key))
                                .build(),
                        taken::incrementAndGet);
                return true;
            });
        }

        void cancel(long id) throws Exception {
            var unused = onLoop(() -> {
                stream.receive(
                        WatchRequest.newBuilder()
                                .setCancelRequest(
                                        WatchCancelRequest.newBuilder().setWatchId(id))
                                .build(),
                        taken::incrementAndGet);
                return true;
            });
        }

        void requestProgress() throws Exception {
            var unused = onLoop(() -> {
                stream.receive(
                        WatchRequest.newBuilder()
                                .setProgressRequest(WatchProgressRequest.getDefaultInstance())
                                .build(),
                        taken::incrementAndGet);
                return true;
            });
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public void control(WatchControl response) {
            received.add(response);
        }

        @Override
        public void message(byte[] response) {
            try {
                forwarded.add(WatchResponse.parseFrom(response));
            } catch (InvalidProtocolBufferException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void events(long watchId, EventBatch batch, int first, int end, boolean fragment) {
            whenEvents.run();
        }

        @Override
        public void flush() {
            // Nothing is kept back.
        }

        @Override
        public void end(ApiException why) {
            ended.add(why);
        }
    }
}
