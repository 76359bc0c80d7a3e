package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ClientCall;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.api.RangeEvaluation;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.ReplicaKeys;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.TxnPlan;
import io.understudy.gateway.api.TxnPlan.TxnPath;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.read.Answer.Provenance.Origin;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A valid read request, without its consistency. */
sealed interface Operation<R extends OpResult> {

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
     * @param client that gets the response
     * @param calls under way, to be cancelled once the client has gone; confined to its event loop
     * @param room bytes reserved for the response
     */
    record Need(
            Missing missing,
            long revision,
            long behindNanos,
            ApiException refusal,
            long deadlineNanos,
            Principal caller,
            Caller client,
            Set<ClientCall<?, ?>> calls,
            long room) {

        Need atLeast(long other) {
            return other > revision ? pinnedAt(other) : this;
        }

        Need pinnedAt(long pin) {
            return new Need(missing, pin, behindNanos, refusal, deadlineNanos, caller, client, calls, room);
        }

        Need asGateway() {
            return new Need(
                    missing, revision, behindNanos, refusal, deadlineNanos, Principal.ANONYMOUS, client, calls, room);
        }

        Need within(Duration timeout) {
            long deadline = System.nanoTime() + timeout.toNanos();
            return new Need(missing, revision, behindNanos, refusal, deadline, caller, client, calls, room);
        }
    }

    /** Data that the replica lacks for a response. */
    enum Missing {
        /** No state is loaded. */
        STATE,
        /** The keys are outside of its range. */
        KEYS,
        /** Its revision is too old. */
        PRESENT,
        /** The requested revision is no longer retained. */
        PAST
    }

    /**
     * A range request.
     *
     * @param keys requested; null for none
     * @param version of etcd that is emulated
     */
    record RangeOperation(RangeRequest request, @Nullable KeyRange keys, ResponseHeaders headers, EtcdVersion version)
            implements Operation<RangeResult> {

        @Override
        public Future<Void> permitted(ReadPermissions permissions, Principal principal) {
            return permissions.check(principal, RangeRequests.permission(request));
        }

        @Override
        public boolean isWithin(KeyRange range) {
            return keys == null || range.covers(keys);
        }

        @Override
        public @Nullable RangeResult at(ReplicaState now, Function<Revision, @Nullable ReplicaState> past)
                throws ApiException {
            ReplicaState state = stateAt(request, now, past);
            return state == null
                    ? null
                    : RangeEvaluation.range(request, new ReplicaKeys(state), headers.of(now), version);
        }

        @Override
        public long looksAt(ReplicaState now, Function<Revision, @Nullable ReplicaState> past) {
            return looksAt(request, now, past);
        }

        static long looksAt(RangeRequest request, ReplicaState now, Function<Revision, @Nullable ReplicaState> past) {
            long revision = request.getRevision();
            boolean isOfThePast = revision > 0 && revision < now.revision().value();
            ReplicaState state = isOfThePast ? past.apply(new Revision(revision)) : now;
            return state == null ? 0 : RangeEvaluation.looksAt(request, new ReplicaKeys(state));
        }

        @Override
        public long mostBytes() {
            return SourceReads.mostBytes(request);
        }

        @Override
        public Future<Fetched<RangeResult>> from(Upstream source, Need need) {
            return source.range(request, need);
        }

        /** Returns the state at the requested revision; null if it is no longer retained. */
        static @Nullable ReplicaState stateAt(
                RangeRequest request, ReplicaState now, Function<Revision, @Nullable ReplicaState> past)
                throws ApiException {
            long revision = request.getRevision();
            if (revision <= 0 || revision == now.revision().value()) {
                return now;
            }
            if (revision > now.revision().value()) {
                throw ApiException.futureRevision();
            }
            return past.apply(new Revision(revision));
        }
    }

    /**
     * A read-only transaction.
     *
     * @param keys of all branches
     * @param version of etcd that is emulated
     */
    record TxnOperation(TxnRequest request, List<KeyRange> keys, ResponseHeaders headers, EtcdVersion version)
            implements Operation<TxnResult> {

        /** Concurrent permission checks. */
        private static final int PERMISSIONS_AT_A_TIME = 8;

        @Override
        public Future<Void> permitted(ReadPermissions permissions, Principal principal) {
            return permitted(permissions, principal, TxnRequests.permissions(request), 0);
        }

        /** Checks those from {@code next} on in batches; stops after a denial. */
        private static Future<Void> permitted(
                ReadPermissions permissions, Principal principal, List<Permission> wanted, int next) {
            Future<Void> permitted = Future.succeededFuture();
            for (int from = next; from < wanted.size(); from += PERMISSIONS_AT_A_TIME) {
                int to = Math.min(from + PERMISSIONS_AT_A_TIME, wanted.size());
                for (Permission each : wanted.subList(from, to)) {
                    Future<Void> one = permissions.check(principal, each);
                    permitted = permitted.succeeded() ? one : permitted.compose(before -> one);
                }
                if (!permitted.succeeded()) {
                    return permitted.compose(yes -> permitted(permissions, principal, wanted, to));
                }
            }
            return permitted;
        }

        @Override
        public boolean isWithin(KeyRange range) {
            return keys.stream().allMatch(range::covers);
        }

        @Override
        public @Nullable TxnResult at(ReplicaState now, Function<Revision, @Nullable ReplicaState> past)
                throws ApiException {
            TxnPath path = new TxnPlan(request).choose(new ReplicaKeys(now));
            List<RangeResult> results = new ArrayList<>();
            for (RangeRequest range : path.ranges()) {
                ReplicaState state = RangeOperation.stateAt(range, now, past);
                // Only the source has the compaction history.
                if (state == null || range.getRevision() == TxnPath.LATEST_UNLESS_COMPACTED) {
                    return null;
                }
                results.add(RangeEvaluation.range(range, new ReplicaKeys(state), headers.of(now), version));
            }
            return path.result(results, headers.of(now));
        }

        @Override
        public long looksAt(ReplicaState now, Function<Revision, @Nullable ReplicaState> past) {
            return new TxnPlan(request)
                    .looksAt(new ReplicaKeys(now), range -> RangeOperation.looksAt(range, now, past));
        }

        @Override
        public long mostBytes() {
            return SourceReads.mostBytes(request);
        }

        @Override
        public Future<Fetched<TxnResult>> from(Upstream source, Need need) {
            return source.txn(request, need);
        }
    }
}
