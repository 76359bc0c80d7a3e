package io.understudy.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.KeptVersions;
import io.understudy.gateway.replica.LoggedCommit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Cases that random schedules reach too rarely.
 *
 * <p>Tests invariants V2, V3.
 */
final class WatchHubTest {

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final HubSource source = new HubSource();
    private final WatchHub hub = new WatchHub(
            HubSettings.DEFAULTS,
            source.log(),
            new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
            source,
            source,
            new SimpleMeterRegistry());
    private final LoopHub loop = hub.on(tasks::add);

    @AfterEach
    void close() {
        hub.close();
    }

    @Test
    void aFailedDeliveryCancelsOnlyThatWatcher() {
        RecordingWatcher broken = new RecordingWatcher();
        RecordingWatcher before = new RecordingWatcher();
        RecordingWatcher after = new RecordingWatcher();
        loop.turn();
        watch(0, before);
        watch(0, broken);
        watch(0, after);
        broken.breaks();

        commits(3);

        await().untilAsserted(() -> {
            runTasks();
            assertThat(broken.failure()).hasMessage("delivery failed");
            assertThat(before.events()).hasSize(3);
            assertThat(after.events()).hasSize(3);
        });
        assertThat(broken.events()).isEmpty();
    }

    @Test
    void commitsThatAReadingHasDroppedAreServedByTheNext() {
        commits(20_000);
        source.forget(19_500);
        loop.turn();
        RecordingWatcher first = new RecordingWatcher();
        Watcher far = watch(101, first);
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(1))
                .until(() -> {
                    runTasks();
                    return first.events().size() > 3000;
                });

        RecordingWatcher late = new RecordingWatcher();
        RecordingWatcher lateFromTheBeginning = new RecordingWatcher();
        watch(201, late);
        watch(51, lateFromTheBeginning);

        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(1))
                .untilAsserted(() -> {
                    runTasks();
                    assertThat(first.events()).hasSize(20_001 - 100);
                    assertThat(late.events()).hasSize(20_001 - 200);
                    assertThat(lateFromTheBeginning.events()).hasSize(20_001 - 50);
                });
        assertThat(far.isSynced()).isTrue();
    }

    /** As a client with a small flow-control window. */
    @Test
    void aReadingWaitsForWatchersThatAreUnreadyAfterEachBatch() {
        commits(20_000);
        source.forget(19_500);
        loop.turn();
        RecordingWatcher unready = new RecordingWatcher();
        Watcher watcher = watch(101, unready);
        AtomicLong parkedNanos = new AtomicLong(System.nanoTime());
        // On a machine that is too busy, a reading need not wait.
        AtomicInteger late = new AtomicInteger();
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(1))
                .until(() -> {
                    unready.ready(true);
                    watcher.resume();
                    runTasks(2);
                    if (System.nanoTime() - parkedNanos.get() > 900_000_000) {
                        late.incrementAndGet();
                    }
                    unready.ready(false);
                    parkedNanos.set(System.nanoTime());
                    runTasks();
                    return unready.events().size() == 20_001 - 100;
                });
        assertThat(source.readings()).isLessThanOrEqualTo(1 + late.get());
    }

    @Test
    void whenRevisionsBeginAgainEveryWatcherEndsAsCompacted() {
        commits(10);
        loop.turn();
        source.forget(5);
        RecordingWatcher live = new RecordingWatcher();
        RecordingWatcher slow = new RecordingWatcher();
        RecordingWatcher behind = new RecordingWatcher();
        RecordingWatcher ahead = new RecordingWatcher();
        watch(0, live);
        Watcher parked = watch(0, slow);
        watch(2, behind);
        watch(100, ahead);
        slow.ready(false);
        commits(1);
        loop.turn();

        restart(20, 4);
        assertThat(List.of(live, slow, behind, ahead))
                .allSatisfy(each -> assertThat(each.compacted()).isEqualTo(4));
        slow.ready(true);
        parked.resume();
        parked.cancel();

        source.log().begin(6);
        loop.turn();
        RecordingWatcher next = new RecordingWatcher();
        RecordingWatcher former = new RecordingWatcher();
        RecordingWatcher future = new RecordingWatcher();
        watch(7, next);
        watch(21, former);
        watch(22, future);
        runTasks();
        assertThat(former.compacted()).isEqualTo(7);
        assertThat(next.compacted()).isNull();
        assertThat(future.compacted()).isNull();
        assertThat(List.of(live, slow, behind, ahead))
                .allSatisfy(each -> assertThat(each.failure()).isNull());
    }

    @Test
    void aWatcherThatEndsAsCompactedMayCancelAnotherOfItsRange() {
        commits(10);
        source.forget(10);
        source.compact(8);
        loop.turn();
        List<RecordingWatcher> recorders = recorders(4);
        // No history is read before all are there.
        synchronized (source) {
            List<Watcher> watchers =
                    recorders.stream().map(recorder -> watch(2, recorder)).toList();
            for (int i = 0; i < 4; i++) {
                recorders.get(i).whenCompacted(watchers.get((i + 2) % 4)::cancel);
            }
        }

        awaitThat(() -> assertThat(recorders)
                .filteredOn(each -> each.compacted() != null)
                .hasSize(2)
                .allSatisfy(each -> assertThat(each.compacted()).isEqualTo(8)));
        assertThat(loop.counts()).isEqualTo(new LoopHub.Counts(0, 0, 0, 0));
    }

    @Test
    void aWatcherThatEndsAtARestartMayCancelAllOthers() {
        commits(10);
        loop.turn();
        source.forget(5);
        List<RecordingWatcher> recorders = recorders(6);
        Watcher parked = watch(0, recorders.get(0));
        recorders.get(0).ready(false);
        commits(1);
        loop.turn();
        assertThat(parked.state()).isEqualTo(Watcher.State.PARKED);
        List<Watcher> watchers = List.of(
                parked,
                watch(0, recorders.get(1)),
                watch(0, recorders.get(2)),
                watch(2, recorders.get(3)),
                watch(100, recorders.get(4)),
                watch(100, recorders.get(5)));
        recorders.forEach(each -> each.whenCompacted(() -> watchers.forEach(Watcher::cancel)));

        restart(20, 4);
        assertThat(recorders).filteredOn(each -> each.compacted() != null).hasSize(1);
        assertThat(recorders).allSatisfy(each -> assertThat(each.failure()).isNull());
        assertThat(loop.counts()).isEqualTo(new LoopHub.Counts(0, 0, 0, 0));
    }

    @Test
    void aWatcherOfAnAmbiguousRevisionMayCancelAnother() {
        commits(5);
        restart(20, 4);
        source.log().begin(6);
        loop.turn();
        List<RecordingWatcher> recorders = recorders(2);
        List<Watcher> watchers = new ArrayList<>();
        recorders.forEach(each -> each.whenCompacted(() -> watchers.forEach(Watcher::cancel)));
        addTogether(loop, () -> recorders.forEach(each -> watchers.add(watch(15, each))));
        commits(1);

        runTasks();
        assertThat(recorders).filteredOn(each -> each.compacted() != null).hasSize(1);
        assertThat(loop.counts()).isEqualTo(new LoopHub.Counts(1, 0, 0, 0));
    }

    @Test
    void aTaskThatComesWhileWatchersEndRunsEvenAtTheSameRevision() {
        commits(10);
        loop.turn();
        List<Long> ranAt = new ArrayList<>();
        RecordingWatcher live = new RecordingWatcher();
        live.whenCompacted(() -> {
            Runnable unused = loop.whenAt(0, false, () -> ranAt.add(loop.revision(false)));
        });
        watch(0, live);
        runTasks();
        long revision = loop.revision(false);

        restart(20, 4);
        source.log().begin(revision);
        loop.turn();

        assertThat(ranAt).containsExactly(revision);
    }

    /** As in etcd, it keeps its ID until then, and so some memory. */
    @Test
    void aCompactedWatcherHasItsPlaceUntilItIsCancelled() {
        commits(10);
        source.forget(10);
        source.compact(8);
        try (WatchHub small = new WatchHub(
                new HubSettings(1, 1, 1, Duration.ofMinutes(10), Duration.ofSeconds(3), 64 << 10),
                source.log(),
                new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
                source,
                source,
                new SimpleMeterRegistry())) {
            LoopHub watchers = small.on(tasks::add);
            watchers.turn();
            RecordingWatcher recorder = new RecordingWatcher();
            Watcher ended = watchers.add(new WatchSpec(KeyRange.all(), 2, false, false, false), recorder);
            awaitThat(() -> assertThat(recorder.compacted()).isEqualTo(8));
            assertThat(small.hasRoom()).isFalse();
            ended.cancel();
            assertThat(small.hasRoom()).isTrue();
            ended.cancel();
            assertThat(small.hasRoom()).isTrue();
        }
    }

    @Test
    void thousandsOfWatchersWaitForARevisionAndStartThere() {
        List<RecordingWatcher> recorders = new ArrayList<>();
        loop.turn();
        for (int i = 0; i < 20_000; i++) {
            Runnable unused = loop.whenAt(2, false, () -> {
                RecordingWatcher recorder = new RecordingWatcher();
                recorders.add(recorder);
                watch(0, recorder);
            });
        }

        commits(1);
        runTasks();
        commits(1);
        runTasks();

        assertThat(recorders).hasSize(20_000).allSatisfy(each -> assertThat(each.events())
                .hasSize(1));
    }

    /** A step for each of the others per watcher would take minutes. */
    @Test
    @Timeout(60)
    void manyWatchersResumeAtRevisionsOfTheirOwn() {
        int count = 100_000;
        CommitLog log = new CommitLog();
        log.begin(2L * count);
        CountDownLatch closed = new CountDownLatch(1);
        try (WatchHub many = new WatchHub(
                HubSettings.DEFAULTS,
                log,
                new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
                (from, previous) -> new SilentReading(closed),
                source,
                new SimpleMeterRegistry())) {
            LoopHub watchers = many.on(tasks::add);
            watchers.turn();
            RecordingWatcher recorder = new RecordingWatcher();
            for (int i = 0; i < count; i++) {
                Watcher unused = watchers.add(new WatchSpec(KeyRange.all(), i + 1, false, false, false), recorder);
                runTasks();
            }
            assertThat(watchers.counts().behind()).isEqualTo(count);
        }
    }

    /** Has no commits yet. */
    private record SilentReading(CountDownLatch closed) implements CommitHistory.Reading {
        @Override
        public CommitHistory.@Nullable Step next(Duration timeout) throws InterruptedException {
            boolean unused = closed.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return null;
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    @Test
    void headersNeverGoBackWhenABatchIsFull() {
        loop.turn();
        RecordingWatcher recorder = new RecordingWatcher();
        watch(0, recorder);

        commits(2_001);
        await().untilAsserted(() -> {
            runTasks();
            assertThat(recorder.events()).hasSize(2_001);
        });

        assertThat(recorder.headers()).isSorted();
        assertThat(recorder.headers().get(0)).isEqualTo(1 + 1_000);
    }

    @Test
    void aShortLagDoesNotWaitForALongOne() {
        loop.turn();
        RecordingWatcher slow = new RecordingWatcher();
        Watcher parked = watch(0, slow);
        commits(10_000);
        runTasks();
        slow.ready(false);
        commits(5);
        runTasks();
        RecordingWatcher deep = new RecordingWatcher();
        watch(2, deep);

        slow.ready(true);
        parked.resume();
        while (slow.events().size() < 10_005) {
            runTasks(1);
        }

        assertThat(deep.events().size()).isLessThan(9_000);
    }

    @Test
    void aCommitTooLargeWithPreviousEntriesEndsOnlyWatchersThatWantThem() {
        commits(3);
        source.large();
        commits(3);
        long head = source.revision();
        source.forget(head);
        loop.turn();
        RecordingWatcher ended = new RecordingWatcher();
        RecordingWatcher behindIt = new RecordingWatcher();
        RecordingWatcher plain = new RecordingWatcher();

        watch(2, true, ended);
        watch(5, true, behindIt);
        watch(2, plain);

        awaitThat(() -> {
            assertThat(ended.compacted()).isEqualTo(5);
            assertThat(plain.events()).hasSize((int) head - 1);
            assertThat(behindIt.events()).isEqualTo(source.events(5));
        });
        RecordingWatcher endedToo = new RecordingWatcher();
        RecordingWatcher plainToo = new RecordingWatcher();
        watch(2, plainToo);
        watch(3, true, endedToo);
        awaitThat(() -> {
            assertThat(endedToo.compacted()).isEqualTo(5);
            assertThat(plainToo.events()).hasSize((int) head - 1);
        });
        assertThat(endedToo.events()).isEmpty();
    }

    @Test
    void rejectedPreviousValuesEndOnlyWatchersThatNeedThem() {
        commits(2);
        source.includePrevious(false);
        loop.turn();
        RecordingWatcher ended = new RecordingWatcher();
        RecordingWatcher other = new RecordingWatcher();
        RecordingWatcher plain = new RecordingWatcher();
        watch(0, true, ended);
        loop.add(new WatchSpec(KeyRange.single(ByteString.copyFromUtf8("other")), 0, true, false, false), other);
        watch(0, plain);
        source.commit(Map.of("again", "1"));
        source.commit(Map.of("again", "2"));
        hub.wake();
        runTasks();
        source.refuse(new CancellationException());
        runTasks();
        assertThat(ended.failure()).isNull();

        // Read again after a pause.
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            runTasks();
            source.refuse(new IllegalStateException("permission denied"));
            runTasks();
            assertThat(ended.failure())
                    .hasMessage("cannot read previous values of revision " + source.revision() + ": permission denied");
        });
        source.includePrevious(true);
        source.commit(Map.of("other", "1"));
        hub.wake();
        runTasks();
        assertThat(other.events()).hasSize(1);
        assertThat(plain.events()).hasSize(3);
    }

    /** As those of a source that is just replaced. */
    @Test
    void previousValuesThatCannotBeRequestedAreRequestedAgain() {
        commits(2);
        source.includePrevious(false);
        AtomicBoolean rejected = new AtomicBoolean();
        try (WatchHub retrying = new WatchHub(
                HubSettings.DEFAULTS,
                source.log(),
                new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
                source,
                commit -> {
                    if (rejected.compareAndSet(false, true)) {
                        throw new RejectedExecutionException("closed");
                    }
                    return source.learn(commit);
                },
                new SimpleMeterRegistry())) {
            LoopHub watchers = retrying.on(tasks::add);
            watchers.turn();
            RecordingWatcher recorder = new RecordingWatcher();
            Watcher unused = watchers.add(new WatchSpec(KeyRange.all(), 0, true, false, false), recorder);
            source.commit(Map.of("again", "1"));
            source.commit(Map.of("again", "2"));
            retrying.wake();
            awaitThat(() -> assertThat(recorder.events()).hasSize(2));
            assertThat(rejected).isTrue();
        }
    }

    @Test
    void previousValuesTooLargeEndWatchersThatNeedThemAsCompacted() {
        source.includePrevious(false);
        loop.turn();
        RecordingWatcher ended = new RecordingWatcher();
        RecordingWatcher other = new RecordingWatcher();
        RecordingWatcher plain = new RecordingWatcher();
        source.commit(Map.of("again", "1"));
        hub.wake();
        runTasks();
        watch(0, true, ended);
        loop.add(new WatchSpec(KeyRange.single(ByteString.copyFromUtf8("other")), 0, true, false, false), other);
        watch(0, plain);
        source.commit(Map.of("again", "2"));
        long large = source.revision();
        hub.wake();
        loop.turn();

        source.refuse(CommitHistory.CompactedException.hole("too large", large + 1, true));
        runTasks();

        assertThat(ended.compacted()).isEqualTo(large + 1);
        assertThat(ended.failure()).isNull();
        source.commit(Map.of("other", "1"));
        hub.wake();
        runTasks();
        assertThat(other.events()).hasSize(1);
        assertThat(plain.events()).hasSize(2);
    }

    @Test
    void aCommitTooLargeEndsNoWatcherBeforeItHasCommitsUpToThere() {
        commits(50);
        source.hole();
        long hole = source.revision();
        commits(3);
        source.forget(source.revision());
        loop.turn();
        RecordingWatcher near = new RecordingWatcher();
        RecordingWatcher far = new RecordingWatcher();
        RecordingWatcher behindIt = new RecordingWatcher();
        watch(hole - 1, near);
        awaitThat(() -> assertThat(near.compacted()).isEqualTo(hole + 1));

        watch(2, far);
        watch(hole + 1, behindIt);

        awaitThat(() -> {
            assertThat(far.compacted()).isEqualTo(hole + 1);
            assertThat(behindIt.events()).hasSize(3);
        });
        assertThat(far.events()).hasSize((int) hole - 2);
    }

    @Test
    void aWatcherThatCannotReadPreviousEntriesEndsWhileOthersWaitAtAHole() {
        commits(3);
        source.large();
        long large = source.revision();
        commits(1);
        source.hole();
        commits(3);
        source.forget(source.revision());
        LoopHub other = hub.on(task -> tasks.add(task));
        loop.turn();
        other.turn();
        RecordingWatcher first = new RecordingWatcher();
        watch(2, true, first);
        awaitThat(() -> assertThat(first.compacted()).isEqualTo(large + 1));
        RecordingWatcher plain = new RecordingWatcher();
        watch(2, plain);
        // Its event loop does not run before the other watcher is added.
        await().until(() -> hub.catchUps().compacted(large, false).next() == large + 2);
        RecordingWatcher ended = new RecordingWatcher();
        other.add(new WatchSpec(KeyRange.all(), 2, true, false, false), ended);
        awaitThat(() -> {
            assertThat(plain.compacted()).isEqualTo(large + 2);
            assertThat(ended.compacted()).isEqualTo(large + 1);
        });
        assertThat(plain.events()).hasSize(3);
        RecordingWatcher behindThem = new RecordingWatcher();
        watch(large + 2, behindThem);
        awaitThat(() -> assertThat(behindThem.events()).hasSize(3));
    }

    @Test
    void watchersOfUnservedCommitsEndWithTheCause() {
        commits(10);
        source.unreadable();
        long served = source.revision() - 1;
        commits(3);
        source.forget(source.revision());
        loop.turn();
        RecordingWatcher ended = new RecordingWatcher();
        RecordingWatcher live = new RecordingWatcher();
        watch(2, ended);
        watch(0, live);

        awaitThat(() -> assertThat(ended.failure()).hasMessage("cannot read the history: rejected for good"));

        assertThat(ended.events()).hasSize((int) served - 1);
        commits(1);
        awaitThat(() -> assertThat(live.events()).hasSize(1));
    }

    /** One deletion may name all keys, and their values are most of the heap. */
    @Test
    void aDeletionOfLargeValuesEndsWatchersThatWantThemAlone() {
        CommitLog log = new CommitLog();
        log.begin(1);
        List<Entry> deleted = IntStream.range(0, 70)
                .mapToObj(i -> Entry.of(put("key-" + i, ByteString.EMPTY)))
                .toList();
        Entry large = Entry.of(put("key", ByteString.copyFrom(new byte[1 << 20])));
        RecordingWatcher plain = new RecordingWatcher();
        RecordingWatcher wanting = new RecordingWatcher();
        RecordingWatcher other = new RecordingWatcher();
        try (WatchHub here = new WatchHub(
                HubSettings.DEFAULTS,
                log,
                new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
                source,
                source,
                new SimpleMeterRegistry())) {
            LoopHub watchers = here.on(tasks::add);
            watchers.turn();
            KeyRange all = KeyRange.all();
            KeyRange few = KeyRange.prefix(ByteString.copyFromUtf8("key-1"));
            watchers.add(new WatchSpec(all, 0, false, false, false), plain);
            watchers.add(new WatchSpec(all, 0, true, false, false), wanting);
            watchers.add(new WatchSpec(few, 0, true, false, false), other);
            log.add(new LoggedCommit(new Revision(2), deleted, key -> large));
            here.wake();
            runTasks();
            assertThat(wanting.compacted()).isEqualTo(3);
            assertThat(wanting.events()).isEmpty();
            assertThat(plain.events()).hasSize(70);
            assertThat(other.events()).hasSize(11).allSatisfy(event -> assertThat(event.previous())
                    .isEqualTo(large));
            log.add(new LoggedCommit(new Revision(3), List.of(Entry.of(put("key-1", ByteString.EMPTY))), key -> null));
            here.wake();
            runTasks();
            assertThat(plain.events()).hasSize(71);
            assertThat(other.events()).hasSize(12);
        }
    }

    /** Resume points that are close are served together. */
    @Test
    void aDeletionOfLargeValuesEndsNoWatcherThatIsPastIt() {
        CommitLog log = new CommitLog();
        log.begin(1);
        Entry large = Entry.of(put("key", ByteString.copyFrom(new byte[1 << 20])));
        for (int i = 2; i <= 20; i++) {
            log.add(i == 15 ? puts(i, 70, key -> large) : puts(i, 1, key -> null));
        }
        RecordingWatcher wanting = new RecordingWatcher();
        RecordingWatcher past = new RecordingWatcher();
        try (WatchHub here = new WatchHub(
                HubSettings.DEFAULTS,
                log,
                new KeptVersions(() -> Long.MAX_VALUE, ended -> {}),
                source,
                source,
                new SimpleMeterRegistry())) {
            LoopHub watchers = here.on(tasks::add);
            watchers.turn();
            addTogether(watchers, () -> {
                watchers.add(new WatchSpec(KeyRange.all(), 10, true, false, false), wanting);
                watchers.add(new WatchSpec(KeyRange.all(), 18, true, false, false), past);
            });
            log.add(puts(21, 1, key -> null));
            here.wake();
            runTasks();
            assertThat(wanting.compacted()).isEqualTo(16);
            assertThat(past.compacted()).isNull();
            assertThat(past.events()).hasSize(4);
        }
    }

    @Test
    void rejectedPreviousValuesEndNoWatcherThatIsPastThem() {
        commits(12);
        source.includePrevious(false);
        commits(1);
        source.includePrevious(true);
        long rejected = source.revision();
        commits(5);
        loop.turn();
        KeyRange first = KeyRange.single(ByteString.copyFromUtf8("key-1"));
        RecordingWatcher wanting = new RecordingWatcher();
        RecordingWatcher other = new RecordingWatcher();
        RecordingWatcher past = new RecordingWatcher();
        addTogether(loop, () -> {
            watch(10, true, wanting);
            loop.add(new WatchSpec(first, 3, true, false, false), other);
            watch(rejected + 3, true, past);
        });
        commits(1);
        // Read again after a pause.
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            runTasks();
            source.refuse(new IllegalStateException("permission denied"));
            runTasks();
            assertThat(wanting.failure()).isNotNull();
            assertThat(past.events()).hasSize(4);
        });
        assertThat(past.failure()).isNull();
        assertThat(other.failure()).isNull();
        assertThat(other.events()).hasSize(2);
    }

    @Test
    void previousValuesThatAllWatchersArePastAreNotRead() {
        commits(12);
        source.includePrevious(false);
        commits(1);
        source.includePrevious(true);
        long unread = source.revision();
        commits(5);
        loop.turn();
        RecordingWatcher other = new RecordingWatcher();
        RecordingWatcher past = new RecordingWatcher();
        addTogether(loop, () -> {
            loop.add(new WatchSpec(KeyRange.single(ByteString.copyFromUtf8("key-1")), 3, true, false, false), other);
            watch(unread + 3, true, past);
        });
        commits(1);
        runTasks();
        assertThat(other.events()).hasSize(2);
        assertThat(past.events()).hasSize(4);
    }

    private static List<RecordingWatcher> recorders(int count) {
        return Stream.generate(RecordingWatcher::new).limit(count).toList();
    }

    private static LoggedCommit puts(long revision, int keys, Function<ByteString, @Nullable Entry> previous) {
        return new LoggedCommit(
                new Revision(revision),
                IntStream.range(0, keys)
                        .mapToObj(i -> Entry.of(new KeyValue(
                                ByteString.copyFromUtf8("key-" + i),
                                ByteString.EMPTY,
                                new Revision(1),
                                new Revision(revision),
                                2,
                                0)))
                        .toList(),
                previous);
    }

    private static KeyValue put(String key, ByteString value) {
        return new KeyValue(ByteString.copyFromUtf8(key), value, new Revision(1), new Revision(1), 2, 0);
    }

    /** Adds watchers at the next commit, within one turn: none advances before all are there. */
    private static void addTogether(LoopHub watchers, Runnable adds) {
        Watcher unused =
                watchers.add(new WatchSpec(KeyRange.all(), 0, false, false, false), new Watcher.WatcherListener() {
                    private boolean added;

                    @Override
                    public boolean ready() {
                        return true;
                    }

                    @Override
                    public void events(EventBatch batch) {
                        if (!added) {
                            added = true;
                            adds.run();
                        }
                    }

                    @Override
                    public void failed(Throwable why) {
                        throw new AssertionError(why);
                    }

                    @Override
                    public void compacted(long compactRevision) {
                        throw new AssertionError("compacted at " + compactRevision);
                    }
                });
    }

    private void restart(long seen, long compactRevision) {
        source.restart(seen);
        Thread writing = new Thread(() -> hub.restart(compactRevision));
        writing.start();
        await().until(() -> {
            runTasks();
            return !writing.isAlive();
        });
    }

    private void awaitThat(Runnable assertions) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(1))
                .untilAsserted(() -> {
                    runTasks();
                    source.teach();
                    assertions.run();
                });
    }

    private Watcher watch(long start, RecordingWatcher recorder) {
        return watch(start, false, recorder);
    }

    private Watcher watch(long start, boolean previous, RecordingWatcher recorder) {
        return loop.add(new WatchSpec(KeyRange.all(), start, previous, false, false), recorder);
    }

    private void commits(int count) {
        for (int i = 0; i < count; i++) {
            Map<String, @Nullable String> put = new HashMap<>();
            put.put("key-" + i % 100, ByteString.copyFromUtf8("v" + i).toStringUtf8());
            source.commit(put);
        }
        hub.wake();
    }

    private void runTasks() {
        runTasks(Integer.MAX_VALUE);
    }

    private void runTasks(int most) {
        for (int i = 0; i < most; i++) {
            Runnable task = tasks.poll();
            if (task == null) {
                return;
            }
            task.run();
        }
    }
}
