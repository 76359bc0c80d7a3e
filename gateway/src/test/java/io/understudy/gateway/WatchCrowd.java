package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.Event;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Watchers on a few connections, and checks of their deliveries. */
final class WatchCrowd implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(1);
    private final List<ManagedChannel> connections;
    private final List<ResumingStream> streams = new ArrayList<>();
    /** Shared instances, as most events are delivered to many watchers. */
    private final Map<Event, Event> events = new ConcurrentHashMap<>();

    WatchCrowd(int port, int connections) {
        this.connections = IntStream.range(0, connections)
                .mapToObj(number -> GatewayFixture.channel("127.0.0.1", port))
                .toList();
    }

    /** Opens a stream on the next connection in turn. */
    void open(List<WatchRecord> watchers) {
        ManagedChannel connection = connections.get(streams.size() % connections.size());
        streams.add(new ResumingStream(connection, scheduler, watchers, this::shared).open());
    }

    WatchRecord first() {
        return streams.get(0).watchers().get(0);
    }

    int size() {
        return Math.toIntExact(watchers().count());
    }

    void requestProgress() {
        streams.forEach(ResumingStream::requestProgress);
    }

    /** Waits until every watcher has begun. */
    void awaitBegun() {
        await("all have begun").atMost(PATIENCE).until(() -> watchers().allMatch(watcher -> watcher.next() > 0));
    }

    /** Waits until every watcher has received all up to that revision, and has proof of it. */
    void awaitDelivered(String when, long revision) {
        await(when + ", revision " + revision).atMost(PATIENCE).until(() -> {
            assertThatNoneIsRefused();
            // Progress is needed only where events don't prove it.
            streams.stream()
                    .filter(stream -> stream.watchers().stream().anyMatch(watcher -> watcher.next() <= revision))
                    .forEach(ResumingStream::requestProgress);
            return watchers().allMatch(watcher -> watcher.next() > revision);
        });
    }

    void assertThatNoneIsRefused() {
        assertThat(streams.stream().flatMap(stream -> stream.refusals().stream()))
                .isEmpty();
    }

    /** Each received all matching events with the guarantees of etcd. */
    void assertFaithful(CommitTruth truth, String seed) {
        assertThatNoneIsRefused();
        for (ResumingStream stream : streams) {
            for (WatchRecord watcher : stream.watchers()) {
                assertThat(WatchGuarantees.violations(watcher, truth))
                        .as("%s after %d streams, %s", watcher.selection(), stream.attempts(), seed)
                        .isEmpty();
            }
        }
    }

    private Event shared(Event event) {
        Event known = events.putIfAbsent(event, event);
        return known == null ? event : known;
    }

    private Stream<WatchRecord> watchers() {
        return streams.stream().flatMap(stream -> stream.watchers().stream());
    }

    @Override
    public void close() {
        streams.forEach(ResumingStream::close);
        connections.forEach(ManagedChannel::shutdownNow);
        scheduler.shutdownNow();
    }
}
