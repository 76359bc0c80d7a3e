package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.forward.Forwarding.PromisedAnswer;
import io.understudy.gateway.forward.HeldWrites.HeldCalls;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests invariant W6. */
@Timeout(60)
final class HeldWritesTest {

    private static final EtcdMethod PUT = Objects.requireNonNull(EtcdMethod.named("etcdserverpb.KV/Put"));
    private static final EtcdMethod MEMBERS =
            Objects.requireNonNull(EtcdMethod.named("etcdserverpb.Cluster/MemberList"));
    private static final EtcdMethod COMPACT = Objects.requireNonNull(EtcdMethod.named("etcdserverpb.KV/Compact"));
    private static final EtcdMethod LOCK = Objects.requireNonNull(EtcdMethod.named("v3lockpb.Lock/Lock"));
    private static final byte[] REQUEST = {1};

    private static final Status CORRUPT = Status.DATA_LOSS.withDescription("etcdserver: corrupt cluster");
    private static final Status DENIED = Status.PERMISSION_DENIED.withDescription("etcdserver: permission denied");

    private final CompletableFuture<Void> open = new CompletableFuture<>();
    private final CompletableFuture<Boolean> moved = new CompletableFuture<>();
    private final ForwardMetrics metrics = new ForwardMetrics(new SimpleMeterRegistry());
    private final Sent former = new Sent();
    private final Sent next = new Sent();
    private volatile HeldWrites.Primary primary = closed();

    @Test
    void aWriteWaitsUnsent_andGoesOnceToTheSourceOfThatMoment() {
        HeldWrites held = held(Duration.ofSeconds(30));
        call(held, PUT, Caller.NO_DEADLINE);
        call(held, MEMBERS, Caller.NO_DEADLINE);
        call(held, COMPACT, Caller.NO_DEADLINE);
        assertThat(former.methods).containsExactly(MEMBERS, COMPACT);

        primary = open(next);
        open.complete(null);
        assertThat(next.methods).containsExactly(PUT);
        assertThat(former.methods).containsExactly(MEMBERS, COMPACT);
    }

    @Test
    void aWriteThatWaitsTooLongIsAnsweredAsUnavailable_andNeverSent() {
        PromisedAnswer answer = call(held(Duration.ofMillis(100)), PUT, Caller.NO_DEADLINE);
        await().until(() -> answer.future().failed());
        assertThat(answer.future().cause()).isInstanceOfSatisfying(ApiException.class, why -> assertThat(why.text())
                .isEqualTo("etcdserver: request timed out"));
        open.complete(null);
        assertThat(former.methods).isEmpty();
    }

    @Test
    void theClientsDeadlineEndsAHeldWrite() {
        PromisedAnswer answer = call(held(Duration.ofSeconds(30)), PUT, System.nanoTime() + 1_000_000);
        await().until(() -> answer.future().failed());
        assertThat(answer.future().cause()).hasMessage("context deadline exceeded");
    }

    @Test
    void aCanceledHeldWriteIsNeverSent() {
        PromisedAnswer answer = new PromisedAnswer(PUT);
        ServerCall.Listener<byte[]> waiting = held(Duration.ofSeconds(30))
                .start(PUT, answer, new Metadata(), caller(Caller.NO_DEADLINE), Runnable::run, REQUEST);
        waiting.onCancel();
        open.complete(null);
        assertThat(former.methods).isEmpty();
    }

    @Test
    void aWriteRejectedByAClosedPrimaryGoesToTheNextOne() {
        for (Status refusal : List.of(CORRUPT, DENIED)) {
            primary = open(former);
            PromisedAnswer answer = call(held(Duration.ofSeconds(30)), PUT, Caller.NO_DEADLINE);
            former.last.close(refusal, new Metadata());
            assertThat(answer.future().isComplete()).isFalse();
        }
        primary = open(next);
        moved.complete(true);
        assertThat(next.methods).containsExactly(PUT, PUT);
        assertThat(former.methods).containsExactly(PUT, PUT);
    }

    @Test
    void anUnsentWriteGoesToTheNextPrimaryAfterAMove() {
        Status unsent = Refusals.status(ApiException.noLeader());
        primary = open(former);
        PromisedAnswer before = call(held(Duration.ofSeconds(30)), PUT, Caller.NO_DEADLINE);
        former.last.close(unsent, new Metadata());
        assertThat(before.future().cause()).hasMessage("etcdserver: no leader");

        PromisedAnswer answer = call(held(Duration.ofSeconds(30)), PUT, Caller.NO_DEADLINE);
        primary = open(next);
        former.last.close(Refusals.MOVED, new Metadata());
        assertThat(answer.future().isComplete()).isFalse();
        assertThat(next.methods).containsExactly(PUT);
    }

    @Test
    void aRejectionWithoutAMoveIsReturned() {
        primary = open(former);
        PromisedAnswer answer = call(held(Duration.ofSeconds(30)), PUT, Caller.NO_DEADLINE);
        former.last.close(DENIED, new Metadata());
        moved.complete(false);
        assertThat(answer.future().cause()).hasMessage("etcdserver: permission denied");
        assertThat(former.methods).containsExactly(PUT);
    }

    @Test
    void aRefusalIsPassedOnInTime_whetherAMoveExplainsItOrNot() {
        primary = open(former);
        PromisedAnswer answer = call(held(Duration.ofMillis(100)), PUT, Caller.NO_DEADLINE);
        former.last.close(DENIED, new Metadata());
        await().until(() -> answer.future().failed());
        assertThat(answer.future().cause()).hasMessage("etcdserver: permission denied");
    }

    @Test
    void aWriteOfUnknownOutcomeIsNeverRetried() {
        List<Status> unknown = List.of(
                Status.UNAVAILABLE.withDescription("etcdserver: request timed out, possibly due to connection lost"),
                Status.UNAVAILABLE.withDescription("etcdserver: leader changed"),
                Status.DEADLINE_EXCEEDED);
        primary = open(former);
        moved.complete(true);
        for (Status status : unknown) {
            PromisedAnswer answer = call(held(Duration.ofSeconds(30)), PUT, Caller.NO_DEADLINE);
            former.last.close(status, new Metadata());
            assertThat(answer.future().failed()).as(status.toString()).isTrue();
        }
        assertThat(former.methods).hasSize(unknown.size());
        assertThat(next.methods).isEmpty();
    }

    /** The put that takes a lock may be done when a later read of the same call is refused. */
    @Test
    void aRejectedLockIsNeverRetried() {
        primary = open(former);
        moved.complete(true);
        PromisedAnswer answer = call(held(Duration.ofSeconds(30)), LOCK, Caller.NO_DEADLINE);
        former.last.close(DENIED, new Metadata());
        assertThat(answer.future().failed()).isTrue();
        assertThat(former.methods).containsExactly(LOCK);
    }

    @Test
    void anUnsentWriteToTheFormerPrimaryGoesToTheNextOne() {
        leavesFormerPrimary(1, () -> metrics.held().count() == 2);
    }

    /** The former primary accepts connections, and no bytes follow. */
    @Test
    void aWriteWaitingForAConnectionGoesToTheNextPrimary() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            AtomicInteger accepted = new AtomicInteger();
            Thread accepting = new Thread(() -> {
                try {
                    // Read, so that the connection stays; held by the thread until the test ends.
                    try (Socket client = silent.accept()) {
                        accepted.incrementAndGet();
                        client.getInputStream().transferTo(OutputStream.nullOutputStream());
                    }
                } catch (IOException e) {
                    // The test has ended.
                }
            });
            accepting.setDaemon(true);
            accepting.start();
            leavesFormerPrimary(silent.getLocalPort(), () -> accepted.get() > 0);
        }
    }

    private void leavesFormerPrimary(int port, Callable<Boolean> hasCalls) {
        EtcdSettings nowhere =
                EtcdSettings.of(URI.create("http://127.0.0.1:" + port)).withName("source");
        try (EtcdCluster gone = EtcdCluster.connect(nowhere, new SimpleMeterRegistry())) {
            SourceForwarding away = new SourceForwarding(
                    gone,
                    ForwardSettings.DEFAULTS.with(Writes.FORWARD),
                    metrics,
                    ForwardingFront.UNOBSERVED,
                    () -> false,
                    false);
            primary = open(away);
            HeldWrites held = held(Duration.ofSeconds(30));
            call(held, PUT, Caller.NO_DEADLINE);
            call(held, LOCK, Caller.NO_DEADLINE);
            await().until(hasCalls);
            primary = open(next);
            away.superseded();
            await().until(() -> next.methods.size() == 2);
            assertThat(next.methods).containsExactlyInAnyOrder(PUT, LOCK);
            assertThat(metrics.held().count()).isZero();
        }
    }

    @Test
    void aTokenThatAHeaderCannotCarryIsInvalid() {
        EtcdSettings nowhere = EtcdSettings.of(URI.create("http://127.0.0.1:1")).withName("source");
        try (EtcdCluster source = EtcdCluster.connect(nowhere, new SimpleMeterRegistry())) {
            SourceForwarding forwarding = new SourceForwarding(
                    source,
                    ForwardSettings.DEFAULTS.with(Writes.FORWARD),
                    metrics,
                    ForwardingFront.UNOBSERVED,
                    () -> true,
                    false);
            PromisedAnswer answer = new PromisedAnswer(MEMBERS);
            Caller caller = new Caller(
                    new Principal.Token("a\tb"),
                    new Session(),
                    Freshness.ANY,
                    Caller.NO_DEADLINE,
                    () -> false,
                    Runnable::run);
            forwarding.start(MEMBERS, answer, new Metadata(), caller, Runnable::run, REQUEST);
            assertThat(answer.future().cause()).hasMessage("etcdserver: invalid auth token");
        }
    }

    @Test
    void heldWritesAreBounded() {
        HeldWrites held = held(Duration.ofSeconds(30));
        for (int i = 0; i < HeldCalls.MAX_CALLS; i++) {
            call(held, PUT, Caller.NO_DEADLINE);
        }
        assertThat(call(held, PUT, Caller.NO_DEADLINE).future().cause())
                .hasMessageStartingWith("etcdserver: too many requests");
        primary = open(next);
        open.complete(null);
        assertThat(next.methods).hasSize(HeldCalls.MAX_CALLS);
        call(held, PUT, Caller.NO_DEADLINE);
        assertThat(next.methods).hasSize(HeldCalls.MAX_CALLS + 1);
    }

    @Test
    void aSessionHoldsAtMostItsShare() {
        HeldWrites held = held(Duration.ofSeconds(30));
        Caller busy = caller(Caller.NO_DEADLINE);
        for (int i = 0; i < HeldCalls.MAX_CALLS / HeldCalls.SHARES; i++) {
            call(held, PUT, busy);
        }
        assertThat(call(held, PUT, busy).future().cause()).hasMessageStartingWith("etcdserver: too many requests");
        assertThat(call(held, PUT, Caller.NO_DEADLINE).future().isComplete()).isFalse();
        primary = open(next);
        open.complete(null);
        assertThat(metrics.held().count()).isZero();
    }

    @Test
    void aCancelledWriteIsNotHeld() {
        HeldWrites held = held(Duration.ofSeconds(30));
        for (int i = 0; i < HeldCalls.MAX_CALLS; i++) {
            held.start(PUT, new PromisedAnswer(PUT), new Metadata(), caller(Caller.NO_DEADLINE), Runnable::run, REQUEST)
                    .onCancel();
        }
        assertThat(metrics.held().count()).isZero();
        assertThat(call(held, PUT, Caller.NO_DEADLINE).future().isComplete()).isFalse();
        primary = open(next);
        open.complete(null);
        assertThat(next.methods).containsExactly(PUT);
    }

    private HeldWrites.Primary closed() {
        return new HeldWrites.Primary(former, open, () -> moved);
    }

    private HeldWrites.Primary open(Forwarding at) {
        return new HeldWrites.Primary(at, CompletableFuture.completedFuture(null), () -> moved);
    }

    private HeldWrites held(Duration timeout) {
        return new HeldWrites(() -> primary, new ForwardSettings(Writes.FORWARD, timeout, 1), metrics);
    }

    private static PromisedAnswer call(HeldWrites held, EtcdMethod method, long deadlineNanos) {
        return call(held, method, caller(deadlineNanos));
    }

    private static PromisedAnswer call(HeldWrites held, EtcdMethod method, Caller caller) {
        PromisedAnswer answer = new PromisedAnswer(method);
        held.start(method, answer, new Metadata(), caller, Runnable::run, REQUEST);
        return answer;
    }

    private static Caller caller(long deadlineNanos) {
        return new Caller(Principal.ANONYMOUS, new Session(), Freshness.ANY, deadlineNanos, () -> false, Runnable::run);
    }

    /** Takes calls and answers none. */
    private static final class Sent implements Forwarding {

        private final List<EtcdMethod> methods = new CopyOnWriteArrayList<>();
        private ServerCall<byte[], byte[]> last;

        @Override
        public ServerCall.Listener<byte[]> start(
                EtcdMethod method,
                ServerCall<byte[], byte[]> client,
                Metadata headers,
                Caller caller,
                Executor loop,
                byte @Nullable [] request) {
            methods.add(method);
            last = client;
            return new ServerCall.Listener<>() {};
        }
    }
}
