package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Watches over gRPC under various settings, states of the source, and at the gateway's end.
 *
 * <p>Tests invariant N1.
 */
@Timeout(120)
final class WatchSettingsIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final Duration INTERVAL = Duration.ofMillis(200);
    private static final HubSettings TIGHT = new HubSettings(3, 2, 1, INTERVAL, Duration.ofMillis(500), 64 << 10);

    private static GatewaySettings settings() {
        return GatewayFixture.settings(SOURCE.cluster()).with(TIGHT);
    }

    @Test
    void quietWatchersReceiveRequestedProgress() throws Exception {
        try (GatewayFixture fixture = ready(settings());
                WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create("quiet", create -> create.setProgressNotify(true)));
            watch.send(WatchRequests.create("silent"));
            SOURCE.cluster().etcdctl("put", "elsewhere", "1");
            long revision = fixture.everything().getHeader().getRevision();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(watch.received())
                    .filteredOn(response -> !response.getCreated())
                    .hasSizeGreaterThan(2)
                    .allSatisfy(response -> {
                        assertThat(response.getWatchId()).isZero();
                        assertThat(response.getEventsList()).isEmpty();
                    })
                    .last()
                    .satisfies(response ->
                            assertThat(response.getHeader().getRevision()).isGreaterThanOrEqualTo(revision)));
        }
    }

    @Test
    void watchersAheadOfTheSourceReceiveNoProgress() throws Exception {
        try (GatewayFixture fixture = ready(settings());
                WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create(
                    "ahead", create -> create.setProgressNotify(true).setStartRevision(1 << 30)));
            watch.send(WatchRequests.create("here", create -> create.setProgressNotify(true)));
            await().atMost(PATIENCE).until(() -> watch.received().size() > 4);
            assertThat(watch.received())
                    .filteredOn(response -> !response.getCreated())
                    .extracting(WatchResponse::getWatchId)
                    .containsOnly(1L);
        }
    }

    @Test
    void moreWatchersThanAllowedAreRefused() throws Exception {
        try (GatewayFixture fixture = ready(settings());
                WatchClient one = new WatchClient(fixture.channel());
                WatchClient other = new WatchClient(fixture.channel())) {
            for (int i = 0; i < 3; i++) {
                one.send(WatchRequests.create("a"));
            }
            WatchIT.awaitResponses(one, 3);
            refused(
                    WatchIT.last(one),
                    "understudy: too many watchers on the stream; allowed: 2 (watches.maxWatchersPerStream)");
            other.send(WatchRequests.create("a"));
            other.send(WatchRequests.create("a"));
            WatchIT.awaitResponses(other, 2);
            refused(WatchIT.last(other), "understudy: too many watchers; allowed: 3 (watches.maxWatchers)");
            one.cancel();
            await().atMost(PATIENCE).until(() -> {
                other.send(WatchRequests.create("a"));
                return other.received().stream()
                                .filter(response -> response.getCreated() && !response.getCanceled())
                                .count()
                        > 1;
            });
        }
    }

    @Test
    void watchesOutsideTheRangeAreRejected() throws Exception {
        GatewaySettings part = settings().withPrefix("part/");
        try (GatewayFixture fixture = new GatewayFixture(part);
                WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create("whole"));
            watch.send(WatchRequests.createPrefix("part/", create -> {}));
            WatchIT.awaitResponses(watch, 2);
            refused(watch.received().get(0), "understudy: watch range exceeds the keys of this gateway (range.prefix)");
            // Progress includes commits outside of the range.
            SOURCE.cluster().etcdctl("put", "whole", "1");
            long revision = SOURCE.cluster().members().get(0).status().revision();
            await().atMost(PATIENCE).until(() -> {
                watch.send(WatchRequests.progress());
                return WatchIT.last(watch).getHeader().getRevision() >= revision;
            });
        }
    }

    /** The same requests to etcd and to a gateway of a part of the keys. */
    @Test
    void withForwardedWritesOtherKeysAreWatchedAtTheSource() throws Exception {
        URI member = SOURCE.cluster().members().get(0).clientUrl();
        ManagedChannel direct = GatewayFixture.channel(member.getHost(), member.getPort());
        try (GatewayFixture fixture = ready(forwarding(2));
                WatchClient atEtcd = new WatchClient(direct);
                WatchClient atGateway = new WatchClient(fixture.channel())) {
            for (WatchClient watch : List.of(atEtcd, atGateway)) {
                watch.send(WatchRequests.create("outside", create -> WatchRequests.id(create, 7)));
                watch.send(WatchRequests.createPrefix("part/", create -> {}));
                watch.send(WatchRequests.create("outside", create -> WatchRequests.id(create, 7)));
                watch.send(WatchRequests.create("a", "z", create -> create.setPrevKv(true)));
                WatchIT.awaitResponses(watch, 4);
            }
            assertThat(texts(atGateway)).isEqualTo(texts(atEtcd));
            assertThat(fixture.page("/metrics").body()).contains("understudy_gateway_forward_watches{", "} 2.0");

            for (String key : List.of("outside", "part/in", "outside", "elsewhere", "part/in")) {
                SOURCE.cluster().etcdctl("put", key, "v");
            }
            SOURCE.cluster().etcdctl("del", "outside");
            for (long id : new long[] {7, 0, 1}) {
                await().atMost(PATIENCE)
                        .untilAsserted(() ->
                                assertThat(atGateway.eventsOf(id)).isNotEmpty().isEqualTo(atEtcd.eventsOf(id)));
            }

            int before = atGateway.received().size();
            long revision = SOURCE.cluster().members().get(0).status().revision();
            Map<Long, Long> progress = new HashMap<>();
            await().atMost(PATIENCE).until(() -> {
                atGateway.send(WatchRequests.progress());
                List<WatchResponse> all = atGateway.received();
                all.subList(before, all.size())
                        .forEach(response -> progress.merge(
                                response.getWatchId(), response.getHeader().getRevision(), Math::max));
                return progress.size() == 3 && progress.values().stream().allMatch(each -> each >= revision);
            });
            assertThat(progress).containsOnlyKeys(7L, 0L, 1L);

            // A read on the connection of a forwarded response is not older than that.
            assertThat(fixture.everything().getHeader().getRevision()).isGreaterThanOrEqualTo(revision);
            atGateway.send(WatchRequests.create("third"));
            await().atMost(PATIENCE).until(() -> WatchIT.last(atGateway).getCanceled());
            refused(WatchIT.last(atGateway), "understudy: too many forwarded watches; allowed: 2 (forward.maxWatches)");
            atGateway.send(WatchRequests.cancel(7));
            await().atMost(PATIENCE)
                    .until(() -> WatchIT.last(atGateway).getCanceled()
                            && WatchIT.last(atGateway).getWatchId() == 7);
            await().atMost(PATIENCE)
                    .until(() -> fixture.page("/metrics").body().matches("(?s).*forward_watches\\{[^}]*} 1.0.*"));
        } finally {
            direct.shutdownNow();
        }
    }

    @Test
    void whileTheSourceHangsAForwardedWatchHasOneProgressRequestPerInterval() throws Exception {
        EtcdMember member = SOURCE.cluster().members().get(0);
        try (GatewayFixture fixture = ready(forwarding(1));
                WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create("hanging"));
            WatchIT.awaitResponses(watch, 1);
            member.pause();
            long began = System.nanoTime();
            long handled;
            try {
                for (int i = 0; i < 100; i++) {
                    watch.send(WatchRequests.progress());
                }
                // Served by the gateway, after it has handled the earlier requests.
                watch.send(WatchRequests.create("part/", create -> WatchRequests.id(create, 9)));
                await().atMost(PATIENCE).until(() -> watch.received().stream()
                        .anyMatch(response -> response.getCreated() && response.getWatchId() == 9));
                handled = System.nanoTime();
            } finally {
                member.resume();
            }
            SOURCE.cluster().etcdctl("put", "hanging", "v");
            await().atMost(PATIENCE).until(() -> !watch.eventsOf(0).isEmpty());
            // The first, the rest together, and another for each 100 ms that a busy machine takes longer to read them.
            int most = 2 + (int) TimeUnit.NANOSECONDS.toMillis(handled - began) / 100;
            assertThat(watch.received().stream()
                            .filter(response -> response.getWatchId() == 0 && !response.getCreated())
                            .takeWhile(response -> response.getEventsCount() == 0))
                    .hasSizeLessThanOrEqualTo(most);
        }
    }

    private static GatewaySettings forwarding(int maxWatches) {
        return settings()
                .with(HubSettings.DEFAULTS)
                .withPrefix("part/")
                .with(new ForwardSettings(Writes.FORWARD, Duration.ofSeconds(5), maxWatches));
    }

    private static List<String> texts(WatchClient watch) {
        return watch.received().stream().map(WatchClient::comparable).toList();
    }

    @Test
    void withoutALeaderStreamsThatRequireOneEnd() throws Exception {
        EtcdMember member = SOURCE.cluster().members().get(0);
        try (GatewayFixture fixture = ready(settings());
                WatchClient requires = new WatchClient(fixture.channel(), "hasleader", "true");
                WatchClient requiresNot = new WatchClient(fixture.channel(), "hasleader", "TRUE")) {
            requires.send(WatchRequests.create("l"));
            requiresNot.send(WatchRequests.create("l"));
            WatchIT.awaitResponses(requires, 1);
            member.pause();
            ended(requires, Status.Code.UNAVAILABLE, "etcdserver: no leader");
            try (WatchClient late = new WatchClient(fixture.channel(), "hasleader", "true")) {
                ended(late, Status.Code.UNAVAILABLE, "etcdserver: no leader");
            }
            KVGrpc.KVBlockingStub reads = fixture.kv();
            RangeRequest serializable = GatewayFixture.everythingRequest();
            Metadata requiring = new Metadata();
            requiring.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
            assertThatThrownBy(() -> reads.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(requiring))
                            .range(serializable))
                    .hasMessage("UNAVAILABLE: etcdserver: no leader");
            assertThat(reads.range(serializable).hasHeader()).isTrue();
            member.resume();
            SOURCE.cluster().etcdctl("put", "l", "1");
            WatchIT.awaitResponses(requiresNot, 2);
        }
    }

    /** Clients then resume elsewhere. A learner confirms revisions also where no voting member can be watched. */
    @Test
    void streamsThatRequireALeaderEndWhileTheFeedIsSilent() throws Exception {
        AtomicBoolean silent = new AtomicBoolean();
        Gateway gateway = Gateway.start(
                settings(),
                UnaryOperator.identity(),
                source -> (range, kind, resumeAt) -> silenced(source.open(range, kind, resumeAt), silent));
        try (GatewayFixture fixture = new GatewayFixture(gateway);
                WatchClient requires = new WatchClient(fixture.channel(), "hasleader", "true")) {
            requires.send(WatchRequests.create("l"));
            WatchIT.awaitResponses(requires, 1);
            silent.set(true);
            ended(requires, Status.Code.UNAVAILABLE, "etcdserver: request timed out");
            assertThat(fixture.kv("hasleader", "true")
                            .range(GatewayFixture.everythingRequest())
                            .hasHeader())
                    .isTrue();
        }
    }

    private static Feed silenced(Feed feed, AtomicBoolean silent) {
        return new Feed() {
            @Override
            public boolean poll(Duration timeout, FeedConsumer consumer)
                    throws FeedEndedException, InterruptedException {
                if (silent.get()) {
                    LockSupport.parkNanos(timeout.toNanos());
                    return false;
                }
                return feed.poll(timeout, consumer);
            }

            @Override
            public void requestProgress() {
                feed.requestProgress();
            }

            @Override
            public void close() {
                feed.close();
            }
        };
    }

    @Test
    void streamsEndWithTheGateway() throws Exception {
        try (GatewayFixture fixture = ready(settings());
                WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create("e"));
            WatchIT.awaitResponses(watch, 1);
            fixture.gateway.close();
            ended(watch, Status.Code.UNAVAILABLE, "etcdserver: server stopped");
        }
    }

    private static GatewayFixture ready(GatewaySettings settings) throws Exception {
        GatewayFixture fixture = new GatewayFixture(settings);
        fixture.awaitReady();
        return fixture;
    }

    private static void refused(WatchResponse response, String reason) {
        assertThat(response.getCancelReason()).isEqualTo(reason);
        assertThat(response.getCreated()).isTrue();
        assertThat(response.getCanceled()).isTrue();
        assertThat(response.getWatchId()).isEqualTo(-1);
    }

    private static void ended(WatchClient watch, Status.Code code, String text) {
        await().atMost(PATIENCE).until(() -> watch.status() != null);
        assertThat(watch.status().getCode()).isEqualTo(code);
        assertThat(watch.status().getDescription()).isEqualTo(text);
    }
}
