package io.understudy.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.replica.KeptVersions;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The gauge counts current watchers, with or without commits. */
final class WatcherCountTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final HubSource source = new HubSource();

    @Test
    void cancelledWatchersAreNotCounted() {
        try (WatchHub hub = new WatchHub(
                HubSettings.DEFAULTS,
                source.log(),
                new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
                source,
                source,
                registry)) {
            LoopHub loop = hub.on(tasks::add);
            loop.turn();
            List<Watcher> watchers = Stream.of(0L, source.revision() + 5)
                    .map(start ->
                            new WatchSpec(KeyRange.single(ByteString.copyFromUtf8("key")), start, false, false, false))
                    .map(spec -> loop.add(spec, new RecordingWatcher()))
                    .toList();
            runTasks();
            assertThat(counted()).isEqualTo(2);

            watchers.forEach(Watcher::cancel);
            runTasks();

            assertThat(counted()).isZero();
        }
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    private double counted() {
        return registry.find("understudy.gateway.watchers").gauges().stream()
                .mapToDouble(Gauge::value)
                .sum();
    }
}
