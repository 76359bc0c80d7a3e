package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.junit.EtcdExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random scripts of writes, compactions and requests to several watch streams, played to etcd and to a gateway that follows
 * it: both give the same answers, events and progress. Only the grouping of revisions into responses may differ. A gateway
 * keeps some commits that its source has compacted, so no script reads those.
 *
 * <p>{@code -Dunderstudy.seed=…} repeats the script that failed, {@code -Dunderstudy.scripts=…} plays more.
 *
 * <p>Tests invariant V5.
 */
@Timeout(1_800)
@Tag("schedules")
final class WatchDifferenceIT {

    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int SCRIPTS = Integer.getInteger("understudy.scripts", LONG ? 2_000 : 25);
    private static final int STREAMS = 4;
    private static final int PHASES = 5;
    private static final int REQUESTS = 8;
    private static final int WRITES = 8;

    /** The gateway's window, small enough that scripts start watchers before it. */
    private static final int WINDOW = 12;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    /** All events of a script, as watched through etcd and through each connection of the gateway. */
    private static final class Everything implements AutoCloseable {
        private final List<WatchClient> watching = new ArrayList<>();
        private final List<Event> history = new ArrayList<>();
        private int read;

        Everything(List<ManagedChannel> channels, long from) {
            for (ManagedChannel channel : channels) {
                // Watchers with previous values may receive events later.
                for (boolean previous : new boolean[] {false, true}) {
                    WatchClient watch = new WatchClient(channel);
                    watch.send(WatchRequests.create(
                            "", "\0", create -> create.setStartRevision(from).setPrevKv(previous)));
                    watching.add(watch);
                }
            }
        }

        void awaitRevision(long revision) {
            for (WatchClient watch : watching) {
                if (lastRevision(watch) < revision) {
                    await().atMost(Duration.ofSeconds(20))
                            .pollDelay(Duration.ZERO)
                            .pollInterval(Duration.ofMillis(1))
                            .until(() -> lastRevision(watch) >= revision);
                }
            }
            List<WatchResponse> responses = watching.get(0).received();
            for (; read < responses.size(); read++) {
                history.addAll(responses.get(read).getEventsList());
            }
        }

        private static long lastRevision(WatchClient watch) {
            List<WatchResponse> responses = watch.received();
            List<Event> last = responses.isEmpty()
                    ? List.of()
                    : responses.get(responses.size() - 1).getEventsList();
            return last.isEmpty() ? 0 : last.get(last.size() - 1).getKv().getModRevision();
        }

        @Override
        public void close() {
            watching.forEach(WatchClient::close);
        }
    }

    /** One script, starting with an empty store. */
    private static final class Script implements AutoCloseable {
        private final Random random;
        private final RandomWatches watches;
        private final ManagedChannel etcd;
        private final GatewayFixture gateway;
        private final Everything everything;
        private final List<ScriptedStream> streams = new ArrayList<>();
        private final List<String> steps = new ArrayList<>();
        private final long first;
        private long now;
        private long compactRevision;

        Script(long seed, ManagedChannel etcd, GatewayFixture gateway, List<ManagedChannel> connections) {
            this.random = new Random(seed);
            this.watches = new RandomWatches(random);
            this.etcd = etcd;
            this.gateway = gateway;
            first = emptied(etcd);
            now = first;
            List<ManagedChannel> all = new ArrayList<>(List.of(etcd));
            all.addAll(connections);
            everything = new Everything(all, first);
            everything.awaitRevision(first);
            for (int i = 0; i < STREAMS; i++) {
                streams.add(new ScriptedStream(
                        i, etcd, connections.get(i % connections.size()), everything.history, steps));
            }
        }

        void play() {
            for (int phase = 0; phase < PHASES; phase++) {
                write();
                if (random.nextInt(3) == 0) {
                    compact();
                }
                for (int i = 0; i < REQUESTS; i++) {
                    request(streams.get(random.nextInt(STREAMS)));
                }
            }
            write();
            streams.forEach(ScriptedStream::assertSame);
        }

        private void write() {
            for (int i = random.nextInt(WRITES); i > 0; i--) {
                now = Math.max(now, watches.write(etcd));
                steps.add("written up to " + now);
            }
            everything.awaitRevision(now);
        }

        private void compact() {
            long revision = Math.max(first, now - random.nextInt(WINDOW));
            if (revision > compactRevision) {
                awaitCaughtUp();
                compactRevision = revision;
                steps.add("compacted up to " + revision);
                var unused = GatewayFixture.kv(etcd)
                        .compact(CompactionRequest.newBuilder()
                                .setRevision(revision)
                                .build());
            }
        }

        private void request(ScriptedStream stream) {
            switch (random.nextInt(8)) {
                case 0, 1 -> stream.cancel(watches.id(stream.ids()));
                case 2, 3 -> {
                    if (stream.mayCatchUp()) {
                        awaitCaughtUp();
                    }
                    stream.requestProgress(now);
                }
                default -> {
                    long gone = Math.min(compactRevision, now - WINDOW) - 1;
                    var starts = new RandomWatches.Starts(gone, Math.max(first, compactRevision), now);
                    stream.create(watches.create(starts, stream.ids()), now, compactRevision);
                }
            }
        }

        /** Watchers that start in the past receive the remaining events at the next turn of unsynced watchers. */
        private void awaitCaughtUp() {
            streams.forEach(ScriptedStream::settle);
            try (WatchClient last = new WatchClient(etcd)) {
                last.send(WatchRequests.create("", "\0", create -> create.setStartRevision(now)));
                WatchIT.awaitResponses(last, 2);
            }
            await().atMost(PATIENCE).pollDelay(Duration.ZERO).until(() -> gateway.page("/metrics")
                    .body()
                    .contains("understudy_gateway_watchers{process=\"gateway\",state=\"behind\"} 0.0"));
            streams.forEach(ScriptedStream::caughtUp);
        }

        /** Describes a failed script. */
        @Override
        public String toString() {
            return String.join("\n", steps)
                    + streams.stream().map(stream -> "\n\n" + stream).collect(Collectors.joining());
        }

        private static long emptied(ManagedChannel etcd) {
            var kv = GatewayFixture.kv(etcd);
            var unused = kv.deleteRange(DeleteRangeRequest.newBuilder()
                    .setKey(GatewayFixture.ZERO)
                    .setRangeEnd(GatewayFixture.ZERO)
                    .build());
            return kv.put(WatchIT.request("first", "")).getHeader().getRevision();
        }

        @Override
        public void close() {
            streams.forEach(ScriptedStream::close);
            everything.close();
        }
    }

    @Test
    void streamsDeliverTheResponsesOfEtcd() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        GatewaySettings settings =
                GatewayFixture.settings(SOURCE.cluster()).with(ReplicaSettings.DEFAULTS.withWindowRevisions(WINDOW));
        var url = SOURCE.cluster().clientUrls().get(0);
        ManagedChannel etcd = GatewayFixture.channel(url.getHost(), url.getPort());
        try (GatewayFixture gateway = new GatewayFixture(settings)) {
            gateway.awaitReady();
            ManagedChannel other = GatewayFixture.channel("127.0.0.1", gateway.gateway.apiPort());
            try {
                for (int i = 0; i < SCRIPTS; i++) {
                    play(seed + i, etcd, gateway, List.of(gateway.channel(), other));
                }
            } finally {
                other.shutdownNow();
            }
        } finally {
            etcd.shutdownNow();
        }
    }

    private static void play(long seed, ManagedChannel etcd, GatewayFixture gateway, List<ManagedChannel> connections) {
        try (Script script = new Script(seed, etcd, gateway, connections)) {
            try {
                script.play();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("script " + seed + ": " + e.getMessage() + "\n" + script, e);
            }
        }
    }
}
