package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.grpc.Status;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.replica.Entry.EntryFields;
import io.understudy.vocabulary.KeyRange;
import org.jspecify.annotations.Nullable;

/** Validates range requests and derives their keys and permissions, as etcd does ({@code v3rpc/key.go}). */
public final class RangeRequests {

    /** Range end for all keys from the given one on. */
    static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});

    private RangeRequests() {}

    /**
     * Validates a request before any other check.
     *
     * @throws ApiException if etcd rejects it in every state
     */
    public static void requireValid(RangeRequest request, EtcdVersion version) throws ApiException {
        if (request.getKey().isEmpty()) {
            throw ApiException.emptyKey();
        }
        requireSortable(request, version);
    }

    /**
     * Checks the request of a {@code RangeStream}, as etcd 3.7 does.
     *
     * @throws ApiException if etcd rejects it in every state
     */
    public static void requireStreamable(RangeRequest request) throws ApiException {
        requireValid(request, EtcdVersion.NEWEST);
        if (request.getSortOrder() != SortOrder.NONE
                && (request.getSortTarget() != SortTarget.KEY || request.getSortOrder() != SortOrder.ASCEND)) {
            throw new ApiException(Status.Code.UNIMPLEMENTED, "RangeStream does not support custom sort orders");
        }
        if (RangeEvaluation.isFiltered(request)) {
            throw new ApiException(Status.Code.UNIMPLEMENTED, "RangeStream does not support revision filters");
        }
    }

    /**
     * Rejects unknown orders and targets. An unknown order is key order in etcd 3.5; an unknown target ends its
     * process, so it is never forwarded.
     */
    static void requireSortable(RangeRequest request, EtcdVersion version) throws ApiException {
        boolean order = request.getSortOrder() == SortOrder.UNRECOGNIZED;
        boolean target = request.getSortTarget() == SortTarget.UNRECOGNIZED;
        if (version.rejectsUnknownSort() ? order || target : target && !order) {
            throw ApiException.invalidSortOption();
        }
    }

    /** The fields of entries that etcd answers with ({@code txn/range.go}). */
    public static EntryFields fields(RangeRequest request, EtcdVersion version) {
        if (!request.getKeysOnly()) {
            return EntryFields.ALL;
        }
        return version.keysOnlyOmitsLease() && request.getSortTarget() != SortTarget.VALUE
                ? EntryFields.WITHOUT_VALUE_AND_LEASE
                : EntryFields.WITHOUT_VALUE;
    }

    /** Returns the required permission. */
    public static Permission permission(RangeRequest request) {
        return new Permission.Read(request.getKey(), request.getRangeEnd());
    }

    /** Returns the requested keys. Null if the end is not after the key, for which etcd returns nothing. */
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
