package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest.FilterType;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.understudy.local.junit.EtcdExtension;
import java.util.List;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Watches over gRPC: a gateway answers as etcd does, response by response.
 *
 * <p>Tests invariant N1.
 */
@Timeout(120)
@Tag("core")
final class WatchIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static GatewayFixture fixture;

    @BeforeAll
    static void start() throws Exception {
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()));
        fixture.awaitReady();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    private static WatchPlayer player() {
        return new WatchPlayer(SOURCE.cluster().members().get(0), fixture);
    }

    @Test
    void watchersReceivePutsAndDeletesOfTheirKeyOnly() {
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequests.create("one/a"))
                    .write(put("one/a", "1"))
                    .write(put("one/aa", "not this one"))
                    .write(put("one/a", "2"))
                    .write(delete("one/a"))
                    .write(put("one/a", "3"))
                    .assertSame();
            assertThat(both.responses(0)).hasSize(5);
        }
    }

    @Test
    void rangesPrefixesFromKeyAndTheEmptyKeyAreAsInEtcd() {
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequests.create("r/b", "r/d", create -> {}))
                    .send(0, WatchRequests.createPrefix("r/", create -> {}))
                    .send(0, WatchRequests.create("r/c", "\0", create -> {}))
                    .send(1, WatchRequests.create("", "\0", create -> {}))
                    .send(2, WatchRequests.create(""));
            for (String key : List.of("q", "r/", "r/a", "r/b", "r/c", "r/d", "s")) {
                both.write(put(key, "value"));
            }
            // Watchers of a stream receive a commit in any order.
            both.assertSameEvents(0, 0);
            both.assertSameEvents(0, 1);
            both.assertSameEvents(0, 2);
            both.assertSameEvents(1, 0);
            both.assertSameEvents(2, 0);
        }
    }

    @Test
    void aCommitOfManyChangesIsDeliveredWholeAndFiltered() {
        try (WatchPlayer both = player()) {
            both.write(put("f/gone", "1"))
                    .send(0, WatchRequests.createPrefix("f/", create -> create.setPrevKv(true)))
                    .send(1, WatchRequests.createPrefix("f/", create -> create.addFilters(FilterType.NOPUT)))
                    .send(2, WatchRequests.createPrefix("f/", create -> create.addFilters(FilterType.NODELETE)))
                    .send(3, WatchRequests.createPrefix("f/", create -> create.addFilters(FilterType.NODELETE)
                            .addFilters(FilterType.NOPUT)
                            .addFiltersValue(7)))
                    .write(etcd -> etcd.txn(TxnRequest.newBuilder()
                                    .addSuccess(RequestOp.newBuilder().setRequestPut(request("f/new", "2")))
                                    .addSuccess(RequestOp.newBuilder()
                                            .setRequestDeleteRange(DeleteRangeRequest.newBuilder()
                                                    .setKey(ByteString.copyFromUtf8("f/gone"))))
                                    .build())
                            .getHeader()
                            .getRevision())
                    .write(put("f/new", "3"))
                    .write(delete("f/new"))
                    .assertSame();
            assertThat(both.responses(3)).hasSize(1);
        }
    }

    @Test
    void idsAreChosenOrTheNextFree() {
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequests.create("i", create -> WatchRequests.id(create, 1)))
                    .send(0, WatchRequests.create("i"))
                    .send(0, WatchRequests.create("i"))
                    .send(0, WatchRequests.create("i", create -> WatchRequests.id(create, 2)))
                    .send(0, WatchRequests.cancel(1))
                    .send(0, WatchRequests.create("i"))
                    .send(0, WatchRequests.create("i", create -> WatchRequests.id(create, 1)))
                    .send(0, WatchRequests.create("i", create -> WatchRequests.id(create, -7)))
                    .send(0, WatchRequests.create("i", create -> WatchRequests.id(create, 1)))
                    .assertSame();
        }
    }

    @Test
    void cancelsAreAnsweredWithoutAReasonAndUnknownIdsNotAtAll() {
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequests.create("c"))
                    .send(0, WatchRequests.cancel(5))
                    .send(0, WatchRequests.cancel(0))
                    .send(0, WatchRequests.cancel(0))
                    .write(put("c", "1"))
                    .assertSame();
            assertThat(both.responses(0)).hasSize(2);
        }
    }

    @Test
    void emptyRequestsAreIgnored() {
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequest.getDefaultInstance())
                    .send(0, WatchRequests.create("n"))
                    .assertSame();
        }
    }

    @Test
    void aNegativeStartIsRefused() {
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequests.create("n", create -> create.setStartRevision(-1)))
                    .send(0, WatchRequests.create("n"))
                    .assertSame();
        }
    }

    @Test
    void theStartMayLieInThePastOrAhead() {
        try (WatchPlayer both = player()) {
            both.write(put("p/a", "1")).write(put("p/b", "1")).write(put("p/a", "2"));
            long now = fixture.everything().getHeader().getRevision();
            both.send(0, WatchRequests.createPrefix("p/", create -> create.setStartRevision(now - 1)
                            .setPrevKv(true)))
                    .send(1, WatchRequests.createPrefix("p/", create -> create.setStartRevision(now)))
                    .send(2, WatchRequests.createPrefix("p/", create -> create.setStartRevision(now + 2)))
                    .send(2, WatchRequests.progress())
                    .write(put("p/a", "too early"))
                    .send(2, WatchRequests.progress())
                    .write(put("p/a", "in time"))
                    .send(2, WatchRequests.progress())
                    .assertSame();
        }
    }

    @Test
    void progressIsReportedOnceEveryWatcherOfTheStreamIsSynced() {
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequests.progress())
                    .send(0, WatchRequests.create("m"))
                    .send(0, WatchRequests.progress())
                    .write(put("other", "1"))
                    .send(0, WatchRequests.progress())
                    .send(0, WatchRequests.create("m", create -> create.setStartRevision(1_000_000)))
                    .send(0, WatchRequests.progress())
                    .send(0, WatchRequests.cancel(1))
                    .send(0, WatchRequests.progress())
                    .assertSame();
            assertThat(both.responses(0)).hasSize(6);
        }
    }

    @Test
    void largeResponsesAreFragmentedIfTheClientAllows() {
        String large = "x".repeat(350_000);
        ToLongFunction<KVBlockingStub> four = etcd -> {
            TxnRequest.Builder txn = TxnRequest.newBuilder();
            for (int i = 0; i < 4; i++) {
                txn.addSuccess(RequestOp.newBuilder().setRequestPut(request("l/" + i, large)));
            }
            return etcd.txn(txn.build()).getHeader().getRevision();
        };
        try (WatchPlayer both = player()) {
            both.send(0, WatchRequests.createPrefix("l/", create -> {
                        WatchRequests.fragment(create);
                        create.setPrevKv(true);
                    }))
                    .send(1, WatchRequests.createPrefix("l/", create -> create.setPrevKv(true)))
                    .write(four)
                    .write(four)
                    .assertSame();
            assertThat(both.responses(0)).hasSize(4);
            assertThat(both.responses(1)).hasSize(3);
        }
    }

    @Test
    void aStreamContinuesAfterItsClientHalfCloses() {
        try (WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create("h"));
            watch.halfClose();
            awaitResponses(watch, 1);
            write(put("h", "1"));
            awaitResponses(watch, 2);
        }
    }

    @Test
    void anEmptyRangeIsRefused() {
        ManagedChannel direct = direct();
        try (WatchClient etcd = new WatchClient(direct);
                WatchClient gateway = new WatchClient(fixture.channel())) {
            for (WatchClient watch : List.of(etcd, gateway)) {
                watch.send(WatchRequests.create("b", "a", create -> {}));
                watch.send(WatchRequests.create("b", "b", create -> {}));
                awaitResponses(watch, 2);
            }
            assertThat(gateway.received())
                    .extracting(WatchClient::comparable)
                    .containsExactlyElementsOf(etcd.received().stream()
                            .map(WatchClient::comparable)
                            .toList());
        } finally {
            direct.shutdownNow();
        }
    }

    static WatchResponse last(WatchClient watch) {
        return watch.received().get(watch.received().size() - 1);
    }

    static void awaitResponses(WatchClient watch, int count) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(watch.received()).hasSize(count));
    }

    private static ManagedChannel direct() {
        var url = SOURCE.cluster().members().get(0).clientUrl();
        return GatewayFixture.channel(url.getHost(), url.getPort());
    }

    private static void write(ToLongFunction<KVBlockingStub> write) {
        ManagedChannel direct = direct();
        try {
            long unused = write.applyAsLong(GatewayFixture.kv(direct));
        } finally {
            direct.shutdownNow();
        }
    }

    static PutRequest request(String key, String value) {
        return PutRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .setValue(ByteString.copyFromUtf8(value))
                .build();
    }

    static ToLongFunction<KVBlockingStub> put(String key, String value) {
        return etcd -> etcd.put(request(key, value)).getHeader().getRevision();
    }

    static ToLongFunction<KVBlockingStub> delete(String key) {
        return etcd -> etcd.deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .build())
                .getHeader()
                .getRevision();
    }
}
