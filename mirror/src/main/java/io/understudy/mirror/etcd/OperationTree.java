package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * Arranges many operations in nested transactions without compares, which etcd applies as one commit.
 *
 * <p>etcd limits the width of a transaction plus the widths of those it is nested in, not the total: with a budget of
 * {@code b}, a tree of depth {@code d} and equal widths holds {@code (b/d)^d} operations. What remains as the limit is
 * bytes.
 */
final class OperationTree {

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
