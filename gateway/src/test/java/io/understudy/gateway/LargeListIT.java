package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.config.Binder;
import io.understudy.etcd.EtcdMessages;
import io.understudy.gateway.read.ReadSettings;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Lists of a revision before the window, larger than one response of the source: as etcd's.
 *
 * <p>Tests invariants A1, S3.
 */
@Timeout(180)
final class LargeListIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source").own();

    private static final int KEYS = 10_100;
    private static final int PAGE = 10_000;
    private static final ByteString VALUE = ByteString.copyFrom(new byte[8_000]);
    private static final RangeRequest LIST = RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("list/"))
            .setRangeEnd(ByteString.copyFromUtf8("list0"))
            .setSerializable(true)
            .build();

    private ManagedChannel direct;
    private GatewayFixture fixture;
    /** Before the window. */
    private long past;

    @BeforeEach
    void start() throws Exception {
        URI member = SOURCE.cluster().clientUrls().get(0);
        direct = GatewayFixture.channel(member.getHost(), member.getPort());
        for (int from = 0; from < KEYS; from += 100) {
            write(from, 100, VALUE);
        }
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster())
                .with(Binder.with(ReadSettings.DEFAULTS, "timeout", Duration.ofMinutes(1)))
                .with(ReplicaSettings.DEFAULTS.withWindowRevisions(10)));
        fixture.awaitReady();
        past = fixture.kv()
                .range(LIST.toBuilder().setLimit(1).build())
                .getHeader()
                .getRevision();
        long last = past;
        for (int i = 0; i < 20; i++) {
            last = write(i, 1, ByteString.EMPTY);
        }
        fixture.awaitRevision(LIST.getKey(), last);
    }

    private long write(int from, int keys, ByteString value) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        IntStream.range(from, from + keys)
                .forEach(i ->
                        txn.addSuccess(EtcdMessages.put(ByteString.copyFromUtf8("list/%05d".formatted(i)), value)));
        return etcd().txn(txn.build()).getHeader().getRevision();
    }

    @AfterEach
    void stop() {
        fixture.close();
        direct.shutdownNow();
    }

    @Test
    void listsAreThoseOfEtcd() {
        RangeRequest list = LIST.toBuilder().setRevision(past).build();
        for (RangeRequest request : List.of(
                list.toBuilder().setLimit(PAGE).build(),
                list,
                list.toBuilder().setLimit(PAGE).setKeysOnly(true).build(),
                list.toBuilder().setSortOrder(SortOrder.ASCEND).build())) {
            RangeResponse ours = comparable(fixture.kv().range(request));
            assertThat(ours.getKvsCount()).isEqualTo(request.getLimit() > 0 ? PAGE : KEYS);
            assertThat(ours.equals(comparable(etcd().range(request))))
                    .as("same response as etcd's to %s", request)
                    .isTrue();
        }
        StatusRuntimeException refusal = catchThrowableOfType(StatusRuntimeException.class, () -> fixture.kv()
                .range(list.toBuilder().setSortOrder(SortOrder.DESCEND).build()));
        assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        await().atMost(GatewayFixture.PATIENCE).until(() -> held() == 0);
    }

    /** Three take more than a client may hold. */
    @Test
    void concurrentListsWaitForEachOther() {
        RangeRequest list = LIST.toBuilder().setRevision(past).build();
        List<ManagedChannel> clients = Stream.generate(
                        () -> GatewayFixture.channel("127.0.0.1", fixture.gateway.apiPort()))
                .limit(3)
                .toList();
        try {
            List<CompletableFuture<Integer>> lists = clients.stream()
                    .map(client -> CompletableFuture.supplyAsync(() -> KVGrpc.newBlockingStub(client)
                            .withDeadlineAfter(60, TimeUnit.SECONDS)
                            .range(list)
                            .getKvsCount()))
                    .toList();
            lists.forEach(each ->
                    assertThat(each).succeedsWithin(GatewayFixture.PATIENCE).isEqualTo(KEYS));
        } finally {
            clients.forEach(ManagedChannel::shutdownNow);
        }
        await().atMost(GatewayFixture.PATIENCE).until(() -> held() == 0);
    }

    private double held() {
        return Scrape.sum(
                URI.create("http://127.0.0.1:" + fixture.gateway.apiPort()), "understudy_gateway_passedthrough_bytes");
    }

    private static RangeResponse comparable(RangeResponse response) {
        return response.toBuilder()
                .setHeader(response.getHeader().toBuilder().clearMemberId().clearRaftTerm())
                .build();
    }

    /** A new stub for each call, as its deadline starts here. */
    private KVBlockingStub etcd() {
        return GatewayFixture.kv(direct);
    }
}
