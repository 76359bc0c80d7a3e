package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Random;

/** The keys that are put while they are watched, in an order that is the same in every run. Not for several threads. */
final class WatchedKeys {

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
