package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import io.understudy.gateway.replica.EntryFields;

/**
 * The answer to a range request.
 *
 * @param fields of the entries in the answer
 * @param more whether the limit cut something off
 * @param count keys inside the range, regardless of limit and filters
 */
public record RangeResult(ResponseHeader header, Entries entries, EntryFields fields, boolean more, long count)
        implements OpResult {

    @Override
    public Runnable keep(Runnable end) {
        return entries.keep(end);
    }

    RangeResult with(ResponseHeader other) {
        return new RangeResult(other, entries, fields, more, count);
    }
}
