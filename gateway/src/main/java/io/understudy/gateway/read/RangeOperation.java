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
 * One range.
 *
 * @param keys that it names; null for none
 * @param version of etcd, as which it is answered
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
        ReplicaState asked = asked(request, now, past);
        return asked == null ? null : RangeEvaluation.range(request, new ReplicaKeys(asked), headers.of(now), version);
    }

    @Override
    public long looksAt(ReplicaState now, Function<Revision, @Nullable ReplicaState> past) {
        return looksAt(request, now, past);
    }

    static long looksAt(RangeRequest request, ReplicaState now, Function<Revision, @Nullable ReplicaState> past) {
        long revision = request.getRevision();
        boolean isOfThePast = revision > 0 && revision < now.revision().value();
        ReplicaState asked = isOfThePast ? past.apply(new Revision(revision)) : now;
        return asked == null ? 0 : RangeEvaluation.looksAt(request, new ReplicaKeys(asked));
    }

    @Override
    public long mostBytes() {
        return SourceReads.mostBytes(request);
    }

    @Override
    public Future<Fetched<RangeResult>> from(Upstream source, Need need) {
        return source.range(request, need);
    }

    /** The state that a range asks for; null if it was forgotten. */
    static @Nullable ReplicaState asked(
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
