package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.understudy.local.junit.EtcdExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Answers that take so long to put together that it isn't done on an event loop, and such as are sent from where they are
 * held: the same bytes as etcd's. Many entries are equal in what they are sorted by.
 *
 * <p>Tests invariants A1, S4.
 */
@Timeout(120)
final class ManyKeysIT {

    private static final int COMMITS = 240;
    private static final int PUTS = 100;
    private static final int KEYS = 15_000;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @Test
    void answersAreThoseOfEtcd() throws Exception {
        var url = SOURCE.cluster().clientUrls().get(0);
        ManagedChannel source = GatewayFixture.channel(url.getHost(), url.getPort());
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            fixture.awaitRevision(write(source));
            RawCalls etcd = new RawCalls(source);
            RawCalls gateway = new RawCalls(fixture.channel());
            for (RangeRequest request : requests()) {
                String theirs = etcd.call("Range", request).get(30, TimeUnit.SECONDS);
                String ours = gateway.call("Range", request).get(30, TimeUnit.SECONDS);
                assertThat(ours.equals(theirs))
                        .as("seed %d, the answers to %s", seed, request)
                        .isTrue();
                assertThat(gateway.stream(request).get(30, TimeUnit.SECONDS))
                        .as("seed %d, the stream of %s", seed, request)
                        .isEqualTo(
                                isStreamable(request)
                                        ? theirs
                                        : "UNIMPLEMENTED: RangeStream does not support "
                                                + (request.getSortOrder() == SortOrder.NONE
                                                        ? "revision filters"
                                                        : "custom sort orders"));
            }
            assertThat(fixture.page("/metrics").body())
                    .containsPattern("understudy_gateway_reads_evaluation_seconds_count\\{.*} [1-9]");
        } finally {
            source.shutdownNow();
        }
    }

    private static boolean isStreamable(RangeRequest request) {
        return request.getMinModRevision() == 0
                && (request.getSortOrder() == SortOrder.NONE
                        || (request.getSortOrder() == SortOrder.ASCEND && request.getSortTarget() == SortTarget.KEY));
    }

    private static List<RangeRequest> requests() {
        RangeRequest all = GatewayFixture.everythingRequest();
        List<RangeRequest> requests = new ArrayList<>();
        for (SortTarget target : SortTarget.values()) {
            for (SortOrder order : SortOrder.values()) {
                for (long limit : List.of(0, 7, 150, 10_000)) {
                    if (target != SortTarget.UNRECOGNIZED && order != SortOrder.UNRECOGNIZED) {
                        requests.add(all.toBuilder()
                                .setSortTarget(target)
                                .setSortOrder(order)
                                .setLimit(limit)
                                .build());
                    }
                }
            }
        }
        requests.add(all.toBuilder().setMinModRevision(COMMITS / 2).build());
        requests.add(all.toBuilder()
                .setMaxCreateRevision(COMMITS / 2)
                .setSortOrder(SortOrder.DESCEND)
                .setLimit(50)
                .build());
        requests.add(all.toBuilder()
                .setSortTarget(SortTarget.VALUE)
                .setKeysOnly(true)
                .build());
        return requests;
    }

    /** Gives the last revision. */
    private long write(ManagedChannel source) throws Exception {
        var kv = KVGrpc.newFutureStub(source);
        long last = 0;
        for (int i = 0; i < COMMITS; i++) {
            TxnRequest.Builder commit = TxnRequest.newBuilder();
            random.ints(0, KEYS)
                    .distinct()
                    .limit(PUTS)
                    .forEach(key -> commit.addSuccess(RequestOp.newBuilder()
                            .setRequestPut(PutRequest.newBuilder()
                                    .setKey(ByteString.copyFromUtf8("key-" + key))
                                    .setValue(ByteString.copyFromUtf8("common-" + random.nextInt(500))))));
            last = kv.txn(commit.build()).get(30, TimeUnit.SECONDS).getHeader().getRevision();
        }
        return last;
    }
}
