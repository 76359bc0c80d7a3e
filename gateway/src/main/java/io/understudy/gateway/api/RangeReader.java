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

    private static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});

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
        if (request.getKey().isEmpty()) {
            throw ApiException.emptyKey();
        }
        if (request.getSortOrder() == RangeRequest.SortOrder.UNRECOGNIZED
                || request.getSortTarget() == RangeRequest.SortTarget.UNRECOGNIZED) {
            throw ApiException.invalidSortOption();
        }
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
        KeyRange part = part(request);
        if (part == null) {
            return new RangeResult(headers.of(state), Entries.NONE, false, false, 0);
        }
        if (!state.range().covers(part)) {
            throw ApiException.outsideRange("this gateway holds only a part of the key space, keys from "
                    + shown(state.range().from()) + " to before "
                    + shown(state.range().to()));
        }
        return new RangeQuery(request).run(state, part, headers.of(state));
    }

    /** The keys that are meant; null if the end isn't after the key, where etcd answers with nothing. */
    private static @Nullable KeyRange part(RangeRequest request) {
        ByteString key = request.getKey();
        ByteString end = request.getRangeEnd();
        if (!end.isEmpty() && !end.equals(FROM_KEY) && KeyRange.KEY_ORDER.compare(key, end) >= 0) {
            return null;
        }
        return KeyRange.ofEtcd(key, end);
    }

    private static String shown(@Nullable ByteString key) {
        return key == null ? "the end" : key.isEmpty() ? "the beginning" : "'" + key.toStringUtf8() + "'";
    }
}
