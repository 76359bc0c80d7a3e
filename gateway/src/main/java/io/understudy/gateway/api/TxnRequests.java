package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Validates transactions and derives their keys and permissions, as etcd does ({@code v3rpc/key.go}, {@code
 * etcdserver/v3_server.go}).
 */
public final class TxnRequests {

    /** etcd's default limit, summed over nested transactions along each path. */
    private static final int MAX_OPS = 128;

    private TxnRequests() {}

    /** Whether it has no put or delete, at any depth and in any branch. */
    public static boolean isReadOnly(TxnRequest request) {
        return isReadOnly(request.getSuccessList()) && isReadOnly(request.getFailureList());
    }

    private static boolean isReadOnly(List<RequestOp> ops) {
        for (RequestOp op : ops) {
            switch (op.getRequestCase()) {
                case REQUEST_PUT, REQUEST_DELETE_RANGE -> {
                    return false;
                }
                case REQUEST_TXN -> {
                    if (!isReadOnly(op.getRequestTxn())) {
                        return false;
                    }
                }
                case REQUEST_RANGE, REQUEST_NOT_SET -> {}
            }
        }
        return true;
    }

    /** Whether all operations of both branches are ranges, which etcd answers without its log. */
    static boolean isOfRanges(TxnRequest request) {
        return request.getSuccessList().stream().allMatch(RequestOp::hasRequestRange)
                && request.getFailureList().stream().allMatch(RequestOp::hasRequestRange);
    }

    /**
     * Whether etcd answers it from local state: all operations of both branches are serializable ranges. Nested
     * transactions always go through the log.
     */
    public static boolean isSerializable(TxnRequest request) {
        return isOfRanges(request)
                && Stream.of(request.getSuccessList(), request.getFailureList())
                        .flatMap(List::stream)
                        .allMatch(op -> op.getRequestRange().getSerializable());
    }

    /**
     * Validates a read-only transaction before any other check.
     *
     * @throws ApiException if etcd rejects it in every state
     */
    public static void requireValid(TxnRequest request, EtcdVersion version) throws ApiException {
        requireValid(request, MAX_OPS, version);
    }

    private static void requireValid(TxnRequest request, int maxOps, EtcdVersion version) throws ApiException {
        int ops = Math.max(request.getCompareCount(), Math.max(request.getSuccessCount(), request.getFailureCount()));
        if (ops > maxOps) {
            throw ApiException.tooManyOps();
        }
        for (Compare compare : request.getCompareList()) {
            if (compare.getKey().isEmpty()) {
                throw ApiException.emptyKey();
            }
        }
        requireValid(request.getSuccessList(), maxOps - ops, version);
        requireValid(request.getFailureList(), maxOps - ops, version);
    }

    private static void requireValid(List<RequestOp> ops, int maxOps, EtcdVersion version) throws ApiException {
        for (RequestOp op : ops) {
            switch (op.getRequestCase()) {
                case REQUEST_RANGE -> RangeRequests.requireValid(op.getRequestRange(), version);
                case REQUEST_TXN -> requireValid(op.getRequestTxn(), maxOps, version);
                case REQUEST_NOT_SET -> throw ApiException.keyNotFound();
                case REQUEST_PUT, REQUEST_DELETE_RANGE ->
                    throw new IllegalArgumentException("transaction contains a write");
            }
        }
    }

    /**
     * Checks a transaction before it is forwarded; all other faults are left to the source. No range, at any depth, may
     * {@linkplain RangeRequests#requireSortable end etcd's process}.
     *
     * @throws ApiException if a range would
     */
    public static void requireSortable(TxnRequest request, EtcdVersion version) throws ApiException {
        requireSortable(request.getSuccessList(), version);
        requireSortable(request.getFailureList(), version);
    }

    private static void requireSortable(List<RequestOp> ops, EtcdVersion version) throws ApiException {
        for (RequestOp op : ops) {
            if (op.hasRequestRange()) {
                RangeRequests.requireSortable(op.getRequestRange(), version);
            } else if (op.hasRequestTxn()) {
                requireSortable(op.getRequestTxn(), version);
            }
        }
    }

    /**
     * Returns the required permissions of a read-only transaction, for both branches. Compares are checked first by
     * etcd, then the success branch, then the other ({@code etcdserver/apply_auth.go}).
     */
    public static List<Permission> permissions(TxnRequest request) {
        List<Permission> permissions = new ArrayList<>();
        walk(
                request,
                compare -> permissions.add(new Permission.Read(compare.getKey(), compare.getRangeEnd())),
                range -> permissions.add(RangeRequests.permission(range)));
        // An empty transaction needs no permission.
        return permissions.isEmpty() ? List.of(Permission.Standing.NONE) : permissions;
    }

    /** Returns all non-empty ranges of both branches. */
    public static List<KeyRange> ranges(TxnRequest request) {
        List<KeyRange> ranges = new ArrayList<>();
        walk(
                request,
                compare -> addKeys(compare.getKey(), compare.getRangeEnd(), ranges),
                range -> addKeys(range.getKey(), range.getRangeEnd(), ranges));
        return ranges;
    }

    /** Returns the non-empty ranges of all comparisons. */
    static List<KeyRange> compared(TxnRequest request) {
        List<KeyRange> ranges = new ArrayList<>();
        walk(request, compare -> addKeys(compare.getKey(), compare.getRangeEnd(), ranges), range -> {});
        return ranges;
    }

    private static void addKeys(ByteString key, ByteString rangeEnd, List<KeyRange> ranges) {
        KeyRange keys = RangeRequests.keys(key, rangeEnd);
        if (keys != null) {
            ranges.add(keys);
        }
    }

    /** Visits comparisons, then ranges, of both branches; nested transactions at their place. */
    static void walk(TxnRequest request, Consumer<Compare> comparisons, Consumer<RangeRequest> ranges) {
        request.getCompareList().forEach(comparisons);
        for (List<RequestOp> branch : List.of(request.getSuccessList(), request.getFailureList())) {
            for (RequestOp op : branch) {
                if (op.hasRequestRange()) {
                    ranges.accept(op.getRequestRange());
                } else if (op.hasRequestTxn()) {
                    walk(op.getRequestTxn(), comparisons, ranges);
                }
            }
        }
    }
}
