package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A valid read request, without its consistency. */
sealed interface Operation<R extends OpResult> permits RangeOperation, TxnOperation {

    /** Succeeds if {@code principal} may read all requested keys; fails as {@link ReadPermissions#check} does. */
    Future<Void> permitted(ReadPermissions permissions, Principal principal);

    /** Whether {@code range} covers all requested keys. */
    boolean isWithin(KeyRange range);

    /**
     * Evaluates the request on a replica that {@linkplain #isWithin holds} its keys.
     *
     * @param now the current state
     * @param past returns the state at an earlier revision; null if it is no longer retained
     * @return null if a requested state is no longer retained, or only the source can answer
     * @throws ApiException etcd's error
     */
    @Nullable R at(ReplicaState now, Function<Revision, @Nullable ReplicaState> past) throws ApiException;

    /** Returns the most entries that {@link #at} scans, with the same arguments; in logarithmic time. */
    long looksAt(ReplicaState now, Function<Revision, @Nullable ReplicaState> past);

    /** Returns an upper bound of the source's answer in bytes. */
    long mostBytes();

    /** Reads from the source, at a state that meets {@code need}. */
    Future<Fetched<R>> from(Upstream source, Need need);

    /**
     * A response of the source.
     *
     * @param revision of the answer's header
     * @param bytes encoded size
     */
    record Fetched<R extends OpResult>(R result, long revision, Origin origin, long bytes) {}

    /**
     * Requirements on a response of the source.
     *
     * @param missing what the replica lacks
     * @param revision that the state includes
     * @param behindNanos deadline for members that lag behind the revision, by {@link System#nanoTime}
     * @param refusal the client's error at that deadline
     * @param deadlineNanos by {@link System#nanoTime}
     * @param caller principal to read as if it has a token; otherwise the gateway
     * @param session of the client
     */
    record Need(
            Missing missing,
            long revision,
            long behindNanos,
            ApiException refusal,
            long deadlineNanos,
            Principal caller,
            Session session) {

        Need atLeast(long other) {
            return other > revision ? pinnedAt(other) : this;
        }

        Need pinnedAt(long pin) {
            return new Need(missing, pin, behindNanos, refusal, deadlineNanos, caller, session);
        }

        Need asGateway() {
            return new Need(missing, revision, behindNanos, refusal, deadlineNanos, Principal.ANONYMOUS, session);
        }
    }
}
