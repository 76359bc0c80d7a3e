package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.Event.EventType;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What has gone wrong with watches in etcd and its proxy, by the numbers of etcd's issues.
 *
 * <p>Tests invariant V6.
 */
@Timeout(180)
final class WatchRegressionsIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source").behindProxies();

    private EtcdMember member;
    private ManagedChannel direct;
    private KVBlockingStub etcd;

    @BeforeEach
    void connect() {
        member = SOURCE.cluster().members().get(0);
        direct = GatewayFixture.channel(
                member.directClientUrl().getHost(), member.directClientUrl().getPort());
        etcd = GatewayFixture.kv(direct);
    }

    @AfterEach
    void disconnect() {
        direct.shutdownNow();
    }

    /** #15220: requested progress overtook events, and reported a revision with events still to come. */
    @Test
    void progressDoesNotOvertakeEvents() throws Exception {
        try (GatewayFixture fixture = follower();
                WatchClient watch = new WatchClient(fixture.channel())) {
            long first = putAll("p", 200);
            watch.send(WatchRequests.create("p", create -> create.setStartRevision(first)));
            for (int i = 0; i < 200; i++) {
                watch.send(WatchRequests.progress());
                long unused = put("p", "more");
            }
            awaitRevisions(watch, 0, first, 400);
            watch.send(WatchRequests.progress());
            await().atMost(PATIENCE).until(() -> isProgress(WatchIT.last(watch)));
            long reported = 0;
            for (WatchResponse response : watch.received()) {
                if (isProgress(response)) {
                    assertThat(response.getHeader().getRevision()).isGreaterThanOrEqualTo(reported);
                    reported = response.getHeader().getRevision();
                } else if (response.getEventsCount() > 0) {
                    assertThat(response.getEvents(0).getKv().getModRevision()).isGreaterThan(reported);
                    reported = lastOf(response);
                }
            }
        }
    }

    /** #15271: a member that was cut off repeated events to its watchers after it had installed a snapshot. */
    @Test
    void noEventIsRepeatedAfterAnOutageOfTheSource() throws Exception {
        try (GatewayFixture fixture = follower();
                WatchClient watch = new WatchClient(fixture.channel())) {
            long first = putAll("t", 20);
            watch.send(WatchRequests.create("t", create -> create.setStartRevision(first)));
            awaitRevisions(watch, 0, first, 20);
            member.clientProxy().cut();
            long unused = putAll("t", 20);
            member.clientProxy().heal();
            unused = putAll("t", 20);
            awaitRevisions(watch, 0, first, 60);
        }
    }

    /** #15271 with the missed commits compacted: the watcher is canceled with that revision, and can resume there. */
    @Test
    void watchersThatWouldMissCommitsReceiveTheCompaction() throws Exception {
        try (GatewayFixture fixture = follower();
                WatchClient watch = new WatchClient(fixture.channel())) {
            long first = putAll("g", 5);
            watch.send(WatchRequests.create("g", create -> create.setStartRevision(first)));
            awaitRevisions(watch, 0, first, 5);
            member.clientProxy().cut();
            long last = putAll("g", 5) + 4;
            compact(last);
            member.clientProxy().heal();
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(WatchIT.last(watch).getCompactRevision()).isEqualTo(last));
            assertThat(revisions(watch, 0)).hasSize(5);
            watch.send(WatchRequests.create("g", create -> create.setStartRevision(last)));
            long unused = putAll("g", 5);
            awaitRevisions(watch, 1, last, 6);
        }
    }

    /** #17529: of many watchers on a slow stream, those behind a compaction lost events without a cancellation. */
    @Test
    void watchersOfASlowStreamMissNothingUnlessCompacted() throws Exception {
        int watchers = 100;
        int puts = 40;
        try (GatewayFixture fixture = follower(10);
                WatchClient watch = new WatchClient(fixture.channel(), CallOptions.DEFAULT, watchers, new String[0])) {
            long first = put("s", "0") + 1;
            fixture.awaitRevision(first - 1);
            for (int i = 0; i < watchers; i++) {
                watch.send(WatchRequests.createPrefix(
                        "s", create -> create.setPrevKv(true).setStartRevision(first)));
            }
            WatchIT.awaitResponses(watch, watchers);
            String value = "v".repeat(1_000);
            for (int i = 0; i < puts; i++) {
                long unused = put("s", value + i);
            }
            fixture.awaitRevision(first + puts - 1);
            compact(first + puts - 1);
            watch.take(Integer.MAX_VALUE);
            List<Long> ids = range(0, watchers);
            await().atMost(PATIENCE).until(() -> ids.stream()
                    .allMatch(
                            id -> isCompacted(watch, id) || revisions(watch, id).size() == puts));
            for (long id : ids) {
                List<Long> received = revisions(watch, id);
                assertThat(received).isEqualTo(range(first, received.size()));
            }
        }
    }

    /** #18089: a deletion at the compact revision was not delivered to watchers that start there. */
    @Test
    void aDeletionAtTheCompactRevisionIsReadFromWindowAndSource() throws Exception {
        try (GatewayFixture wide = follower();
                GatewayFixture narrow = follower(1)) {
            long unused = putAll("d", 3);
            long deleted = WatchIT.delete("d").applyAsLong(etcd);
            unused = put("d", "again");
            compact(deleted);
            long last = putAll("other", 5) + 4;
            for (GatewayFixture fixture : List.of(wide, narrow)) {
                fixture.awaitRevision(last);
                requireDeletionAndPut(fixture, "d", deleted);
            }
        }
    }

    /** #19179: the same if the member was restarted in the middle of the compaction. */
    @Test
    void aDeletionAtTheCompactRevisionSurvivesRestarts() throws Exception {
        long unused = putAll("e", 3);
        unused = putAll("f", 3);
        unused = WatchIT.delete("f").applyAsLong(etcd);
        long deleted = WatchIT.delete("e").applyAsLong(etcd);
        compact(deleted);
        member.kill();
        member.start();
        disconnect();
        connect();
        try (GatewayFixture fixture = follower()) {
            unused = put("e", "again");
            requireDeletionAndPut(fixture, "e", deleted);
        }
    }

    /** #20221: a watcher of the future received progress, and then revisions before its start. */
    @Test
    void futureWatchersReceiveNothingBeforeTheirStart() throws Exception {
        try (GatewayFixture fixture = follower();
                WatchClient watch = new WatchClient(fixture.channel())) {
            long now = put("u", "now");
            fixture.awaitRevision(now);
            watch.send(WatchRequests.create(
                    "u", create -> create.setStartRevision(now + 4).setProgressNotify(true)));
            for (int i = 0; i < 3; i++) {
                watch.send(WatchRequests.progress());
                fixture.awaitRevision(put("u", "too early"));
            }
            watch.send(WatchRequests.progress());
            // Answered after earlier requests: none of them is pending when the watch begins.
            watch.send(WatchRequests.create("another"));
            WatchIT.awaitResponses(watch, 2);
            long unused = putAll("u", 3);
            awaitRevisions(watch, 0, now + 4, 3);
            assertThat(watch.received()).noneMatch(WatchRegressionsIT::isProgress);
            watch.send(WatchRequests.progress());
            await().atMost(PATIENCE).until(() -> isProgress(WatchIT.last(watch)));
        }
    }

    /** #21813: watchers created while the proxy's own watch was broken never received anything. */
    @Test
    void watchersCreatedDuringAnOutageReceiveEventsAfterIt() throws Exception {
        try (GatewayFixture fixture = follower();
                WatchClient before = new WatchClient(fixture.channel());
                WatchClient meanwhile = new WatchClient(fixture.channel())) {
            long first = put("w", "0");
            fixture.awaitRevision(first);
            before.send(WatchRequests.create("w"));
            WatchIT.awaitResponses(before, 1);
            member.clientProxy().cut();
            meanwhile.send(WatchRequests.create("w"));
            WatchIT.awaitResponses(meanwhile, 1);
            long unused = putAll("w", 3);
            member.clientProxy().heal();
            awaitRevisions(before, 0, first + 1, 3);
            awaitRevisions(meanwhile, 0, first + 1, 3);
        }
    }

    /** #19710: the proxy did not answer progress requests. */
    @Test
    void progressReachesIdleWatchersThroughTwoGateways() throws Exception {
        try (GatewayFixture parent = follower()) {
            URI uri = URI.create("http://127.0.0.1:" + parent.gateway.apiPort());
            GatewaySettings settings = GatewaySettings.of(
                            "child",
                            new HostPort("127.0.0.1", 0),
                            EtcdSettings.of(uri).withName("parent"))
                    .withPrefix("held/");
            try (GatewayFixture child = new GatewayFixture(settings);
                    WatchClient watch = new WatchClient(child.channel())) {
                child.awaitReady();
                watch.send(WatchRequests.createPrefix("held/", create -> {}));
                WatchIT.awaitResponses(watch, 1);
                long elsewhere = put("elsewhere", "1");
                await().atMost(PATIENCE).until(() -> {
                    watch.send(WatchRequests.progress());
                    return isProgress(WatchIT.last(watch))
                            && WatchIT.last(watch).getHeader().getRevision() >= elsewhere;
                });
            }
        }
    }

    private static void requireDeletionAndPut(GatewayFixture fixture, String key, long deleted) {
        try (WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create(key, create -> create.setStartRevision(deleted)));
            awaitRevisions(watch, 0, deleted, 2);
            assertThat(watch.received())
                    .flatExtracting(WatchResponse::getEventsList)
                    .extracting(Event::getType)
                    .containsExactly(EventType.DELETE, EventType.PUT);
        }
    }

    private static GatewayFixture follower() throws Exception {
        return follower(ReplicaSettings.DEFAULTS.windowRevisions());
    }

    private static GatewayFixture follower(int window) throws Exception {
        GatewayFixture fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ReplicaSettings.DEFAULTS.withWindowRevisions(window)));
        fixture.awaitReady();
        return fixture;
    }

    /** Returns the revision of the first put. */
    private long putAll(String key, int times) {
        long first = put(key, "0");
        for (int i = 1; i < times; i++) {
            long unused = put(key, Integer.toString(i));
        }
        return first;
    }

    private long put(String key, String value) {
        return WatchIT.put(key, value).applyAsLong(etcd);
    }

    private void compact(long revision) {
        var unused = etcd.compact(CompactionRequest.newBuilder()
                .setRevision(revision)
                .setPhysical(true)
                .build());
    }

    private static void awaitRevisions(WatchClient watch, long id, long first, int count) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(revisions(watch, id)).isEqualTo(range(first, count)));
    }

    private static List<Long> range(long first, int count) {
        return LongStream.range(first, first + count).boxed().toList();
    }

    private static List<Long> revisions(WatchClient watch, long id) {
        return watch.received().stream()
                .filter(response -> response.getWatchId() == id)
                .flatMap(response -> response.getEventsList().stream())
                .map(event -> event.getKv().getModRevision())
                .toList();
    }

    private static long lastOf(WatchResponse response) {
        return response.getEvents(response.getEventsCount() - 1).getKv().getModRevision();
    }

    private static boolean isCompacted(WatchClient watch, long id) {
        return watch.received().stream()
                .anyMatch(response -> response.getWatchId() == id && response.getCompactRevision() > 0);
    }

    private static boolean isProgress(WatchResponse response) {
        return response.getEventsCount() == 0 && !response.getCreated() && !response.getCanceled();
    }
}
