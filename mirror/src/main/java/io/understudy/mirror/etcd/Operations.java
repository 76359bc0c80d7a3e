package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Operations on the target for changes of the source. */
final class Operations {

    /** Upper bound of an operation's overhead in a request: tag, length, share of nesting. */
    private static final int OVERHEAD_BYTES = 7;

    private Operations() {}

    /**
     * Returns one operation per mirrored key, under its target name. A transaction of etcd accepts each key once: the
     * last change wins.
     *
     * @param leased whether keys are put with their source leases
     */
    static List<RequestOp> of(Commit commit, MirrorScope scope, boolean leased) {
        List<Change> changes = commit.changes();
        if (changes.size() == 1) {
            Change only = changes.get(0);
            return scope.contains(only.key()) ? List.of(of(only, scope, leased)) : List.of();
        }
        Map<ByteString, RequestOp> byKey = new LinkedHashMap<>();
        for (Change change : changes) {
            if (scope.contains(change.key())) {
                byKey.put(change.key(), of(change, scope, leased));
            }
        }
        return List.copyOf(byKey.values());
    }

    /** Returns the key of a put or delete. */
    static ByteString key(RequestOp operation) {
        return operation.hasRequestPut()
                ? operation.getRequestPut().getKey()
                : operation.getRequestDeleteRange().getKey();
    }

    /** Returns the key for errors. */
    static String shown(RequestOp operation) {
        return "key \"" + TextFormat.escapeBytes(key(operation)) + "\"";
    }

    /** Returns an upper bound of the operation's bytes in a request. */
    static long bytes(RequestOp operation) {
        return operation.getSerializedSize() + (long) OVERHEAD_BYTES;
    }

    /** Splits {@code operations} into parts of at most {@code room} bytes. A larger operation is its own part. */
    static List<List<RequestOp>> parts(List<RequestOp> operations, long room) {
        List<List<RequestOp>> parts = new ArrayList<>();
        int from = 0;
        long bytes = 0;
        for (int i = 0; i < operations.size(); i++) {
            long more = bytes(operations.get(i));
            if (bytes + more > room && i > from) {
                parts.add(operations.subList(from, i));
                from = i;
                bytes = 0;
            }
            bytes += more;
        }
        parts.add(operations.subList(from, operations.size()));
        return parts;
    }

    private static RequestOp of(Change change, MirrorScope scope, boolean leased) {
        ByteString key = scope.inTarget(change.key());
        return change instanceof Change.Put put
                ? EtcdMessages.put(
                        key, put.keyValue().value(), leased ? put.keyValue().lease() : 0)
                : EtcdMessages.delete(key);
    }

    /**
     * Arranges many operations in nested transactions without compares, which etcd applies as one commit.
     *
     * <p>etcd limits the width of a transaction plus the widths of those it is nested in, not the total: with a budget of
     * {@code b}, a tree of depth {@code d} and equal widths holds {@code (b/d)^d} operations. What remains as the limit is
     * bytes.
     */
    static final class OperationTree {

        private OperationTree() {}

        /**
         * @param budget maximum number of operations on one level, at least 1
         * @return at most {@code budget} operations that do what {@code operations} do
         * @throws IllegalArgumentException there are more operations than any depth can hold
         */
        static List<RequestOp> of(List<RequestOp> operations, int budget) {
            int depth = 1;
            while (capacity(budget, depth) < operations.size()) {
                depth++;
                if (depth > budget) {
                    throw new IllegalArgumentException(
                            operations.size() + " operations exceed a transaction of width " + budget);
                }
            }
            return nested(operations, budget, depth);
        }

        /** Operations that a tree of {@code depth} levels can hold. */
        private static long capacity(int budget, int depth) {
            if (depth == 1) {
                return budget;
            }
            int width = budget / depth;
            return width * capacity(budget - width, depth - 1);
        }

        private static List<RequestOp> nested(List<RequestOp> operations, int budget, int depth) {
            if (operations.size() <= budget) {
                return operations;
            }
            int width = budget / depth;
            List<RequestOp> branches = new ArrayList<>(width);
            for (int branch = 0; branch < width; branch++) {
                int from = at(operations.size(), branch, width);
                int to = at(operations.size(), branch + 1, width);
                if (from < to) {
                    branches.add(RequestOp.newBuilder()
                            .setRequestTxn(TxnRequest.newBuilder()
                                    .addAllSuccess(nested(operations.subList(from, to), budget - width, depth - 1)))
                            .build());
                }
            }
            return branches;
        }

        private static int at(int size, int branch, int width) {
            return (int) ((long) size * branch / width);
        }
    }
}
