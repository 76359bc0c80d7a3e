package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.understudy.local.junit.EtcdExtension;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What etcd makes of a negative revision in a transaction depends on whether it was ever compacted.
 *
 * <p>Tests invariant A1.
 */
@Timeout(60)
final class NegativeRevisionIT {

    private static final ByteString KEY = ByteString.copyFromUtf8("k");
    private static final long FUTURE = 1_000;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @Test
    void isAnsweredAsByEtcdBeforeAndAfterTheFirstCompaction() throws Exception {
        var url = SOURCE.cluster().clientUrls().get(0);
        ManagedChannel source = GatewayFixture.channel(url.getHost(), url.getPort());
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            long revision = 0;
            for (int i = 0; i < 3; i++) {
                revision = GatewayFixture.kv(source)
                        .put(PutRequest.newBuilder().setKey(KEY).build())
                        .getHeader()
                        .getRevision();
            }
            fixture.awaitRevision(revision);
            requireSameAnswers(source, fixture.channel());
            GatewayFixture.kv(source)
                    .compact(
                            CompactionRequest.newBuilder().setRevision(revision).build());
            requireSameAnswers(source, fixture.channel());
        } finally {
            source.shutdownNow();
        }
    }

    private static void requireSameAnswers(ManagedChannel source, ManagedChannel gateway) throws Exception {
        RequestOp nested = RequestOp.newBuilder().setRequestTxn(txn(at(-1))).build();
        for (TxnRequest txn : List.of(
                txn(at(-1)),
                txn(at(-2)),
                txn(at(Long.MIN_VALUE)),
                txn(at(0), at(-1)),
                txn(at(-1), at(FUTURE)),
                txn(at(FUTURE), at(-1)),
                txn(at(-2), at(FUTURE)),
                txn(nested))) {
            assertThat(new RawCalls(gateway).call("Txn", txn).get())
                    .as("the answer to %s", txn)
                    .isEqualTo(new RawCalls(source).call("Txn", txn).get());
        }
    }

    private static TxnRequest txn(RequestOp... ops) {
        return TxnRequest.newBuilder().addAllSuccess(Stream.of(ops).toList()).build();
    }

    private static RequestOp at(long revision) {
        return RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder().setKey(KEY).setRevision(revision))
                .build();
    }
}
