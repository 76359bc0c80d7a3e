package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.grpc.Status;
import io.understudy.vocabulary.KeyRange;
import org.jspecify.annotations.Nullable;

/** What a range request says by itself, as etcd 3.5 takes it ({@code v3rpc/key.go}). */
public final class RangeRequests {

    /** As an end: all keys from the given one on. */
    static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});

    private RangeRequests() {}

    /**
     * Checked before anything else is.
     *
     * @throws ApiException etcd would refuse it whatever its state is
     */
    public static void requireValid(RangeRequest request) throws ApiException {
        if (request.getKey().isEmpty()) {
            throw ApiException.emptyKey();
        }
        requireSortable(request);
    }

    /**
     * Checks the request of a {@code RangeStream}, as etcd 3.7 does.
     *
     * @throws ApiException etcd would refuse it whatever its state is
     */
    public static void requireStreamable(RangeRequest request) throws ApiException {
        requireValid(request);
        if (request.getSortOrder() == SortOrder.UNRECOGNIZED) {
            throw ApiException.invalidSortOption();
        }
        if (request.getSortOrder() != SortOrder.NONE
                && (request.getSortTarget() != SortTarget.KEY || request.getSortOrder() != SortOrder.ASCEND)) {
            throw new ApiException(Status.Code.UNIMPLEMENTED, "RangeStream does not support custom sort orders");
        }
        if (RangeEvaluation.isFiltered(request)) {
            throw new ApiException(Status.Code.UNIMPLEMENTED, "RangeStream does not support revision filters");
        }
    }

    /**
     * An unknown order is key order for etcd 3.5. An unknown target ends its process; refused as from 3.6 on, and never to
     * be passed on.
     */
    static void requireSortable(RangeRequest request) throws ApiException {
        if (request.getSortTarget() == SortTarget.UNRECOGNIZED && request.getSortOrder() != SortOrder.UNRECOGNIZED) {
            throw ApiException.invalidSortOption();
        }
    }

    /** What it takes to be answered. */
    public static Permission permission(RangeRequest request) {
        return new Permission.Read(request.getKey(), request.getRangeEnd());
    }

    /** The keys that are meant; null if the end isn't after the key, where etcd answers with nothing. */
    public static @Nullable KeyRange keys(RangeRequest request) {
        return keys(request.getKey(), request.getRangeEnd());
    }

    static @Nullable KeyRange keys(ByteString key, ByteString end) {
        if (!end.isEmpty() && !end.equals(FROM_KEY) && KeyRange.KEY_ORDER.compare(key, end) >= 0) {
            return null;
        }
        return KeyRange.ofEtcd(key, end);
    }
}
