package io.understudy.gateway.read;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.read.Answer.Provenance.Consistency;
import io.understudy.gateway.read.Operation.Missing;
import io.understudy.gateway.read.Upstream.LargerResponse;
import io.understudy.gateway.read.Waits.LoopWaits;
import io.understudy.gateway.replica.ReplicaState;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A read that cannot be answered at once. It waits for a read-index round if needed and then for the replica, or reads
 * from the source. Confined to its event loop. Each wait is ended by exactly one call of {@link LoopWaits}: {@link
 * #confirmed}, {@link #met}, {@link #expired}, {@link #dropped} or {@link #abandoned}.
 */
final class PendingRead<R extends OpResult> {

    /** Duration of a read after which its permission is checked again. */
    private static final long PERMITTED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ReadPath path;
    private final Caller caller;
    private final Operation<R> operation;
    private final Consistency consistency;
    private final Promise<Answer<R>> promise = Promise.promise();
    private final long beganNanos = System.nanoTime();
    private final long deadlineNanos;
    private final long freshnessDeadlineNanos;

    /** Time of the last permission check. */
    private long permittedNanos;

    /** Minimum revision of the answer; only increases. Answers sent meanwhile are concurrent, so they do not count. */
    private long least;

    private boolean roundAwaited;
    /** Whether the state was confirmed after the read arrived, which meets every bound. */
    private boolean confirmed;

    PendingRead(ReadPath path, Caller caller, Operation<R> operation, Consistency consistency, long least) {
        this.path = path;
        this.caller = caller;
        this.permittedNanos = path.permissionClock.getAsLong();
        this.operation = operation;
        this.consistency = consistency;
        this.least = least;
        this.deadlineNanos = capped(path.settings.timeout());
        this.freshnessDeadlineNanos = capped(path.settings.freshnessTimeout());
    }

    /** Returns the earlier of this timeout and the client's deadline. */
    private long capped(Duration timeout) {
        long ours = beganNanos + timeout.toNanos();
        long clients = caller.deadlineNanos();
        return clients != Caller.NO_DEADLINE && clients - ours < 0 ? clients : ours;
    }

    /** @param round whether a read-index round is required */
    Future<Answer<R>> begin(boolean round) {
        if (round) {
            awaitRound();
        } else {
            proceed();
        }
        return promise.future();
    }

    private void awaitRound() {
        roundAwaited = true;
        try {
            if (isLinearizable()) {
                path.confirmations.requireLinearizable();
            }
            path.waits.here().forRound(isLinearizable() ? deadlineNanos : freshnessDeadlineNanos, this);
        } catch (ApiException e) {
            fail(e);
        }
    }

    /** Continues at the replica, now or later, or at the source. */
    private void proceed() {
        ReplicaState state = path.state();
        if (!operation.isWithin(path.range())) {
            passThrough(Missing.KEYS);
        } else if (state == null) {
            passThrough(Missing.STATE);
        } else if (state.revision().value() >= least) {
            answer(state);
        } else if (System.nanoTime() - replicaDeadline() >= 0) {
            expired();
        } else {
            awaitRevision();
        }
    }

    private void awaitRevision() {
        try {
            path.waits.here().forRevision(least, replicaDeadline(), this);
        } catch (ApiException e) {
            fail(e);
        }
    }

    /** A linearizable read gets a full wait for the replica, even after a slow round. */
    private long replicaDeadline() {
        if (!isLinearizable()) {
            return freshnessDeadlineNanos;
        }
        long fair = System.nanoTime() + path.settings.freshnessTimeout().toNanos();
        return fair - deadlineNanos < 0 ? fair : deadlineNanos;
    }

    private boolean isLinearizable() {
        return consistency == Consistency.LINEARIZABLE;
    }

    /**
     * A state that includes the revision was current at that time.
     *
     * @param asOfNanos by {@link System#nanoTime}
     */
    void confirmed(long revision, long asOfNanos) {
        roundAwaited = false;
        confirmed = asOfNanos - beganNanos >= 0;
        least = Math.max(least, revision);
        met();
    }

    /** The awaited revision is applied. */
    void met() {
        path.metrics.waited(consistency, true, waited());
        proceed();
    }

    void expired() {
        path.metrics.waited(consistency, false, waited());
        if (isLinearizable() && roundAwaited) {
            fail(ApiException.timedOut());
            return;
        }
        Duration allowed = caller.freshness().maxStaleness();
        ReplicaState state = path.state();
        if (!isLinearizable() && allowed != null) {
            boolean replicaIsLate = state != null && !path.isWithin(allowed, beganNanos);
            if (roundAwaited || replicaIsLate) {
                fail(path.tooStale(allowed));
                return;
            }
        }
        if (state != null && caller.freshness().minRevision() > state.revision().value()) {
            fail(ApiException.futureRevision());
            return;
        }
        // The replica lags behind the session or a quorum, or was dropped; a member may be current.
        passThrough(state == null ? Missing.STATE : Missing.PRESENT);
    }

    /** The replica was dropped, so the revision is not applied soon. Not called for a round. */
    void dropped() {
        path.metrics.waited(consistency, false, waited());
        proceed();
    }

    /** Whether the client has disconnected. */
    boolean isGone() {
        return caller.gone().getAsBoolean();
    }

    /** The client has disconnected. */
    void abandoned() {
        fail(ApiException.cancelled());
    }

    /** Unexpected failure, maybe of another read of the batch. */
    void failed(Throwable why) {
        fail(why);
    }

    private Duration waited() {
        return Duration.ofNanos(System.nanoTime() - beganNanos);
    }

    private void answer(ReplicaState state) {
        if (!path.isShort(operation, state)) {
            path.evaluations.inTurn(caller.session(), this::evaluate).onFailure(this::fail);
            return;
        }
        Answer<R> answer;
        try {
            answer = path.fromReplica(caller, operation, consistency, state);
        } catch (ApiException e) {
            fail(e);
            return;
        }
        if (answer == null) {
            passThrough(Missing.PAST);
        } else {
            complete(answer, null);
        }
    }

    /** Evaluates on a free worker; completes when that is free again. */
    private Future<Void> evaluate() {
        if (isGone()) {
            return Future.failedFuture(ApiException.cancelled());
        }
        if (System.nanoTime() - deadlineNanos >= 0) {
            return Future.failedFuture(ApiException.timedOut());
        }
        // The replica may have been dropped while this was queued.
        ReplicaState state = path.state();
        if (state == null || state.revision().value() < least) {
            proceed();
            return Future.succeededFuture();
        }
        return path.evaluate(operation, state).transform(evaluated -> {
            evaluated(state, evaluated);
            return Future.succeededFuture();
        });
    }

    private void evaluated(ReplicaState state, AsyncResult<Optional<R>> evaluated) {
        if (evaluated.failed()) {
            fail(evaluated.cause());
        } else if (evaluated.result().isEmpty()) {
            passThrough(Missing.PAST);
        } else {
            complete(path.fromReplica(caller, evaluated.result().get(), consistency, state), null);
        }
    }

    /** @param hold size of the answer, held until the client has read it */
    private void complete(Answer<R> answer, ByteBudget.@Nullable Hold hold) {
        if (!isFresh(answer)) {
            release(hold);
            freshen();
        } else if (path.permissionClock.getAsLong() - permittedNanos >= PERMITTED_NANOS) {
            path.permitted(caller, operation)
                    .onSuccess(yes -> guarded(hold, () -> stillPermitted(answer, hold)))
                    .onFailure(why -> {
                        release(hold);
                        fail(why);
                    });
        } else {
            if (hold != null) {
                caller.whenOver().accept(hold::release);
            }
            succeed(answer);
        }
    }

    /** Continues after the permission check, which may have been slow too. */
    private void stillPermitted(Answer<R> answer, ByteBudget.@Nullable Hold hold) {
        permittedNanos = path.permissionClock.getAsLong();
        complete(path.renewed(answer), hold);
    }

    private static void release(ByteBudget.@Nullable Hold hold) {
        if (hold != null) {
            hold.release();
        }
    }

    /** Whether the bound still holds after the waits. */
    private boolean isFresh(Answer<R> answer) {
        Duration allowed = caller.freshness().maxStaleness();
        Duration staleness = answer.staleness();
        return consistency != Consistency.BOUNDED
                || allowed == null
                || confirmed
                || (staleness != null && staleness.compareTo(allowed) <= 0);
    }

    private void freshen() {
        if (System.nanoTime() - freshnessDeadlineNanos < 0) {
            awaitRound();
        } else {
            fail(path.tooStale(Objects.requireNonNull(caller.freshness().maxStaleness())));
        }
    }

    private void succeed(Answer<R> answer) {
        boolean unused = promise.tryComplete(confirmed ? answer.asOfArrival() : answer);
    }

    private void fail(Throwable why) {
        ApiException refusal = why instanceof ApiException known ? known : path.fault(why);
        boolean unused = promise.tryFail(refusal);
    }

    /** Runs a step as a callback: an exception fails the read. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    private void guarded(ByteBudget.@Nullable Hold hold, Runnable step) {
        guarded(() -> {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                release(hold);
                throw e;
            }
        });
    }

    private void passThrough(Missing missing) {
        if (caller.freshness().replicaOnly()) {
            fail(new ApiException(Status.Code.UNIMPLEMENTED, "understudy: the replica lacks the keys or revision"));
            return;
        }
        passThrough(missing, operation.mostBytes());
    }

    private void passThrough(Missing missing, long bytes) {
        path.heldOfSource
                .take(caller.session(), bytes, deadlineNanos)
                .onSuccess(hold -> guarded(hold, () -> querySource(hold, missing, bytes)))
                .onFailure(this::fail);
    }

    private void querySource(ByteBudget.Hold hold, Missing missing, long bytes) {
        if (isGone()) {
            // A wait for the budget does not end with its client.
            hold.release();
            fail(ApiException.cancelled());
            return;
        }
        Operation.Need need = need(missing, bytes);
        caller.whenOver().accept(() -> need.calls().forEach(call -> call.cancel("client gone", null)));
        operation.from(path.source, need).onComplete(fetched -> guarded(hold, () -> fetched(hold, missing, fetched)));
    }

    /** Releases the hold before another read, which might otherwise wait for it. */
    private void fetched(ByteBudget.Hold hold, Missing missing, AsyncResult<Operation.Fetched<R>> fetched) {
        if (fetched.failed()) {
            hold.release();
            if (fetched.cause() instanceof LargerResponse larger) {
                passThrough(missing, larger.bytes);
            } else {
                fail(fetched.cause());
            }
            return;
        }
        Operation.Fetched<R> response = fetched.result();
        hold.become(response.bytes());
        complete(path.fromSource(caller, response, consistency), hold);
    }

    private Operation.Need need(Missing missing, long bytes) {
        long fair = System.nanoTime() + path.settings.freshnessTimeout().toNanos();
        // The gateway may lack permissions outside of its range.
        Principal as = missing == Missing.KEYS ? caller.principal() : Principal.ANONYMOUS;
        return new Operation.Need(missing, least, fair, tooOld(), deadlineNanos, as, caller, new HashSet<>(), bytes);
    }

    /** Returns the client's error if no member reaches the required revision. */
    private ApiException tooOld() {
        Duration allowed = caller.freshness().maxStaleness();
        if (least == caller.freshness().minRevision()) {
            return ApiException.futureRevision();
        }
        return consistency == Consistency.BOUNDED && allowed != null ? path.tooStale(allowed) : ApiException.notReady();
    }
}
