package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.understudy.gateway.server.ServerLimits;
import io.understudy.local.junit.EtcdExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * With three times its capacity as load a gateway keeps serving, and served requests don't wait for the others. Each
 * request reads a thousand entries, so that clients on the same machine can saturate it.
 *
 * <p>Tests invariant S7.
 */
@Tag("speed")
@Timeout(300)
final class OverloadIT {

    private static final Logger LOG = LoggerFactory.getLogger(OverloadIT.class);
    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int ROUNDS = LONG ? 7 : 3;
    private static final Duration WARM_UP = Duration.ofMillis(LONG ? 2_000 : 1_000);
    private static final Duration LASTING = Duration.ofMillis(LONG ? 4_000 : 1_000);
    private static final int UNDER_WAY = 48;
    private static final int PUTS = 100;
    private static final int KEYS = 1_000;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @Test
    void answeredReadsKeepTheirLatencyUnderThreefoldLoad() throws Exception {
        try (GatewayFixture fixture =
                new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()).with(ServerLimits.DEFAULTS))) {
            fixture.awaitReady();
            fixture.awaitRevision(write());
            int port = fixture.gateway.apiPort();
            RangeRequest request = request();
            LOG.info("warm: {}", OpenLoad.closed(port, request, UNDER_WAY, WARM_UP, LASTING));
            List<Double> atSaturation = new ArrayList<>();
            List<Double> beyond = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                OpenLoad.Outcome most = OpenLoad.closed(port, request, UNDER_WAY, WARM_UP, LASTING);
                int capacity = (int) most.perSecond();
                OpenLoad.Outcome saturated = OpenLoad.at(port, request, capacity, WARM_UP, LASTING);
                OpenLoad.Outcome threefold = OpenLoad.at(port, request, 3 * capacity, WARM_UP, LASTING);
                LOG.info("as many as are answered: {}", most);
                LOG.info("offered as many: {}", saturated);
                LOG.info("offered three times as many: {}", threefold);
                atSaturation.add(saturated.millis(0.99));
                beyond.add(threefold.millis(0.99));
                assertThat(threefold.refused()).isPositive();
                assertThat(threefold.unanswered()).isZero();
            }
            LOG.info("p99 at saturation {} ms, at three times that {} ms", median(atSaturation), median(beyond));
            // At most two turns, and a bit, where nothing waits at saturation.
            double most = Math.max(
                    2 * median(atSaturation),
                    3.0 * ServerLimits.DEFAULTS.load().maxDelay().toMillis());
            assertThat(median(beyond)).isLessThan(most);
        }
    }

    private static RangeRequest request() {
        return RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("k/"))
                .setRangeEnd(ByteString.copyFromUtf8("k0"))
                .setSortTarget(RangeRequest.SortTarget.VALUE)
                .setSortOrder(RangeRequest.SortOrder.DESCEND)
                .setLimit(1)
                .setSerializable(true)
                .build();
    }

    private static long write() {
        var url = SOURCE.cluster().clientUrls().get(0);
        ManagedChannel source = GatewayFixture.channel(url.getHost(), url.getPort());
        try {
            long revision = 0;
            for (int i = 0; i < KEYS; i += PUTS) {
                TxnRequest.Builder txn = TxnRequest.newBuilder();
                for (int k = i; k < i + PUTS; k++) {
                    txn.addSuccess(RequestOp.newBuilder()
                            .setRequestPut(PutRequest.newBuilder()
                                    .setKey(ByteString.copyFromUtf8("k/" + k))
                                    .setValue(ByteString.copyFromUtf8("value " + k * 7_919 % KEYS))));
                }
                revision =
                        GatewayFixture.kv(source).txn(txn.build()).getHeader().getRevision();
            }
            return revision;
        } finally {
            source.shutdownNow();
        }
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
