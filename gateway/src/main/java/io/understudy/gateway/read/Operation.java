package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a read asks for, apart from how fresh it has to be. A valid request. */
sealed interface Operation<R extends OpResult> permits RangeOperation, TxnOperation {

    /** Succeeds if {@code principal} may read all that it names; fails as {@link ReadPermissions#check} does. */
    Future<Void> permitted(ReadPermissions permissions, Principal principal);

    /** Whether all keys it names lie in {@code range}. */
    boolean isWithin(KeyRange range);

    /**
     * The answer from a replica that {@linkplain #isWithin holds} its keys.
     *
     * @param now what the replica holds now
     * @param past what it held at an earlier revision, or null if it has forgotten
     * @return null if it asks for a revision that was forgotten, or for what only the source knows
     * @throws ApiException what etcd would refuse it with
     */
    @Nullable R at(ReplicaState now, Function<Revision, @Nullable ReplicaState> past) throws ApiException;

    /** How many entries {@link #at} looks at one by one, at most, with the same arguments; in logarithmic time. */
    long looksAt(ReplicaState now, Function<Revision, @Nullable ReplicaState> past);

    /** What its answer from the source may take, in bytes, as far as can be told before. */
    long mostBytes();

    /** The answer from the source, of a state that includes revision {@code least}. */
    Future<Fetched<R>> from(Upstream source, Need need);

    /**
     * What came from the source.
     *
     * @param revision of the answer's header
     * @param bytes that it takes, as encoded
     */
    record Fetched<R extends OpResult>(R result, long revision, Origin origin, long bytes) {}

    /**
     * What an answer of the source has to be.
     *
     * @param missing what the replica lacks for it
     * @param revision that its state includes
     * @param behindNanos by {@link System#nanoTime}, when members that have yet to reach the revision were waited for long
     *     enough
     * @param refusal what the client is told then
     * @param deadlineNanos by {@link System#nanoTime}
     * @param caller as which it is read if it has a token, else as the gateway
     */
    record Need(
            Missing missing,
            long revision,
            long behindNanos,
            ApiException refusal,
            long deadlineNanos,
            Principal caller) {

        Need atLeast(long other) {
            return other > revision ? pinnedAt(other) : this;
        }

        Need pinnedAt(long pin) {
            return new Need(missing, pin, behindNanos, refusal, deadlineNanos, caller);
        }

        Need asGateway() {
            return new Need(missing, revision, behindNanos, refusal, deadlineNanos, Principal.ANONYMOUS);
        }
    }
}
