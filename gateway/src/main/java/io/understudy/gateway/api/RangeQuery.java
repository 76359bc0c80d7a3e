package io.understudy.gateway.api;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
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

    void run(ReplicaState state, KeyRange part, RangeResponse.Builder response) {
        response.setCount(state.count(part));
        if (request.getCountOnly()) {
            return;
        }
        List<KeyValue> found = read(state, part);
        sort(found);
        long limit = request.getLimit();
        if (limit > 0 && found.size() > limit) {
            response.setMore(true);
            found = found.subList(0, (int) limit);
        }
        for (KeyValue entry : found) {
            response.addKvs(message(entry));
        }
    }

    private List<KeyValue> read(ReplicaState state, KeyRange part) {
        long enough = cutsWhileReading() && request.getLimit() > 0 && request.getLimit() < Long.MAX_VALUE
                ? request.getLimit() + 1
                : Long.MAX_VALUE;
        List<KeyValue> found = new ArrayList<>();
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

    private boolean passes(KeyValue entry) {
        return within(entry.modRevision().value(), request.getMinModRevision(), request.getMaxModRevision())
                && within(
                        entry.createRevision().value(), request.getMinCreateRevision(), request.getMaxCreateRevision());
    }

    private static boolean within(long revision, long least, long most) {
        return (least == 0 || revision >= least) && (most == 0 || revision <= most);
    }

    private void sort(List<KeyValue> found) {
        boolean descending = request.getSortOrder() == SortOrder.DESCEND;
        if (request.getSortTarget() == SortTarget.KEY && !descending) {
            return;
        }
        Comparator<KeyValue> order =
                switch (request.getSortTarget()) {
                    case VERSION -> Comparator.comparingLong(KeyValue::version);
                    case CREATE -> Comparator.comparing(KeyValue::createRevision);
                    case MOD -> Comparator.comparing(KeyValue::modRevision);
                    case VALUE -> Comparator.comparing(KeyValue::value, KeyRange.KEY_ORDER);
                    case KEY, UNRECOGNIZED -> Comparator.comparing(KeyValue::key, KeyRange.KEY_ORDER);
                };
        found.sort(descending ? order.reversed() : order);
    }

    private io.etcd.jetcd.api.KeyValue message(KeyValue entry) {
        var message = io.etcd.jetcd.api.KeyValue.newBuilder()
                .setKey(entry.key())
                .setCreateRevision(entry.createRevision().value())
                .setModRevision(entry.modRevision().value())
                .setVersion(entry.version())
                .setLease(entry.lease());
        if (!request.getKeysOnly()) {
            message.setValue(entry.value());
        }
        return message.build();
    }
}
