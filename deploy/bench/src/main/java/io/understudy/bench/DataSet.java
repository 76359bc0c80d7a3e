package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.time.Duration;
import java.util.Iterator;
import java.util.Locale;
import java.util.Optional;
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

    /** What etcd takes in one transaction by default. */
    private static final int KEYS_PER_TRANSACTION = 128;

    private static final Duration DEADLINE = Duration.ofSeconds(30);

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

    /** Writes all keys and returns when the learner has them. */
    static void load(URI leader, URI learner) {
        ManagedChannel channel = Connections.to(leader);
        try {
            awaitRevision(learner, write(channel));
        } finally {
            channel.shutdownNow();
        }
    }

    private static long write(ManagedChannel leader) {
        Iterator<ByteString> rest = keys().iterator();
        Random source = values();
        long revision = 0;
        while (rest.hasNext()) {
            TxnRequest.Builder transaction = TxnRequest.newBuilder();
            for (int count = 0; count < KEYS_PER_TRANSACTION && rest.hasNext(); count++) {
                transaction.addSuccess(RequestOp.newBuilder()
                        .setRequestPut(
                                PutRequest.newBuilder().setKey(rest.next()).setValue(value(source))));
            }
            revision = Connections.blocking(leader)
                    .txn(transaction.build())
                    .getHeader()
                    .getRevision();
        }
        return revision;
    }

    private static void awaitRevision(URI learner, long revision) {
        ManagedChannel channel = Connections.to(learner);
        RangeRequest one = oneKey(true);
        try {
            Waiting.until(
                    DEADLINE,
                    () -> Optional.of(Connections.blocking(channel)
                                    .range(one)
                                    .getHeader()
                                    .getRevision())
                            .filter(reached -> reached >= revision),
                    () -> new BenchException("the learner has not reached revision " + revision + " within "
                            + DEADLINE.toSeconds() + " s"));
        } finally {
            channel.shutdownNow();
        }
    }
}
