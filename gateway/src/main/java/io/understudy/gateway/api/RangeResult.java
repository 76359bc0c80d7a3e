package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;

/**
 * What etcd answers to a range request.
 *
 * @param keysOnly whether the entries' values are left out of the answer
 * @param more whether the limit cut something off
 * @param count keys inside the range, whatever limit and filters say
 */
public record RangeResult(ResponseHeader header, Entries entries, boolean keysOnly, boolean more, long count)
        implements OpResult {

    RangeResult with(ResponseHeader other) {
        return new RangeResult(other, entries, keysOnly, more, count);
    }
}
