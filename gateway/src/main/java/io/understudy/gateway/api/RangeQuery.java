package io.understudy.gateway.api;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.ResponseHeader;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What a range request asks of the keys it names: filters, then order, then limit, as etcd does it.
 *
 * <p>etcd cuts at the limit while reading when it need not look further: in key order, or without any order asked for.
 * So a sort target without an order sorts only the first {@code limit + 1} keys. That is kept.
 */
final class RangeQuery {

    private final RangeRequest request;

    RangeQuery(RangeRequest request) {
        this.request = request;
    }

    RangeResult run(ReplicaState state, KeyRange part, ResponseHeader header) {
        long count = state.count(part);
        if (request.getCountOnly()) {
            return new RangeResult(header, Entries.NONE, false, false, count);
        }
        List<Entry> found = read(state, part);
        sort(found);
        long limit = request.getLimit();
        boolean more = limit > 0 && found.size() > limit;
        return new RangeResult(
                header, Entries.of(more ? found.subList(0, (int) limit) : found), request.getKeysOnly(), more, count);
    }

    private List<Entry> read(ReplicaState state, KeyRange part) {
        long enough = cutsWhileReading() && request.getLimit() > 0 && request.getLimit() < Long.MAX_VALUE
                ? request.getLimit() + 1
                : Long.MAX_VALUE;
        List<Entry> found = new ArrayList<>();
        state.scan(part, entry -> {
            if (passes(entry)) {
                found.add(entry);
            }
            return found.size() < enough;
        });
        return found;
    }

    private boolean cutsWhileReading() {
        boolean keyOrder = request.getSortOrder() == SortOrder.NONE
                || (request.getSortTarget() == SortTarget.KEY && request.getSortOrder() == SortOrder.ASCEND);
        boolean filters = request.getMinModRevision() != 0
                || request.getMaxModRevision() != 0
                || request.getMinCreateRevision() != 0
                || request.getMaxCreateRevision() != 0;
        return keyOrder && !filters;
    }

    private boolean passes(Entry entry) {
        return within(entry.modRevision(), request.getMinModRevision(), request.getMaxModRevision())
                && within(entry.createRevision(), request.getMinCreateRevision(), request.getMaxCreateRevision());
    }

    private static boolean within(long revision, long least, long most) {
        return (least == 0 || revision >= least) && (most == 0 || revision <= most);
    }

    private void sort(List<Entry> found) {
        boolean descending = request.getSortOrder() == SortOrder.DESCEND;
        if (request.getSortTarget() == SortTarget.KEY && !descending) {
            return;
        }
        Comparator<Entry> order =
                switch (request.getSortTarget()) {
                    case VERSION -> Comparator.comparingLong(Entry::version);
                    case CREATE -> Comparator.comparingLong(Entry::createRevision);
                    case MOD -> Comparator.comparingLong(Entry::modRevision);
                    case VALUE -> Comparator.comparing(Entry::value, KeyRange.KEY_ORDER);
                    case KEY, UNRECOGNIZED -> Comparator.comparing(Entry::key, KeyRange.KEY_ORDER);
                };
        found.sort(descending ? order.reversed() : order);
    }
}
