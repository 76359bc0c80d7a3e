package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * {@code KV.Txn} without writes, in three steps, so that its reads may come from anywhere. The steps: read the compared
 * keys, {@linkplain #choose choose} the path, evaluate its ranges and combine their results. etcd compares everything
 * before it runs anything, nested transactions included ({@code etcdserver/apply.go}).
 *
 * <p>Invariant A1c: a transaction, including nested ones, is compared and read at one revision.
 */
public final class TxnPlan {

    /** jetcd's messages have neither this target nor its field. */
    private static final int LEASE_TARGET = 4;

    private static final int LEASE_FIELD = 8;

    /** A lookup costs as much as a scan of so many entries. */
    private static final int LOOK_UP = 10;

    private final TxnRequest request;

    /** Plans a {@linkplain TxnRequests#requireValid valid}, {@linkplain TxnRequests#isReadOnly read-only} request. */
    public TxnPlan(TxnRequest request) {
        this.request = request;
    }

    /** Returns the keys of all comparisons. */
    public List<KeyRange> compared() {
        return TxnRequests.compared(request);
    }

    /**
     * Returns the ranges that remain to be read.
     *
     * @param at keys at the current revision, that of the response; covers all {@linkplain #compared compared} keys
     */
    public TxnPath choose(KeySpace at) {
        return new TxnPath(branch(request, at), at.revision().value());
    }

    /**
     * Returns the most entries scanned by {@link #choose} and by the evaluation of the chosen ranges.
     *
     * @param at as for {@link #choose}
     * @param ofRange returns {@link RangeEvaluation#looksAt} of a range, at its requested revision
     */
    public long looksAt(KeySpace at, ToLongFunction<RangeRequest> ofRange) {
        long[] entries = {0};
        TxnRequests.walk(
                request,
                compare -> {
                    KeyRange keys = compare.getRangeEnd().isEmpty()
                            ? null
                            : RangeRequests.keys(compare.getKey(), compare.getRangeEnd());
                    entries[0] += LOOK_UP + (keys == null ? 0 : at.count(keys));
                },
                range -> entries[0] += LOOK_UP + ofRange.applyAsLong(range));
        return entries[0];
    }

    private static TxnPath.Branch branch(TxnRequest request, KeySpace at) {
        boolean succeeded = true;
        for (Compare compare : request.getCompareList()) {
            succeeded = succeeded && holds(compare, at);
        }
        List<TxnPath.Step> steps = new ArrayList<>();
        for (RequestOp op : succeeded ? request.getSuccessList() : request.getFailureList()) {
            steps.add(op.hasRequestTxn() ? branch(op.getRequestTxn(), at) : new TxnPath.Read(op.getRequestRange()));
        }
        return new TxnPath.Branch(succeeded, steps);
    }

    private static boolean holds(Compare compare, KeySpace at) {
        if (compare.getRangeEnd().isEmpty()) {
            Entry entry = at.get(compare.getKey());
            return entry == null ? holdsOfNothing(compare) : holds(compare, entry);
        }
        KeyRange keys = RangeRequests.keys(compare.getKey(), compare.getRangeEnd());
        if (keys == null || at.count(keys) == 0) {
            return holdsOfNothing(compare);
        }
        for (Entry entry : at.entries(keys, Long.MAX_VALUE)) {
            if (!holds(compare, entry)) {
                return false;
            }
        }
        return true;
    }

    /** A missing key has no value, not even the empty one. Its numbers are all zero. */
    private static boolean holdsOfNothing(Compare compare) {
        return compare.getTarget() != Compare.CompareTarget.VALUE && holds(compare, (Entry) null);
    }

    /** A missing comparison value, or one for another target, is zero or empty. */
    private static boolean holds(Compare compare, @Nullable Entry entry) {
        int difference =
                switch (compare.getTarget()) {
                    case VALUE ->
                        KeyRange.KEY_ORDER.compare(
                                entry == null ? ByteString.EMPTY : entry.value(), compare.getValue());
                    case CREATE ->
                        Long.compare(entry == null ? 0 : entry.createRevision(), compare.getCreateRevision());
                    case MOD -> Long.compare(entry == null ? 0 : entry.modRevision(), compare.getModRevision());
                    case VERSION -> Long.compare(entry == null ? 0 : entry.version(), compare.getVersion());
                    case UNRECOGNIZED ->
                        compare.getTargetValue() == LEASE_TARGET
                                ? Long.compare(entry == null ? 0 : entry.lease(), lease(compare))
                                : 0;
                };
        return switch (compare.getResult()) {
            case EQUAL -> difference == 0;
            case NOT_EQUAL -> difference != 0;
            case GREATER -> difference > 0;
            case LESS -> difference < 0;
            case UNRECOGNIZED -> true;
        };
    }

    private static long lease(Compare compare) {
        List<Long> given = compare.getUnknownFields().getField(LEASE_FIELD).getVarintList();
        return given.isEmpty() ? 0 : given.get(given.size() - 1);
    }

    /** The branches that a transaction takes after its comparisons, with ranges to be evaluated. */
    public static final class TxnPath {

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
            ResponseHeader inner =
                    ResponseHeader.newBuilder().setRevision(revision).build();
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
}
