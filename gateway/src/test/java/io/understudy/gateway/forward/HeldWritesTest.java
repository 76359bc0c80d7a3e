package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests invariant W6. */
@Timeout(60)
final class HeldWritesTest {

    private static final EtcdMethod PUT = Objects.requireNonNull(EtcdMethod.named("etcdserverpb.KV/Put"));
    private static final EtcdMethod MEMBERS =
            Objects.requireNonNull(EtcdMethod.named("etcdserverpb.Cluster/MemberList"));
    private static final byte[] REQUEST = {1};

    private final CompletableFuture<Void> open = new CompletableFuture<>();
    private final Sent former = new Sent();
    private final Sent next = new Sent();
    private volatile HeldWrites.Target target = new HeldWrites.Target(former, open);

    @Test
    void aWriteWaitsUnsent_andGoesOnceToTheSourceOfThatMoment() {
        HeldWrites held = held(Duration.ofSeconds(30));
        call(held, PUT, Caller.NO_DEADLINE);
        call(held, MEMBERS, Caller.NO_DEADLINE);
        assertThat(former.methods).containsExactly(MEMBERS);

        target = new HeldWrites.Target(next, CompletableFuture.completedFuture(null));
        open.complete(null);
        assertThat(next.methods).containsExactly(PUT);
        assertThat(former.methods).containsExactly(MEMBERS);
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
    void theClientsOwnDeadlineEndsItAsUsual() {
        PromisedAnswer answer = call(held(Duration.ofSeconds(30)), PUT, System.nanoTime() + 1_000_000);
        await().until(() -> answer.future().failed());
        assertThat(answer.future().cause()).hasMessage("context deadline exceeded");
    }

    @Test
    void whatIsCancelledMeanwhileIsNeverSent() {
        PromisedAnswer answer = new PromisedAnswer(PUT);
        ServerCall.Listener<byte[]> waiting = held(Duration.ofSeconds(30))
                .start(PUT, answer, new Metadata(), caller(Caller.NO_DEADLINE), Runnable::run, REQUEST);
        waiting.onCancel();
        open.complete(null);
        assertThat(former.methods).isEmpty();
    }

    private HeldWrites held(Duration timeout) {
        return new HeldWrites(() -> target, new ForwardSettings(Writes.FORWARD, timeout));
    }

    private static PromisedAnswer call(HeldWrites held, EtcdMethod method, long deadlineNanos) {
        PromisedAnswer answer = new PromisedAnswer(method);
        held.start(method, answer, new Metadata(), caller(deadlineNanos), Runnable::run, REQUEST);
        return answer;
    }

    private static Caller caller(long deadlineNanos) {
        return new Caller(Principal.ANONYMOUS, new Session(), Freshness.ANY, deadlineNanos, () -> false, Runnable::run);
    }

    /** Takes calls and answers none. */
    private static final class Sent implements Forwarding {

        private final List<EtcdMethod> methods = new CopyOnWriteArrayList<>();

        @Override
        public ServerCall.Listener<byte[]> start(
                EtcdMethod method, ServerCall<byte[], byte[]> client, Metadata headers, Caller caller, Executor loop) {
            methods.add(method);
            return new ServerCall.Listener<>() {};
        }

        @Override
        public ServerCall.Listener<byte[]> start(
                EtcdMethod method,
                ServerCall<byte[], byte[]> client,
                Metadata headers,
                Caller caller,
                Executor loop,
                byte[] request) {
            return start(method, client, headers, caller, loop);
        }
    }
}
