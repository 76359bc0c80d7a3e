package io.understudy.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What happens to watchers on one loop, step by step. */
final class WatchHubTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final HubSource source = new HubSource();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final WatchHub hub =
            new WatchHub(HubSettings.DEFAULTS, source.log(), source, source, new SimpleMeterRegistry());
    private final LoopHub loop = hub.on(tasks::add);

    @AfterEach
    void close() {
        hub.close();
    }

    @Test
    void whoGoesOnWithOthersThatAreFurtherBehindIsNotEndedForWhatOnlyTheyMiss() {
        // given two that wait together to learn how keys stood before
        source.knowPrevious(false);
        commits(20);
        RecordingWatcher behind = watch(2, true);
        RecordingWatcher ahead = watch(15, true);
        run();
        // when what the first one wants is gone
        source.forget(source.revision());
        source.compact(10);
        loop.turn();
        // then it alone is ended
        await().atMost(PATIENCE).untilAsserted(() -> {
            run();
            assertThat(behind.compacted()).isEqualTo(10);
            assertThat(ahead.told()).isEqualTo(source.events(15));
        });
        assertThat(ahead.compacted()).isNull();
        assertThat(behind.told()).isEmpty();
    }

    @Test
    void whoComesWhileHistoryIsReadAndWantsWhatWasReadAlreadyIsToldToo() {
        // given a reading of history that goes on for one who has come half of the way
        commits(20);
        source.forget(source.revision());
        RecordingWatcher first = watch(2, false);
        RecordingWatcher halfWay = watch(10, true);
        await().atMost(PATIENCE).untilAsserted(() -> {
            run();
            assertThat(first.told()).hasSize(20);
            assertThat(hub.catchUps().covering(2)).isNull();
            assertThat(hub.catchUps().covering(9)).isNotNull();
        });
        assertThat(halfWay.told()).isEmpty();
        // when another wants what that has left behind
        RecordingWatcher late = watch(3, false);
        // then both are told
        await().atMost(PATIENCE).untilAsserted(() -> {
            source.teach();
            run();
            assertThat(halfWay.told()).isEqualTo(source.events(10));
            assertThat(late.told()).hasSize(19);
        });
    }

    @Test
    void whoWantsKeysAsTheyStoodBeforeStandsWhereItWasToldAndOthersDont() {
        Watcher plain = loop.add(spec(0, false), new RecordingWatcher());
        Watcher withPrevious = loop.add(spec(0, true), new RecordingWatcher());
        source.knowPrevious(false);
        commits(1);

        assertThat(plain.revision()).isEqualTo(source.revision());
        assertThat(withPrevious.revision()).isEqualTo(source.revision() - 1);

        source.teach();
        run();
        assertThat(withPrevious.revision()).isEqualTo(source.revision());
    }

    private RecordingWatcher watch(long start, boolean previous) {
        RecordingWatcher recorder = new RecordingWatcher();
        Watcher unused = loop.add(spec(start, previous), recorder);
        return recorder;
    }

    private static WatchSpec spec(long start, boolean previous) {
        return new WatchSpec(KeyRange.all(), start, previous, false, false);
    }

    private void commits(int count) {
        for (int i = 0; i < count; i++) {
            source.commit(Map.of("key", Long.toString(source.revision())));
        }
        hub.moved();
        run();
    }

    private void run() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }
}
