package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.RangeEvaluation;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.ReplicaKeys;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
        return state == null ? null : RangeEvaluation.range(request, new ReplicaKeys(state), headers.of(now), version);
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
