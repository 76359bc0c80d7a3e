package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Random;

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

    /** The keys that are put while they are watched, in an order that is the same in every run. Not for several threads. */
    static final class WatchedKeys {

        static final ByteString PREFIX = ByteString.copyFromUtf8("bench/watch/");
        /** The prefix with its last byte one higher: the first key behind it. */
        static final ByteString PREFIX_END = ByteString.copyFromUtf8("bench/watch0");

        static final int COUNT = 10_000;

        private final Random order = new Random(DataSet.SEED);
        private final Random values = DataSet.values();

        static ByteString key(int index) {
            return PREFIX.concat(ByteString.copyFromUtf8(String.format(Locale.ROOT, "%07d", index)));
        }

        /**
         * Puts a random key.
         *
         * @param number of the put, with which the value begins; watchers identify it by that
         */
        PutRequest put(long number) {
            byte[] value = new byte[DataSet.VALUE_BYTES];
            values.nextBytes(value);
            ByteBuffer.wrap(value).putLong(number);
            return PutRequest.newBuilder()
                    .setKey(key(order.nextInt(COUNT)))
                    .setValue(ByteString.copyFrom(value))
                    .build();
        }
    }
}
