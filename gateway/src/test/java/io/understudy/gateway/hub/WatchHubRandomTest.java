package io.understudy.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.replica.KeptVersions;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random watchers, commits, stalls and compactions on two loops: each watcher receives every matching event from its
 * start on, once and in order, or ends as compacted.
 *
 * <p>Tests invariant V1.
 */
final class WatchHubRandomTest {

    private static final List<String> KEYS = List.of("a", "a/1", "a/2", "b", "b/1", "c");

    private final Random random = new Random();
    private final HubSource source = new HubSource();
    private final List<Loop> loops = List.of(new Loop(), new Loop());
    private final WatchHub hub = new WatchHub(
            HubSettings.DEFAULTS,
            source.log(),
            new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
            source,
            source,
            new SimpleMeterRegistry());
    private final List<Live> watchers = new ArrayList<>();
    private long mayBeCompacted;

    /** Runs its tasks when the test calls {@code run}. */
    private static final class Loop implements Executor {
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void run(int most) {
            for (int i = 0; i < most; i++) {
                Runnable task = tasks.poll();
                if (task == null) {
                    return;
                }
                task.run();
            }
        }
    }

    private record Live(Watcher watcher, RecordingWatcher recorder, long start, Loop loop) {}

    static List<Long> seeds() {
        long first = System.nanoTime();
        return LongStream.range(first, first + 150).boxed().toList();
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void watchersReceiveEveryMatchingEventOnceInOrder(long seed) {
        random.setSeed(seed);
        try (hub) {
            int steps = 20 + random.nextInt(300);
            for (int i = 0; i < steps; i++) {
                step();
            }
            comeToRest();
            for (Live live : watchers) {
                assertReceived(live);
            }
        }
    }

    private void step() {
        switch (random.nextInt(14)) {
            case 0, 1, 2, 3 -> {
                source.commit(changes());
                hub.wake();
            }
            case 4 -> {
                source.elsewhere();
                hub.wake();
            }
            case 5 -> source.forget(source.revision() - random.nextInt(30));
            case 6 -> {
                if (random.nextInt(4) == 0) {
                    source.beginAgain();
                    hub.wake();
                }
            }
            case 7 -> {
                if (random.nextInt(4) == 0) {
                    mayBeCompacted = Math.max(mayBeCompacted, source.revision() - random.nextInt(10));
                    source.compact(mayBeCompacted);
                }
            }
            case 8, 9 -> watch();
            case 10 ->
                someWatcher(live -> live.recorder().ready(!live.recorder().isReady()));
            case 11 ->
                someWatcher(live -> {
                    live.recorder().ready(true);
                    live.watcher().resume();
                });
            case 12 -> source.includePrevious(random.nextBoolean());
            default -> {
                source.teach();
                loops.forEach(loop -> loop.run(random.nextInt(4)));
            }
        }
    }

    private void watch() {
        Loop loop = loops.get(random.nextInt(loops.size()));
        LoopHub here = hub.on(loop);
        here.turn();
        long start = random.nextInt(3) == 0 ? 0 : Math.max(1, source.revision() + 3 - random.nextInt(40));
        WatchSpec spec =
                new WatchSpec(range(), start, random.nextInt(3) == 0, random.nextInt(5) == 0, random.nextInt(5) == 0);
        RecordingWatcher recorder = new RecordingWatcher();
        Watcher watcher = here.add(spec, recorder);
        long first = start == 0 ? revisionOf(here, spec) + 1 : start;
        watchers.add(new Live(watcher, recorder, first, loop));
    }

    /** The revision after which a watcher with start 0 begins. */
    private static long revisionOf(LoopHub loop, WatchSpec spec) {
        return loop.revision(spec.previous());
    }

    private KeyRange range() {
        ByteString key = ByteString.copyFromUtf8(KEYS.get(random.nextInt(KEYS.size())));
        return switch (random.nextInt(4)) {
            case 0 -> KeyRange.all();
            case 1 -> KeyRange.prefix(key);
            case 2 -> KeyRange.fromKey(key);
            default -> KeyRange.single(key);
        };
    }

    private Map<String, @Nullable String> changes() {
        Map<String, @Nullable String> values = new HashMap<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            values.put(
                    KEYS.get(random.nextInt(KEYS.size())),
                    random.nextInt(3) == 0 ? null : Integer.toString(random.nextInt(100)));
        }
        return values;
    }

    private void someWatcher(Consumer<Live> what) {
        if (!watchers.isEmpty()) {
            what.accept(watchers.get(random.nextInt(watchers.size())));
        }
    }

    private void comeToRest() {
        for (Live live : watchers) {
            live.recorder().ready(true);
            live.watcher().resume();
        }
        hub.wake();
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(1))
                .untilAsserted(() -> {
                    source.teach();
                    loops.forEach(loop -> loop.run(1000));
                    assertThat(watchers)
                            .allSatisfy(live -> assertThat(isAtRest(live)).isTrue());
                });
    }

    private boolean isAtRest(Live live) {
        boolean isCaughtUp = live.watcher().isSynced()
                && revisionOf(hub.on(live.loop()), live.watcher().spec()) == source.revision();
        return live.recorder().compacted() != null || isCaughtUp || live.start() > source.revision();
    }

    private void assertReceived(Live live) {
        WatchSpec spec = live.watcher().spec();
        List<WatchEvent> expected = new ArrayList<>();
        for (WatchEvent event : source.events(live.start())) {
            if (spec.range().contains(event.entry().key()) && !(event.isDelete() ? spec.noDeletes() : spec.noPuts())) {
                expected.add(spec.previous() ? event : new WatchEvent(event.entry(), null));
            }
        }
        List<WatchEvent> received = live.recorder().events();
        if (live.recorder().compacted() == null) {
            assertThat(received).as("of %s from %s", spec, live.start()).isEqualTo(expected);
        } else {
            assertThat(live.recorder().compacted()).isLessThanOrEqualTo(mayBeCompacted);
            assertThat(received).isEqualTo(expected.subList(0, received.size()));
        }
        for (int i = 0; i < live.recorder().batches().size(); i++) {
            List<WatchEvent> batch = live.recorder().batches().get(i);
            long last = batch.get(batch.size() - 1).entry().modRevision();
            assertThat(live.recorder().headers().get(i)).isGreaterThanOrEqualTo(last);
            if (i > 0) {
                List<WatchEvent> before = live.recorder().batches().get(i - 1);
                assertThat(batch.get(0).entry().modRevision())
                        .as("a commit is never split")
                        .isGreaterThan(before.get(before.size() - 1).entry().modRevision());
            }
        }
    }
}
