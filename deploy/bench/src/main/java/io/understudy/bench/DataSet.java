package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The keys that are there, the same in every run: 10,000 that only fill the store, and 1,000 below one prefix. */
final class DataSet {

    static final int VALUE_BYTES = 256;
    static final int PREFIX_KEYS = 1_000;

    private static final int OTHER_KEYS = 10_000;
    private static final String PREFIX = "bench/prefix/";
    /** The prefix with its last byte one higher: the first key behind it. */
    private static final String PREFIX_END = "bench/prefix0";

    static final long SEED = 20_250_101;

    private DataSet() {}

    /** All keys, each once. */
    static Stream<ByteString> keys() {
        return Stream.concat(
                IntStream.range(0, OTHER_KEYS).mapToObj(i -> key("bench/other/", i)),
                IntStream.range(0, PREFIX_KEYS).mapToObj(i -> key(PREFIX, i)));
    }

    /** A source of values. */
    static Random values() {
        return new Random(SEED);
    }

    static ByteString value(Random source) {
        byte[] bytes = new byte[VALUE_BYTES];
        source.nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }

    static RangeRequest oneKey(boolean serializable) {
        return RangeRequest.newBuilder()
                .setKey(key(PREFIX, PREFIX_KEYS / 2))
                .setSerializable(serializable)
                .build();
    }

    static RangeRequest prefix() {
        return RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(PREFIX))
                .setRangeEnd(ByteString.copyFromUtf8(PREFIX_END))
                .setSerializable(true)
                .build();
    }

    private static ByteString key(String prefix, int index) {
        return ByteString.copyFromUtf8(String.format(Locale.ROOT, "%s%07d", prefix, index));
    }
}
