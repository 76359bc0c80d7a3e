package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.replica.ReplicaState;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A read that can't be answered at once: waits for a read-index round if it needs one, then for the replica to include
 * what the answer has to include, or asks the source. On its event loop, where {@link LoopWaits} calls exactly one of
 * {@link #confirmed}, {@link #met}, {@link #expired}, {@link #dropped} and {@link #abandoned}, later, for each wait.
 */
final class PendingRead<R extends OpResult> {

    /** How long a read may take before it is asked about once more whether it is permitted. */
    private static final long PERMITTED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ReadPath path;
    private final Caller caller;
    private final Operation<R> operation;
    private final Consistency consistency;
    private final Promise<Answer<R>> promise = Promise.promise();
    private final long beganNanos = System.nanoTime();
    private final long deadlineNanos;
    private final long freshnessDeadlineNanos;

    /** When it was last known to be permitted. */
    private long permittedNanos;

    /** What the answer's state has to include, as far as known; grows. */
    private long least;

    private boolean roundAwaited;
    /** Whether the session's other reads wait for this one. */
    private boolean hasSession;
    /** Whether it is to include what was current after the read came: no bound asks for more. */
    private boolean confirmed;

    PendingRead(ReadPath path, Caller caller, Operation<R> operation, Consistency consistency, long least) {
        this.path = path;
        this.caller = caller;
        this.permittedNanos = path.permissionNanos();
        this.operation = operation;
        this.consistency = consistency;
        this.least = least;
        this.deadlineNanos = capped(path.settings().timeout());
        this.freshnessDeadlineNanos = capped(path.settings().freshnessTimeout());
    }

    /** When so much time is over, or the client's. */
    private long capped(Duration timeout) {
        long ours = beganNanos + timeout.toNanos();
        long clients = caller.deadlineNanos();
        return clients != Caller.NO_DEADLINE && clients - ours < 0 ? clients : ours;
    }

    /** @param round whether a round has to be sent first */
    Future<Answer<R>> begin(boolean round) {
        if (round) {
            awaitRound();
        } else {
            goOn();
        }
        return promise.future();
    }

    private void awaitRound() {
        roundAwaited = true;
        try {
            if (isLinearizable()) {
                path.requireLinearizable();
            }
            path.waits().here().forRound(isLinearizable() ? deadlineNanos : freshnessDeadlineNanos, this);
        } catch (ApiException e) {
            fail(e);
        }
    }

    /** With what is known to be needed: from the replica, now or later, or from the source. */
    private void goOn() {
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
            path.waits().here().forRevision(least, replicaDeadline(), this);
        } catch (ApiException e) {
            fail(e);
        }
    }

    /** A linearizable read may have spent long on its round; the replica gets its time all the same. */
    private long replicaDeadline() {
        if (!isLinearizable()) {
            return freshnessDeadlineNanos;
        }
        long fair = System.nanoTime() + path.settings().freshnessTimeout().toNanos();
        return fair - deadlineNanos < 0 ? fair : deadlineNanos;
    }

    private boolean isLinearizable() {
        return consistency == Consistency.LINEARIZABLE;
    }

    /**
     * A state that includes the revision was current at that moment.
     *
     * @param asOfNanos by {@link System#nanoTime}
     */
    void confirmed(long revision, long asOfNanos) {
        roundAwaited = false;
        confirmed = asOfNanos - beganNanos >= 0;
        least = Math.max(least, revision);
        met();
    }

    /** The revision it waited for is applied. */
    void met() {
        path.metrics().waited(consistency, true, waited());
        // Meanwhile the session may have seen more.
        least = Math.max(least, caller.session().lastRevision());
        goOn();
    }

    void expired() {
        path.metrics().waited(consistency, false, waited());
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
        // The replica is late with what the session has seen, or a quorum confirmed, or was dropped; a member may have
        // it.
        passThrough(state == null ? Missing.STATE : Missing.PRESENT);
    }

    /** The replica was dropped: the revision won't be applied soon. Not called for waits for a round. */
    void dropped() {
        path.metrics().waited(consistency, false, waited());
        least = Math.max(least, caller.session().lastRevision());
        goOn();
    }

    /** Whether the client has gone. */
    boolean isGone() {
        return caller.gone().getAsBoolean();
    }

    /** It was found gone. */
    void abandoned() {
        fail(ApiException.cancelled());
    }

    /** An unforeseen failure, maybe of one of the others. */
    void failed(Throwable why) {
        fail(why);
    }

    private Duration waited() {
        return Duration.ofNanos(System.nanoTime() - beganNanos);
    }

    private void answer(ReplicaState state) {
        if (!path.isShort(operation, state)) {
            path.evaluations().inTurn(this::evaluate).onFailure(this::fail);
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

    /** On a thread for what takes long, of which one is free. Done when that is free again. */
    private Future<Void> evaluate() {
        if (isGone()) {
            return Future.failedFuture(ApiException.cancelled());
        }
        if (System.nanoTime() - deadlineNanos >= 0) {
            return Future.failedFuture(ApiException.timedOut());
        }
        // While it waited for its turn the session may have seen more, and the replica come further.
        least = Math.max(least, caller.session().lastRevision());
        ReplicaState state = path.state();
        if (state == null || state.revision().value() < least) {
            goOn();
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
        } else if (state.revision().value() < caller.session().lastRevision()) {
            again();
        } else {
            complete(path.fromReplica(caller, evaluated.result().get(), consistency, state), null);
        }
    }

    /**
     * The session was answered something newer while this was under way. Once more, then, but before what else the session
     * asks: where there are many commits and many reads, this would otherwise never end.
     */
    private void again() {
        Session session = caller.session();
        if (!hasSession) {
            if (session.isTaken()) {
                session.whenFree(() -> guarded(this::again));
                return;
            }
            session.take();
            hasSession = true;
        }
        least = Math.max(least, session.lastRevision());
        goOn();
    }

    /** @param hold of what the answer takes, until the client has taken it */
    private void complete(Answer<R> answer, ByteBudget.@Nullable Hold hold) {
        if (!isFresh(answer)) {
            release(hold);
            freshen();
        } else if (path.permissionNanos() - permittedNanos >= PERMITTED_NANOS) {
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

    /** Which may have taken its time too. */
    private void stillPermitted(Answer<R> answer, ByteBudget.@Nullable Hold hold) {
        permittedNanos = path.permissionNanos();
        if (answer.revision() < caller.session().lastRevision()) {
            release(hold);
            again();
        } else {
            complete(path.renewed(answer), hold);
        }
    }

    private static void release(ByteBudget.@Nullable Hold hold) {
        if (hold != null) {
            hold.release();
        }
    }

    /** A bound that held when the read came may not hold any more, after all the waiting. */
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
        end(() -> promise.tryComplete(confirmed ? answer.asOfArrival() : answer));
    }

    private void fail(Throwable why) {
        ApiException refusal = why instanceof ApiException known ? known : path.fault(why);
        end(() -> promise.tryFail(refusal));
    }

    /** Who waits for the session goes on once the client was told, and whatever goes wrong with that. */
    private void end(Runnable told) {
        try {
            told.run();
        } finally {
            if (hasSession) {
                hasSession = false;
                caller.session().release();
            }
        }
    }

    /** For what is run by others, who can do nothing about what goes wrong. */
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
        path.heldOfSource()
                .take(caller.session(), operation.mostBytes(), deadlineNanos)
                .onSuccess(hold -> guarded(hold, () -> querySource(hold, missing)))
                .onFailure(this::fail);
    }

    private void querySource(ByteBudget.Hold hold, Missing missing) {
        operation.from(path.source(), need(missing)).onComplete(fetched -> guarded(hold, () -> fetched(hold, fetched)));
    }

    /** What is held is given back before more is asked for: it might wait for what it holds itself. */
    private void fetched(ByteBudget.Hold hold, AsyncResult<Operation.Fetched<R>> fetched) {
        if (fetched.failed()) {
            hold.release();
            fail(fetched.cause());
            return;
        }
        Operation.Fetched<R> told = fetched.result();
        if (told.revision() < caller.session().lastRevision()) {
            hold.release();
            again();
            return;
        }
        hold.become(told.bytes());
        complete(path.fromSource(caller, told, consistency), hold);
    }

    private Operation.Need need(Missing missing) {
        long fair = System.nanoTime() + path.settings().freshnessTimeout().toNanos();
        // Outside of its range the gateway may have no permission.
        Principal as = missing == Missing.KEYS ? caller.principal() : Principal.ANONYMOUS;
        return new Operation.Need(missing, least, fair, tooOld(), deadlineNanos, as);
    }

    /** What the client is told when nobody has what the answer has to include. */
    private ApiException tooOld() {
        Duration allowed = caller.freshness().maxStaleness();
        if (least == caller.freshness().minRevision()) {
            return ApiException.futureRevision();
        }
        return consistency == Consistency.BOUNDED && allowed != null ? path.tooStale(allowed) : ApiException.notReady();
    }
}
