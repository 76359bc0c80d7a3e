package io.understudy.gateway.read;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.Member;
import io.understudy.etcd.Remedy;
import io.understudy.etcd.Role;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.read.Answer.Provenance.Origin;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.ClusterId;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads one serializable range from the source. Members are tried in the order of least load on voting members, until
 * one has the required revision. A lagging member gets some time. Confined to the reader's event loop.
 */
final class SourceRange {

    private static final long BEHIND_RETRY_MILLIS = 20;

    /** While the cluster ID is unknown. */
    private static final long UNKNOWN_RETRY_MILLIS = 10;

    private static final long BEHIND_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Timeouts shorter than this do not count as failures: the client's deadline was short. */
    private static final long FAIR_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** For a response that has begun; etcd has no timeout for its transfer. */
    private static final long TRANSFER_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final EtcdCluster cluster;
    private final Context loop;
    private final RangeRequest request;
    private final Operation.Need need;
    private final Consumer<EtcdFailure> ownFault;
    private final Iterator<Endpoint> candidates;
    private final Promise<SourceAnswer> promise = Promise.promise();
    private @Nullable EtcdFailure lastFailure;
    private long memberSinceNanos;
    private boolean isLastMember;

    /** @param ownFault receives denials that concern this gateway, not the client */
    SourceRange(
            EtcdCluster cluster,
            Context loop,
            RangeRequest request,
            Operation.Need need,
            Consumer<EtcdFailure> ownFault) {
        this.cluster = cluster;
        this.loop = loop;
        this.request = request.toBuilder().setSerializable(true).build();
        this.need = need;
        this.ownFault = ownFault;
        this.candidates = cluster.endpointsFor(Duty.SNAPSHOT).iterator();
    }

    /** Fails with an {@link ApiException} only. */
    Future<SourceAnswer> read() {
        readNext();
        return promise.future();
    }

    private void readNext() {
        if (!candidates.hasNext()) {
            giveUp();
            return;
        }
        memberSinceNanos = System.nanoTime();
        Endpoint next = candidates.next();
        isLastMember = !candidates.hasNext();
        read(next);
    }

    private void read(Endpoint endpoint) {
        if (isGone()) {
            promise.fail(ApiException.cancelled());
            return;
        }
        long left = need.deadlineNanos() - System.nanoTime();
        if (left <= 0) {
            giveUp();
            return;
        }
        // An unresponsive member must leave time for another.
        long budget = candidates.hasNext() ? left / 2 : left;
        Role role = cluster.view().memberAt(endpoint).map(Member::role).orElse(Role.VOTER);
        Metadata as = new Metadata();
        if (need.caller() instanceof Principal.Token token) {
            as.put(Principal.Token.KEY, token.value());
        }
        ClientCall<RangeRequest, RangeResponse> call = (isCallers()
                        ? cluster.forwardedChannel(endpoint)
                        : cluster.channel(endpoint))
                .newCall(
                        KVGrpc.getRangeMethod(),
                        CallOptions.DEFAULT
                                .withDeadlineAfter(budget + TRANSFER_NANOS, TimeUnit.NANOSECONDS)
                                .withMaxInboundMessageSize(SourceReads.MOST_BYTES));
        need.calls().add(call);
        AtomicBoolean begun = new AtomicBoolean();
        AtomicBoolean silent = new AtomicBoolean();
        long timer = loop.owner().setTimer(Math.max(1, TimeUnit.NANOSECONDS.toMillis(budget)), late -> {
            if (!begun.get()) {
                silent.set(true);
                call.cancel("no response", null);
            }
        });
        call.start(
                new ClientCall.Listener<>() {
                    private @Nullable RangeResponse response;

                    @Override
                    public void onHeaders(Metadata headers) {
                        begun.set(true);
                    }

                    @Override
                    public void onMessage(RangeResponse message) {
                        response = message;
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        RangeResponse whole = response;
                        SourceAnswer answer =
                                status.isOk() && whole != null ? SourceAnswer.of(whole, Origin.of(role)) : null;
                        loop.runOnContext(ended -> {
                            loop.owner().cancelTimer(timer);
                            need.calls().remove(call);
                            if (answer != null) {
                                answered(endpoint, answer);
                            } else {
                                failed(endpoint, silent.get() ? Status.DEADLINE_EXCEEDED : status, budget);
                            }
                        });
                    }
                },
                as);
        call.request(2);
        call.sendMessage(request);
        call.halfClose();
    }

    private void answered(Endpoint endpoint, SourceAnswer answer) {
        ClusterId meant = cluster.view().clusterId();
        if (meant == null) {
            judgeLater(endpoint, answer);
        } else if (!answer.cluster().equals(meant)) {
            cluster.reportFailure(endpoint, Duty.SNAPSHOT, "endpoint reaches cluster " + answer.cluster());
            readNext();
        } else if (answer.revision() < need.revision()) {
            isBehind(endpoint);
        } else {
            cluster.reportSuccess(endpoint, Duty.SNAPSHOT);
            promise.complete(answer);
        }
    }

    /** The response may precede the cluster view. */
    private void judgeLater(Endpoint endpoint, SourceAnswer answer) {
        if (need.deadlineNanos() - System.nanoTime() <= 0) {
            giveUp();
        } else {
            long unused = loop.owner().setTimer(UNKNOWN_RETRY_MILLIS, again -> answered(endpoint, answer));
        }
    }

    private void failed(Endpoint endpoint, Status status, long budget) {
        if (isGone()) {
            promise.fail(ApiException.cancelled());
            return;
        }
        EtcdFailure failure = EtcdErrors.classify(Duty.SNAPSHOT, status);
        if (failure.error() == EtcdError.FUTURE_REVISION && request.getRevision() <= need.revision()) {
            // The revision exists, so the member lags.
            isBehind(endpoint);
            return;
        }
        boolean tooLarge = failure.code() == Status.Code.RESOURCE_EXHAUSTED && failure.error() == EtcdError.OTHER;
        boolean refused = failure.remedy() == Remedy.FATAL
                || failure.remedy() == Remedy.CALLERS_FAULT
                || failure.error() == EtcdError.FUTURE_REVISION;
        if (refused || tooLarge) {
            promise.fail(clientError(failure));
            return;
        }
        if (failure.code() != Status.Code.DEADLINE_EXCEEDED || budget >= FAIR_NANOS) {
            EtcdFailure unused = cluster.reportFailure(endpoint, Duty.SNAPSHOT, status.asException());
        }
        lastFailure = failure;
        readNext();
    }

    private void isBehind(Endpoint endpoint) {
        long now = System.nanoTime();
        boolean late = now - need.behindNanos() >= 0;
        if (late && isLastMember) {
            promise.fail(need.refusal());
        } else if (!late && (now - memberSinceNanos < BEHIND_PATIENCE_NANOS || isLastMember)) {
            long unused = loop.owner().setTimer(BEHIND_RETRY_MILLIS, again -> read(endpoint));
        } else {
            readNext();
        }
    }

    private void giveUp() {
        EtcdFailure failure = lastFailure;
        promise.fail(
                failure == null || failure.error() == EtcdError.OTHER ? ApiException.timedOut() : clientError(failure));
    }

    private boolean isGone() {
        return need.client().gone().getAsBoolean();
    }

    private boolean isCallers() {
        return need.caller() instanceof Principal.Token;
    }

    /** Returns the client's error. Denials of the gateway's own user are not the client's. */
    private ApiException clientError(EtcdFailure failure) {
        if (isCallers()) {
            return new ApiException(failure.code(), failure.message());
        }
        return switch (failure.error()) {
            case PERMISSION_DENIED -> {
                ownFault.accept(failure);
                yield new ApiException(
                        Status.Code.FAILED_PRECONDITION,
                        "understudy: source.user of this gateway has no permission to read these keys");
            }
            case INVALID_TOKEN, OLD_AUTH_REVISION, USER_EMPTY, LOGIN_FAILED, AUTH_NOT_ENABLED -> {
                ownFault.accept(failure);
                yield new ApiException(
                        Status.Code.UNAVAILABLE, "understudy: the source rejected the credentials of source.user");
            }
            default -> new ApiException(failure.code(), failure.message());
        };
    }

    /**
     * A range response of a member of the source.
     *
     * @param revision of its header: the state's, regardless of the requested revision
     * @param entries as limited, sorted and filtered by the member
     * @param bytes encoded size of the entries
     */
    record SourceAnswer(
            ClusterId cluster,
            long revision,
            List<Entry> entries,
            boolean more,
            long count,
            Origin origin,
            long bytes) {

        static SourceAnswer of(RangeResponse response, Origin origin) {
            List<Entry> entries = new ArrayList<>(response.getKvsCount());
            for (KeyValue kv : response.getKvsList()) {
                entries.add(Entry.of(EtcdMessages.keyValue(kv)));
            }
            return new SourceAnswer(
                    new ClusterId(response.getHeader().getClusterId()),
                    response.getHeader().getRevision(),
                    entries,
                    response.getMore(),
                    response.getCount(),
                    origin,
                    entries.stream().mapToLong(Entry::wireSize).sum());
        }
    }
}
