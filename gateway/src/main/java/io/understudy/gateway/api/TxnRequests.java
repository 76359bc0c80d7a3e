package io.understudy.gateway.api;

import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;

/** What a transaction says by itself, as etcd takes it ({@code v3rpc/key.go}, {@code etcdserver/v3_server.go}). */
public final class TxnRequests {

    /** etcd's default: of the widths of a transaction and those nested in it, along each path. */
    private static final int MAX_OPS = 128;

    private TxnRequests() {}

    /** Whether there is neither a put nor a delete in it, at any depth and in any branch. */
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

    /** Whether all operations, of both branches, are ranges: what etcd answers without its log. */
    static boolean isOfRanges(TxnRequest request) {
        return request.getSuccessList().stream().allMatch(RequestOp::hasRequestRange)
                && request.getFailureList().stream().allMatch(RequestOp::hasRequestRange);
    }

    /**
     * Whether etcd would answer it from its own state without asking the others: when all operations, of both branches,
     * are serializable ranges. A nested transaction goes through the log there, whatever is in it.
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
     * Checked before anything else is. For transactions without writes.
     *
     * @throws ApiException etcd would refuse it whatever its state is
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
     * Checked before a transaction that writes is passed on, all of whose other faults are the source's to find: none of
     * its ranges, at any depth, would {@linkplain RangeRequests#requireSortable end etcd's process}.
     *
     * @throws ApiException one of them would
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
     * What it takes to be answered, whichever branch is taken: etcd asks for compares, then for the success branch, then for
     * the other ({@code etcdserver/apply_auth.go}). For transactions without writes.
     */
    public static List<Permission> permissions(TxnRequest request) {
        List<Permission> permissions = new ArrayList<>();
        addPermissions(request, permissions);
        // Anybody may ask for nothing.
        return permissions.isEmpty() ? List.of(Permission.Standing.ANYBODY) : permissions;
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

    /** All ranges that it names, taken or not, but for those that are empty. */
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
