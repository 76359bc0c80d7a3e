package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import io.understudy.gateway.replica.Entry.EntryFields;
import java.util.List;

/** The result of a range or a read-only transaction, independent of its wire format. */
public sealed interface OpResult {

    /** As {@link AnswerBody#keep}. */
    Runnable keep(Runnable end);

    /**
     * The answer to a range request.
     *
     * @param fields of the entries in the answer
     * @param more whether the limit cut something off
     * @param count keys inside the range, regardless of limit and filters
     */
    record RangeResult(ResponseHeader header, Entries entries, EntryFields fields, boolean more, long count)
            implements OpResult {

        @Override
        public Runnable keep(Runnable end) {
            return entries.keep(end);
        }

        RangeResult with(ResponseHeader other) {
            return new RangeResult(other, entries, fields, more, count);
        }
    }

    /**
     * The answer to a transaction.
     *
     * @param succeeded whether all comparisons held
     * @param results of the branch that was taken, in order
     */
    record TxnResult(ResponseHeader header, boolean succeeded, List<OpResult> results) implements OpResult {

        public TxnResult {
            results = List.copyOf(results);
        }

        @Override
        public Runnable keep(Runnable end) {
            List<Runnable> all = results.stream().map(each -> each.keep(end)).toList();
            return () -> all.forEach(Runnable::run);
        }
    }
}
