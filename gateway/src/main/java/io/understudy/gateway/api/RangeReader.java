package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code KV.Range} from the replica, with {@code serializable} only. Answers are what an etcd member at the replica's
 * revision would answer. For any thread; never waits.
 */
public final class RangeReader {

    private final Supplier<@Nullable ReplicaState> replica;
    private final ResponseHeaders headers;

    public RangeReader(Supplier<@Nullable ReplicaState> replica, ResponseHeaders headers) {
        this.replica = replica;
        this.headers = headers;
    }

    /**
     * Checks in etcd's order: first the request by itself, then what this member can serve, then the revision.
     *
     * @throws ApiException the request is refused
     */
    public RangeResult range(RangeRequest request) throws ApiException {
        RangeRequests.requireValid(request);
        if (!request.getSerializable()) {
            throw ApiException.unimplemented(
                    "only serializable ranges are served, set serializable (etcdctl get --consistency=s)");
        }
        ReplicaState state = replica.get();
        if (state == null) {
            throw ApiException.notReady();
        }
        if (request.getRevision() > state.revision().value()) {
            throw ApiException.futureRevision();
        }
        if (request.getRevision() > 0
                && request.getRevision() < state.revision().value()) {
            throw ApiException.unimplemented(
                    "past revisions are not served, asked was " + request.getRevision() + " at " + state.revision());
        }
        KeyRange part = RangeRequests.keys(request);
        if (part != null && !state.range().covers(part)) {
            throw ApiException.outsideRange("this gateway holds only a part of the key space, keys from "
                    + shown(state.range().from()) + " to before "
                    + shown(state.range().to()));
        }
        return RangeEvaluation.range(request, new ReplicaKeys(state), headers.of(state));
    }

    private static String shown(@Nullable ByteString key) {
        return key == null ? "the end" : key.isEmpty() ? "the beginning" : "'" + key.toStringUtf8() + "'";
    }
}
