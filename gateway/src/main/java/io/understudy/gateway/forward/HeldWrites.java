package io.understudy.gateway.forward;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Forwards calls to the primary of a mirror, and holds writes while it moves.
 *
 * <p>A write that the primary rejected because of a move is retried: the rejection proves that it was not executed.
 *
 * <p>Invariant W6: a write during a move of the primary is executed at most once, at one of both clusters.
 */
public final class HeldWrites implements Forwarding {

    /** Methods with one Raft proposal each, so a rejected call has no effect. */
    private static final Set<String> SINGLE = Set.of(
            "etcdserverpb.KV/Put",
            "etcdserverpb.KV/DeleteRange",
            "etcdserverpb.KV/Txn",
            "etcdserverpb.Lease/LeaseGrant",
            "etcdserverpb.Lease/LeaseRevoke");

    /** Errors of writes at a closed cluster. */
    private static final Set<EtcdError> CLOSED =
            EnumSet.of(EtcdError.PERMISSION_DENIED, EtcdError.CORRUPT, EtcdError.USER_EMPTY);

    private final Supplier<Primary> primary;
    private final ForwardSettings settings;
    private final HeldCalls held;

    /**
     * The primary at the time of a call.
     *
     * @param open completes when writes can be sent
     * @param moved completes soon, with whether a write that this primary rejected is to be retried
     */
    public record Primary(Forwarding calls, CompletableFuture<Void> open, Supplier<CompletableFuture<Boolean>> moved) {}

    /** @param primary read for each attempt */
    public HeldWrites(Supplier<Primary> primary, ForwardSettings settings, ForwardMetrics metrics) {
        this.primary = primary;
        this.settings = settings;
        this.held = metrics.held();
    }

    @Override
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte @Nullable [] request) {
        boolean writes = settings.writes() == Writes.FORWARD
                && (isSingle(method)
                        || (method.unary()
                                && (method.fullName().startsWith("v3lockpb.")
                                        || method.fullName().startsWith("v3electionpb."))));
        if (!writes) {
            return primary.get().calls().start(method, client, headers, caller, loop, request);
        }
        Write write = new Write(method, client, headers, caller, loop, request);
        write.send();
        return write;
    }

    private static boolean isSingle(EtcdMethod method) {
        return SINGLE.contains(method.fullName());
    }

    /** A call, confined to its event loop. */
    private final class Write extends ServerCall.Listener<byte[]> {

        private final EtcdMethod method;
        private final ServerCall<byte[], byte[]> client;
        private final Metadata headers;
        private final Caller caller;
        private final Executor loop;
        private final byte @Nullable [] request;
        private final boolean theirs;
        private final long deadlineNanos;
        private ServerCall.@Nullable Listener<byte[]> sent;
        /** Ends the last wait. */
        private @Nullable CompletableFuture<?> wait;

        private boolean over;

        Write(
                EtcdMethod method,
                ServerCall<byte[], byte[]> client,
                Metadata headers,
                Caller caller,
                Executor loop,
                byte @Nullable [] request) {
            this.method = method;
            this.client = client;
            this.headers = headers;
            this.caller = caller;
            this.loop = loop;
            this.request = request;
            long ours = System.nanoTime() + settings.timeout().toNanos();
            this.theirs = caller.deadlineNanos() != Caller.NO_DEADLINE && caller.deadlineNanos() - ours < 0;
            this.deadlineNanos = theirs ? caller.deadlineNanos() : ours;
        }

        /** Sends it, now or when the primary is open. */
        void send() {
            Primary now = primary.get();
            if (!now.open().isDone()) {
                hold(now.open(), this::send, () -> {});
                return;
            }
            sent = now.calls().start(method, new Attempt(now), headers, caller, loop, request);
        }

        /** Waits for a condition, unsent; {@code late} runs before the client gets the error. */
        private void hold(CompletableFuture<?> condition, Runnable met, Runnable late) {
            CompletableFuture<?> began = condition.copy();
            wait = began;
            boolean fits = held.hold(caller.session(), request, began, deadlineNanos, loop, inTime -> {
                if (over) {
                    return;
                }
                if (inTime) {
                    met.run();
                    return;
                }
                late.run();
                end(theirs ? Refusals.deadlineExceeded() : ApiException.timedOut());
            });
            if (!fits) {
                end(ApiException.tooManyRequests(": too many writes wait for a move of the primary"));
            }
        }

        private void end(ApiException why) {
            if (!over) {
                over = true;
                var unused = Refusals.end(client, why);
            }
        }

        @Override
        public void onReady() {
            if (sent != null) {
                sent.onReady();
            }
        }

        @Override
        public void onCancel() {
            over = true;
            if (wait != null) {
                wait.cancel(false);
            }
            if (sent != null) {
                sent.onCancel();
            }
        }

        /** The response of one primary, forwarded unless it proves that nothing was executed. */
        private final class Attempt extends SimpleForwardingServerCall<byte[], byte[]> {

            private final Primary by;
            private @Nullable Metadata received;

            Attempt(Primary by) {
                super(client);
                this.by = by;
            }

            @Override
            public void sendHeaders(Metadata responded) {
                received = responded;
            }

            @Override
            public void sendMessage(byte[] message) {
                pass();
                super.sendMessage(message);
            }

            @Override
            public void close(Status status, Metadata trailers) {
                String why = status.getDescription();
                if (status.equals(Refusals.MOVED)) {
                    // In a separate task: the call may end before {@link Forwarding#start} returns.
                    loop.execute(() -> {
                        if (!over) {
                            send();
                        }
                    });
                } else if (isSingle(method) && why != null && CLOSED.contains(EtcdErrors.error(why))) {
                    sent = null;
                    CompletableFuture<Boolean> moved = by.moved().get();
                    hold(
                            moved,
                            () -> {
                                if (moved.join()) {
                                    send();
                                } else {
                                    closed(status, trailers);
                                }
                            },
                            () -> closed(status, trailers));
                } else {
                    closed(status, trailers);
                }
            }

            private void closed(Status status, Metadata trailers) {
                over = true;
                pass();
                super.close(status, trailers);
            }

            private void pass() {
                if (received != null) {
                    super.sendHeaders(received);
                    received = null;
                }
            }
        }
    }

    /** Limits the unsent calls of a gateway, by number and bytes. A session holds at most its share. Thread-safe. */
    static final class HeldCalls {

        static final int MAX_CALLS = 10_000;
        static final long MAX_BYTES = 64L << 20;
        /** Number of sessions that can use the whole capacity. */
        static final int SHARES = 4;

        private static final Held NONE = new Held(0, 0);

        // Under this object's lock.
        private final Map<Session, Held> bySession = new HashMap<>();
        private Held all = NONE;

        private record Held(int calls, long bytes) {

            Held plus(int moreCalls, long moreBytes) {
                return new Held(calls + moreCalls, bytes + moreBytes);
            }

            boolean fits(int shares) {
                return calls <= MAX_CALLS / shares && bytes <= MAX_BYTES / shares;
            }
        }

        synchronized int count() {
            return all.calls();
        }

        /**
         * Holds a call until a condition is met.
         *
         * @param condition failed by this at the timeout
         * @param then run on {@code loop}, with whether the condition was met in time
         * @return false if there is no capacity; then nothing is run
         */
        boolean hold(
                Session session,
                byte @Nullable [] request,
                CompletableFuture<?> condition,
                long untilNanos,
                Executor loop,
                Consumer<Boolean> then) {
            int size = request == null ? 0 : request.length;
            if (!take(session, size)) {
                return false;
            }
            long left = Math.max(0, untilNanos - System.nanoTime());
            var unused = condition.orTimeout(left, TimeUnit.NANOSECONDS).whenComplete((met, failed) -> {
                release(session, size);
                loop.execute(() -> then.accept(failed == null));
            });
            return true;
        }

        /** A single call may be larger than a share. */
        private synchronized boolean take(Session session, int size) {
            Held ofSession = bySession.getOrDefault(session, NONE).plus(1, size);
            Held ofAll = all.plus(1, size);
            if (!ofAll.fits(1) || (ofSession.calls() > 1 && !ofSession.fits(SHARES))) {
                return false;
            }
            all = ofAll;
            bySession.put(session, ofSession);
            return true;
        }

        private synchronized void release(Session session, int size) {
            all = all.plus(-1, -size);
            bySession.computeIfPresent(session, (same, held) -> held.calls() == 1 ? null : held.plus(-1, -size));
        }
    }
}
