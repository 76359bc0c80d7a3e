package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Writes the {@link DataSet}. */
final class DataSetWriter {

    /** What etcd takes in one transaction by default. */
    private static final int KEYS_PER_TRANSACTION = 128;

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private DataSetWriter() {}

    /** Writes all keys and returns when the learner has them. */
    static void load(URI leader, URI learner) {
        ManagedChannel channel = channel(leader);
        try {
            awaitRevision(learner, load(channel));
        } finally {
            channel.shutdownNow();
        }
    }

    private static long load(ManagedChannel leader) {
        Iterator<ByteString> keys = DataSet.keys().iterator();
        Random values = DataSet.values();
        long revision = 0;
        while (keys.hasNext()) {
            TxnRequest.Builder transaction = TxnRequest.newBuilder();
            for (int count = 0; count < KEYS_PER_TRANSACTION && keys.hasNext(); count++) {
                transaction.addSuccess(RequestOp.newBuilder()
                        .setRequestPut(
                                PutRequest.newBuilder().setKey(keys.next()).setValue(DataSet.value(values))));
            }
            revision = stub(leader).txn(transaction.build()).getHeader().getRevision();
        }
        return revision;
    }

    private static void awaitRevision(URI learner, long revision) {
        ManagedChannel channel = channel(learner);
        RangeRequest one = DataSet.oneKey(true);
        try {
            Waiting.until(
                    DEADLINE,
                    () -> Optional.of(stub(channel).range(one).getHeader().getRevision())
                            .filter(reached -> reached >= revision),
                    () -> new BenchException("the learner has not reached revision " + revision + " within "
                            + DEADLINE.toSeconds() + " s"));
        } finally {
            channel.shutdownNow();
        }
    }

    private static ManagedChannel channel(URI server) {
        return NettyChannelBuilder.forAddress(server.getHost(), server.getPort())
                .usePlaintext()
                .build();
    }

    private static KVGrpc.KVBlockingStub stub(ManagedChannel channel) {
        return KVGrpc.newBlockingStub(channel)
                .withWaitForReady()
                .withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }
}
