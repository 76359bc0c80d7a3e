package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;

/**
 * The watchers of a work.
 *
 * @param distinctKeys whether each watches a key of its own; else all watch the same prefix
 */
record Watchers(int count, Spread spread, boolean distinctKeys) {

    /** Over which all watchers are spread evenly, as far as there are enough of them. */
    static final int CONNECTIONS = 20;

    /** How watchers use gRPC streams. */
    enum Spread {
        /** Each connection has one stream for all its watchers. */
        SHARED,
        /** A stream for each watcher. */
        EACH
    }

    /** One watcher that receives everything these do. */
    static Watchers one() {
        return new Watchers(1, Spread.SHARED, false);
    }

    /** How many of them a put reaches. */
    int reachedByEachPut() {
        return distinctKeys ? 1 : count;
    }

    int connections() {
        return Math.min(CONNECTIONS, count);
    }

    /** What makes the watcher of that index. */
    ByteString create(int index) {
        WatchCreateRequest.Builder create = distinctKeys
                ? WatchCreateRequest.newBuilder().setKey(WatchedKeys.key(index))
                : WatchCreateRequest.newBuilder().setKey(WatchedKeys.PREFIX).setRangeEnd(WatchedKeys.PREFIX_END);
        return WatchRequest.newBuilder().setCreateRequest(create).build().toByteString();
    }
}
