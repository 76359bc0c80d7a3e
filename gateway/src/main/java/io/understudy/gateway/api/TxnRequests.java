package io.understudy.gateway.api;

import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;

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
        return isSerializable(request.getSuccessList()) && isSerializable(request.getFailureList());
    }

    private static boolean isSerializable(List<RequestOp> ops) {
        for (RequestOp op : ops) {
            if (!op.hasRequestRange() || !op.getRequestRange().getSerializable()) {
                return false;
            }
        }
        return true;
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
        addPermissions(request, permissions);
        // An empty transaction needs no permission.
        return permissions.isEmpty() ? List.of(Permission.Standing.NONE) : permissions;
    }

    private static void addPermissions(TxnRequest request, List<Permission> permissions) {
        for (Compare compare : request.getCompareList()) {
            permissions.add(new Permission.Read(compare.getKey(), compare.getRangeEnd()));
        }
        addPermissions(request.getSuccessList(), permissions);
        addPermissions(request.getFailureList(), permissions);
    }

    private static void addPermissions(List<RequestOp> ops, List<Permission> permissions) {
        for (RequestOp op : ops) {
            if (op.hasRequestRange()) {
                permissions.add(RangeRequests.permission(op.getRequestRange()));
            } else if (op.hasRequestTxn()) {
                addPermissions(op.getRequestTxn(), permissions);
            }
        }
    }

    /** Returns all non-empty ranges of both branches. */
    public static List<KeyRange> ranges(TxnRequest request) {
        List<KeyRange> ranges = new ArrayList<>();
        addRanges(request, ranges);
        return ranges;
    }

    private static void addRanges(TxnRequest request, List<KeyRange> ranges) {
        for (Compare compare : request.getCompareList()) {
            KeyRange keys = RangeRequests.keys(compare.getKey(), compare.getRangeEnd());
            if (keys != null) {
                ranges.add(keys);
            }
        }
        addRanges(request.getSuccessList(), ranges);
        addRanges(request.getFailureList(), ranges);
    }

    private static void addRanges(List<RequestOp> ops, List<KeyRange> ranges) {
        for (RequestOp op : ops) {
            if (op.hasRequestRange()) {
                KeyRange keys = RangeRequests.keys(op.getRequestRange());
                if (keys != null) {
                    ranges.add(keys);
                }
            } else if (op.hasRequestTxn()) {
                addRanges(op.getRequestTxn(), ranges);
            }
        }
    }
}
