package io.understudy.gateway.forward;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.forward.Refusals.HeaderRevision;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects a client's call with a call to the source. Forwards messages, metadata, half-close and cancellation. A
 * message is requested from one side only when the other is ready. Confined to the session's event loop.
 *
 * <p>Tries the next member only while the request has provably not left this process, or was rejected unread. A call
 * that reached no member is held for a while, since etcd's clients do not repeat failed writes.
 *
 * <p>Invariant W1: a forwarded write that may have been executed is not retried, and its outcome is reported as
 * unknown.
 *
 * <p>Invariant W3: an unread forwarded stream blocks no other, uses bounded memory, and ends at its member with its
 * client.
 */
final class ForwardedCall extends ServerCall.Listener<byte[]> {

    private static final Logger LOG = LoggerFactory.getLogger(ForwardedCall.class);

    /** The limit of etcd's own client. */
    private static final int MAX_ANSWER_BYTES = Integer.MAX_VALUE;

    /** Longest time to connect to a healthy member. */
    private static final Duration CONNECTS_WITHIN = Duration.ofSeconds(1);

    private final EtcdMethod method;
    private final ServerCall<byte[], byte[]> client;
    private final Metadata headers;
    private final Caller caller;
    private final Executor loop;
    private final EtcdCluster source;
    private final Supplier<List<Endpoint>> members;
    private final ForwardMetrics metrics;
    private final Retries retries;
    /** Since it waited last. */
    private final Set<Endpoint> tried = new HashSet<>();
    /** The only message, kept for another attempt. Null where the client sends a stream of them. */
    private final byte @Nullable [] request;

    private final LongPredicate succeeded;
    /** Has this call until it ends, if it waits for any time. */
    private final Set<ForwardedCall> patient;

    /** By {@link System#nanoTime}; {@link Caller#NO_DEADLINE} for none. */
    private final long deadlineNanos;

    private final long beganNanos = System.nanoTime();
    private final long heldUntilNanos;
    private final boolean requiresLeader;
    private final boolean isPatient;

    /** Null if it never waited. */
    private @Nullable CompletableFuture<Void> turn;

    private @Nullable Attempt attempt;
    private boolean clientDone;
    private boolean over;

    /**
     * Does nothing until {@link #start}.
     *
     * @param members that can execute it, best first
     * @param retries queues calls that reached no member
     * @param request the only one; null where the client sends a stream of them
     * @param patience timeout of a unary call without a deadline, and of a call that reaches no member
     * @param succeeded receives the revision of each answer, before the client gets it; false if it must not get it
     * @param patient calls that wait for any time, to which {@link #unreachable} is reported
     */
    ForwardedCall(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            EtcdCluster source,
            Supplier<List<Endpoint>> members,
            ForwardMetrics metrics,
            Retries retries,
            byte @Nullable [] request,
            Duration patience,
            LongPredicate succeeded,
            Set<ForwardedCall> patient) {
        this.method = method;
        this.client = client;
        this.headers = headers;
        this.caller = caller;
        this.loop = loop;
        this.source = source;
        this.metrics = metrics;
        this.retries = retries;
        this.members = members;
        this.request = request;
        this.succeeded = succeeded;
        this.patient = patient;
        this.isPatient = method.isPatient(request);
        boolean ours = caller.deadlineNanos() == Caller.NO_DEADLINE && !isPatient;
        this.deadlineNanos = ours ? beganNanos + patience.toNanos() : caller.deadlineNanos();
        this.heldUntilNanos = beganNanos + patience.toNanos();
        this.requiresLeader = "true".equals(headers.get(PassedMetadata.REQUIRES_LEADER));
    }

    void start() {
        metrics.began(method);
        if (isPatient) {
            patient.add(this);
        }
        guarded(this::unsent);
    }

    /** A member does not respond to probes since then. Ends the call if it has not answered it either. Thread-safe. */
    void unreachable(List<Endpoint> endpoints, long sinceNanos) {
        loop.execute(() -> {
            if (!over
                    && attempt != null
                    && endpoints.contains(attempt.endpoint)
                    && attempt.answeredNanos - sinceNanos < 0) {
                attempt.lost = true;
                attempt.call.cancel("member unreachable", null);
            }
        });
    }

    /** Tries the next member, or all again later, unless the source was replaced. */
    private void unsent() {
        Status noLeader = Refusals.status(ApiException.noLeader());
        // A member without a leader fails such a request at once. After a start, no member is known to have none.
        boolean isLeaderless = requiresLeader && source.view().clusterId() != null && !source.isLeaderLost();
        if (retries.areOver()) {
            end(Refusals.MOVED, new Metadata());
        } else if (!tryNext() && (isLeaderless || !held(noLeader))) {
            end(noLeader, new Metadata());
        }
    }

    private boolean held(Status noLeader) {
        turn = new CompletableFuture<>();
        return retries.hold(caller.session(), turn, request, heldUntilNanos, loop, inTime -> {
            if (over) {
                return;
            }
            if (inTime) {
                guarded(() -> {
                    tried.clear();
                    unsent();
                });
            } else {
                end(noLeader, new Metadata());
            }
        });
    }

    /** Ends the call if a step fails, since nothing else would. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.atError().addKeyValue("method", method.fullName()).setCause(e).log("call failed");
            end(Status.INTERNAL.withDescription("understudy: " + e), new Metadata());
        }
    }

    /** Tries the best untried member, by the latest view; false if there is none. */
    private boolean tryNext() {
        Optional<Endpoint> next = members.get().stream().filter(tried::add).findFirst();
        next.ifPresent(endpoint -> {
            attempt = new Attempt(endpoint);
            attempt.start();
        });
        return next.isPresent();
    }

    private void end(Status status, Metadata trailers) {
        if (!over) {
            over = true;
            patient.remove(this);
            metrics.ended(method, status.getCode().name(), Duration.ofNanos(System.nanoTime() - beganNanos));
            client.close(status, trailers);
        }
    }

    @Override
    public void onMessage(byte[] message) {
        if (attempt != null) {
            attempt.send(message);
        }
    }

    @Override
    public void onHalfClose() {
        clientDone = true;
        if (attempt != null && request == null) {
            attempt.call.halfClose();
        }
    }

    /** The client has gone, or its deadline has passed. */
    @Override
    public void onCancel() {
        if (!over) {
            over = true;
            patient.remove(this);
            metrics.ended(method, Status.Code.CANCELLED.name(), Duration.ofNanos(System.nanoTime() - beganNanos));
            if (turn != null) {
                turn.complete(null);
            }
            if (attempt != null) {
                attempt.call.cancel("cancelled by the client", null);
            }
        }
    }

    /** The client can take more. */
    @Override
    public void onReady() {
        if (attempt != null) {
            attempt.clientReady();
        }
    }

    /** The call to one member. */
    private final class Attempt extends ClientCall.Listener<byte[]> {

        private final Endpoint endpoint;
        private final SendingRecord sending;
        private final Runnable cancel;
        private final ClientCall<byte[], byte[]> call;
        /** The client may send one more message. */
        private boolean wantsFromClient = true;
        /** The member may send one more message. */
        private boolean wantsFromMember;

        private final long attemptedNanos = System.nanoTime();
        private boolean answered;
        /** The last answer, or the start. */
        private long answeredNanos = attemptedNanos;
        /** Cancelled since the member is unreachable. */
        private boolean lost;

        Attempt(Endpoint endpoint) {
            this.endpoint = endpoint;
            this.cancel = () -> loop.execute(this::cancelUnsent);
            boolean hasWaited = turn != null;
            this.sending = new SendingRecord(() -> {
                retries.sent(cancel);
                if (hasWaited) {
                    retries.reached();
                }
            });
            CallOptions options = CallOptions.DEFAULT
                    .withExecutor(loop)
                    .withMaxInboundMessageSize(MAX_ANSWER_BYTES)
                    .withStreamTracerFactory(sending);
            if (deadlineNanos != Caller.NO_DEADLINE) {
                options = options.withDeadlineAfter(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
            this.call = source.forwardedChannel(endpoint).newCall(method.wire(), options);
        }

        void start() {
            retries.unsent(cancel);
            call.start(this, PassedMetadata.of(headers));
            // Requests two of a unary call, so that a second one is detected as a fault.
            call.request(method.unary() ? 2 : 1);
            if (request != null) {
                call.sendMessage(request);
                call.halfClose();
            } else if (clientDone) {
                call.halfClose();
            }
        }

        /** The source was replaced while a connection to it was established. */
        private void cancelUnsent() {
            if (!over && sending.provablyNotSent()) {
                call.cancel("the primary has moved", null);
            }
        }

        void send(byte[] message) {
            call.sendMessage(message);
            wantsFromClient = true;
            onReady();
        }

        void clientReady() {
            if (wantsFromMember && client.isReady()) {
                wantsFromMember = false;
                call.request(1);
            }
        }

        /** The member is ready. Until then no stream message is requested from the client, so none is lost. */
        @Override
        public void onReady() {
            if (request == null && wantsFromClient && call.isReady() && !over) {
                wantsFromClient = false;
                client.request(1);
            }
        }

        @Override
        public void onHeaders(Metadata received) {
            if (!over) {
                client.sendHeaders(PassedMetadata.of(received));
            }
        }

        @Override
        public void onMessage(byte[] message) {
            if (over) {
                return;
            }
            answeredNanos = System.nanoTime();
            if (!answered) {
                answered = true;
                source.reportSuccess(endpoint, method.duty());
            }
            // Runs before the client's next request, so that its reads on this connection are not older.
            long revision = HeaderRevision.of(message);
            if (!succeeded.test(revision)) {
                end(Refusals.status(Refusals.connectionLost()), new Metadata());
                call.cancel("the primary has moved", null);
                return;
            }
            caller.session().answered(revision);
            client.sendMessage(message);
            if (!method.unary()) {
                wantsFromMember = true;
                clientReady();
            }
        }

        @Override
        public void onClose(Status reported, Metadata trailers) {
            retries.sent(cancel);
            if (over) {
                return;
            }
            boolean ended = lost && reported.getCode() == Status.Code.CANCELLED;
            Status status = ended ? Refusals.status(Refusals.connectionLost()) : reported;
            if (status.getCode() == Status.Code.UNAVAILABLE || neverConnected(status)) {
                source.reportFailure(endpoint, method.duty(), new StatusRuntimeException(status));
            }
            Metadata passed = PassedMetadata.of(trailers);
            if (sending.answered()) {
                if (refusedUnseen(status)) {
                    metrics.elsewhere();
                    guarded(() -> {
                        if (!tryNext()) {
                            end(status, passed);
                        }
                    });
                } else {
                    end(status, passed);
                }
            } else if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
                boolean theirs = deadlineNanos == caller.deadlineNanos();
                end(Refusals.status(theirs ? Refusals.deadlineExceeded() : ApiException.timedOut()), passed);
            } else if (sending.provablyNotSent()) {
                metrics.elsewhere();
                guarded(ForwardedCall.this::unsent);
            } else {
                // A connection may take the call while it is cancelled.
                boolean cancelled = status.getCode() == Status.Code.CANCELLED && retries.areOver();
                end(
                        cancelled || status.getCode() == Status.Code.UNAVAILABLE
                                ? Refusals.status(Refusals.connectionLost())
                                : status,
                        passed);
            }
        }

        /** Whether the member is unreachable, as shown by the timeout only. Not with a short client deadline. */
        private boolean neverConnected(Status status) {
            return status.getCode() == Status.Code.DEADLINE_EXCEEDED
                    && sending.provablyNotSent()
                    && System.nanoTime() - attemptedNanos >= CONNECTS_WITHIN.toNanos();
        }

        /** Whether a learner rejected the request unread, while its role was not known yet. */
        private boolean refusedUnseen(Status status) {
            return request != null
                    && !answered
                    && status.getDescription() != null
                    && EtcdErrors.error(status.getDescription()) == EtcdError.LEARNER_NOT_SUPPORTED;
        }
    }
}
