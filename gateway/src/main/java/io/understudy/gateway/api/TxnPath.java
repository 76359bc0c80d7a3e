package io.understudy.gateway.api;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.ResponseHeader;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The branches that a transaction takes after its comparisons, with ranges to be evaluated. */
public final class TxnPath {

    /**
     * Revision in a transaction: the latest one if the source was never compacted, otherwise compacted. That is how
     * etcd counts compactions ({@code mvcc/kvstore.go}).
     */
    public static final long LATEST_UNLESS_COMPACTED = -1;

    sealed interface Step permits Read, Branch {}

    record Read(RangeRequest request) implements Step {}

    record Branch(boolean succeeded, List<Step> steps) implements Step {}

    private final Branch root;
    private final long revision;
    private final List<RangeRequest> ranges = new ArrayList<>();
    private @Nullable ApiException refusal;

    TxnPath(Branch root, long revision) {
        this.root = root;
        this.revision = revision;
        addRanges(root);
    }

    /**
     * Returns the ranges to evaluate, in this order. Each is evaluated at its requested revision, or that of the
     * comparisons if it has none or {@link #LATEST_UNLESS_COMPACTED}. The first error is the transaction's. Ends before
     * a range with an unreadable revision; {@link #result} then fails.
     */
    public List<RangeRequest> ranges() {
        return List.copyOf(ranges);
    }

    private void addRanges(Branch branch) {
        for (Step step : branch.steps()) {
            if (refusal != null) {
                return;
            }
            if (step instanceof Branch nested) {
                addRanges(nested);
            } else if (step instanceof Read read) {
                refusal = refusal(read.request().getRevision());
                if (refusal == null) {
                    ranges.add(read.request());
                }
            }
        }
    }

    /** The error for a revision: in a transaction a negative one is compacted, not latest. */
    private @Nullable ApiException refusal(long requested) {
        return requested > revision
                ? ApiException.futureRevision()
                : requested < 0 && requested != LATEST_UNLESS_COMPACTED ? ApiException.compacted() : null;
    }

    /**
     * Returns the transaction's answer. As in etcd, only the outer header is complete: those of nested transactions are
     * empty, those of ranges have the revision only.
     *
     * @param results of {@link #ranges}, in the same order, with whatever headers
     * @throws ApiException if a range requests an unreadable revision
     */
    public TxnResult result(List<RangeResult> results, ResponseHeader header) throws ApiException {
        if (refusal != null) {
            throw refusal;
        }
        ResponseHeader inner = ResponseHeader.newBuilder().setRevision(revision).build();
        return result(root, header, inner, results.iterator());
    }

    private static TxnResult result(
            Branch branch, ResponseHeader header, ResponseHeader inner, Iterator<RangeResult> results) {
        List<OpResult> ops = new ArrayList<>(branch.steps().size());
        for (Step step : branch.steps()) {
            ops.add(
                    step instanceof Branch nested
                            ? result(nested, ResponseHeader.getDefaultInstance(), inner, results)
                            : results.next().with(inner));
        }
        return new TxnResult(header, branch.succeeded(), ops);
    }
}
