package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Forwards calls to the present source. Unary writes wait, unsent, while that source is not open to clients, and then go to
 * the source of that moment.
 *
 * <p>Invariant W6: a write during a move of the primary is sent at most once, to one of both clusters.
 */
public final class HeldWrites implements Forwarding {

    /**
     * A source.
     *
     * @param open completes when writes need not wait any more
     */
    public record Target(Forwarding calls, CompletableFuture<Void> open) {}

    private final Supplier<Target> target;
    private final ForwardSettings settings;

    /** @param target read once for each call */
    public HeldWrites(Supplier<Target> target, ForwardSettings settings) {
        this.target = target;
        this.settings = settings;
    }

    @Override
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method, ServerCall<byte[], byte[]> client, Metadata headers, Caller caller, Executor loop) {
        return method.oneRequest()
                ? new OneRequest(client, request -> start(method, client, headers, caller, loop, request))
                : target.get().calls().start(method, client, headers, caller, loop);
    }

    @Override
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte[] request) {
        Target now = target.get();
        boolean waits = method.unary()
                && method.treatment() == EtcdMethod.Treatment.WRITE
                && settings.writes() == Writes.FORWARD
                && !now.open().isDone();
        return waits
                ? new Held(caller, client, loop, () -> start(method, client, headers, caller, loop, request))
                        .until(now.open())
                : now.calls().start(method, client, headers, caller, loop, request);
    }

    /** A call that waits; on its event loop. */
    private final class Held extends ServerCall.Listener<byte[]> {

        private final Caller caller;
        private final ServerCall<byte[], byte[]> client;
        private final Executor loop;
        private final Supplier<ServerCall.Listener<byte[]>> start;
        private ServerCall.@Nullable Listener<byte[]> started;
        private boolean over;

        Held(
                Caller caller,
                ServerCall<byte[], byte[]> client,
                Executor loop,
                Supplier<ServerCall.Listener<byte[]>> start) {
            this.caller = caller;
            this.client = client;
            this.loop = loop;
            this.start = start;
        }

        Held until(CompletableFuture<Void> open) {
            long left = caller.deadlineNanos() == Caller.NO_DEADLINE
                    ? Long.MAX_VALUE
                    : caller.deadlineNanos() - System.nanoTime();
            Duration timeout = settings.timeout();
            boolean theirs = left < timeout.toNanos();
            var unused = open.copy()
                    .orTimeout(Math.max(0, Math.min(left, timeout.toNanos())), TimeUnit.NANOSECONDS)
                    .whenComplete((opened, late) -> loop.execute(() -> {
                        if (late == null) {
                            go();
                        } else {
                            refuse(theirs ? Refusals.deadlineExceeded() : ApiException.timedOut());
                        }
                    }));
            return this;
        }

        private void go() {
            if (!over) {
                started = start.get();
            }
        }

        private void refuse(ApiException why) {
            if (!over) {
                over = true;
                var unused = Refusals.end(client, why);
            }
        }

        @Override
        public void onReady() {
            if (started != null) {
                started.onReady();
            }
        }

        @Override
        public void onCancel() {
            over = true;
            if (started != null) {
                started.onCancel();
            }
        }
    }
}
