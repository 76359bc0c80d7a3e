package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.ElectionState;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What a mirror does when its active role, its sink or its feed comes and goes. */
final class PipelineTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final ClusterId SOURCE = new ClusterId(1);

    private final AtomicLong activation = new AtomicLong(1);
    private final AtomicInteger opened = new AtomicInteger();
    private final List<Boolean> competing = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean active = true;
    private Supplier<Optional<String>> outage = Optional::empty;

    /** One schedule queries for all mirrors of a process, and an exception would end it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anExceptionOfAQueryDoesNotAffectOtherMirrors(boolean isError) {
        outage = () -> {
            if (isError) {
                throw new NoClassDefFoundError("removed by an upgrade");
            }
            throw new IllegalStateException("closed");
        };
        try (Pipeline pipeline = start(activation::incrementAndGet)) {
            assertThatCode(pipeline::sampleSource).doesNotThrowAnyException();
        }
    }

    @Test
    void continuesAfterAFenceByAProcessActiveInBetween() {
        try (Pipeline pipeline = start(activation::incrementAndGet)) {
            await().atMost(PATIENCE).until(() -> opened.get() >= 2);
            assertThat(pipeline.failure()).isNotDone();
        }
    }

    @Test
    void failsIfItsSinkIsFencedWhileItsRoleIsConfirmed() {
        try (Pipeline pipeline = start(() -> {})) {
            assertThat(pipeline.failure()).succeedsWithin(PATIENCE);
        }
        assertThat(opened).hasValue(1);
    }

    /** Tests invariant M36: a failure releases the role, is reported, and is forgotten once an attempt after it is synced. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isRetriedAfterAFailureWithItsRoleReleased(boolean isError) {
        CountDownLatch passed = new CountDownLatch(1);
        FeedSource source = (range, kind, from) -> new Feed() {
            @Override
            public boolean poll(Duration timeout, FeedConsumer consumer) {
                consumer.progress(at(5));
                return false;
            }

            @Override
            public void requestProgress() {}

            @Override
            public void close() {}
        };
        Sink sink = new StubSink() {
            @Override
            public Position open() {
                opened.incrementAndGet();
                if (passed.getCount() > 0 && isError) {
                    throw new NoClassDefFoundError("removed by an upgrade");
                } else if (passed.getCount() > 0) {
                    throw new SinkException.Refused("the target refuses");
                }
                return at(5);
            }
        };
        try (Pipeline pipeline = start(source, () -> sink, Duration.ofMillis(1))) {
            await().atMost(PATIENCE).until(() -> opened.get() >= 3);
            assertThat(competing).startsWith(true, false, true, false);
            assertThat(pipeline.report().state()).isEqualTo(MirrorState.FAILED);
            assertThat(pipeline.report().reason())
                    .isEqualTo("mirror dr failed: "
                            + (isError
                                    ? "java.lang.NoClassDefFoundError: removed by an upgrade"
                                    : "the target refuses"));
            passed.countDown();
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
        }
    }

    /** Tests invariant M36: an accepted commit that the target rejects is the same failure, until it is written. */
    @Test
    void staysFailedWithDoublingPausesWhileTheTargetRejectsACommit() {
        Logger logger = (Logger) LoggerFactory.getLogger("io.understudy.mirror.pipeline");
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.list = new CopyOnWriteArrayList<>();
        logged.start();
        logger.addAppender(logged);
        AtomicBoolean rejects = new AtomicBoolean(true);
        FeedSource source = (range, kind, from) -> new SyncedFeed(at(6)) {
            private boolean isGiven;

            @Override
            public boolean poll(Duration timeout, FeedConsumer consumer) {
                if (isGiven) {
                    return super.poll(timeout, consumer);
                }
                isGiven = true;
                consumer.progress(at(5));
                consumer.commit(commit(6), at(6));
                return true;
            }
        };
        Supplier<Sink> sinks = () -> new StubSink() {
            private volatile Revision complete = new Revision(5);

            @Override
            public Position open() {
                return at(5);
            }

            @Override
            public void caughtUp() {
                if (rejects.get()) {
                    throw new SinkException.Refused("the target refuses");
                }
                complete = new Revision(6);
            }

            @Override
            public Revision complete() {
                return complete;
            }
        };
        // One second after the first failure.
        try (Pipeline pipeline = start(source, sinks, Duration.ofMillis(20))) {
            await().atMost(PATIENCE).until(() -> values(logged, "retry_seconds").size() == 2);
            assertThat(values(logged, "retry_seconds")).containsExactly("1", "2");
            rejects.set(false);
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
            assertThat(values(logged, "to")).containsExactly("synced", "failed", "synced");
        } finally {
            logger.detachAppender(logged);
        }
    }

    /** The snapshot may have an entry for which the target rejected a commit, also before the process started. */
    @Test
    void comparesTheFirstSnapshotAndThatAfterARejection() {
        AtomicInteger feeds = new AtomicInteger();
        FeedSource source = (range, kind, from) -> {
            long revision = 5L + feeds.getAndIncrement();
            return new SyncedFeed(at(revision)) {
                @Override
                public boolean poll(Duration timeout, FeedConsumer consumer) {
                    if (revision == 7) {
                        consumer.commit(commit(revision), at(revision));
                        throw new SinkException.Refused("the target refuses");
                    }
                    consumer.snapshotStarted(SOURCE, new Revision(revision));
                    consumer.snapshotCompleted(at(revision));
                    if (revision < 9) {
                        throw new SinkException.Unavailable("target does not answer", null);
                    }
                    active = false;
                    return true;
                }
            };
        };
        List<String> received = new CopyOnWriteArrayList<>();
        AtomicReference<Revision> complete = new AtomicReference<>(new Revision(4));
        Sink sink = new StubSink() {
            @Override
            public Position open() {
                return at(4);
            }

            @Override
            public void compareFirst() {
                received.add("compare");
            }

            @Override
            public void snapshotCompleted(Position position) {
                complete.set(position.revision());
                received.add("snapshot " + position.revision());
            }

            @Override
            public Revision complete() {
                return complete.get();
            }
        };
        try (Pipeline pipeline = start(source, () -> sink, Duration.ofMillis(1))) {
            await().atMost(PATIENCE).until(() -> received.contains("snapshot 9"));
            assertThat(pipeline.report().state()).isNotEqualTo(MirrorState.STOPPED);
        }
        assertThat(received)
                .containsExactly("compare", "snapshot 5", "snapshot 6", "compare", "snapshot 8", "snapshot 9");
    }

    /** Returns the values of a key in all logged events. */
    private static List<String> values(ListAppender<ILoggingEvent> logged, String key) {
        return logged.list.stream()
                .flatMap(event -> Stream.ofNullable(event.getKeyValuePairs()).flatMap(List::stream))
                .filter(pair -> pair.key.equals(key))
                .map(pair -> String.valueOf(pair.value))
                .toList();
    }

    /** A comparison is of one source and target: the next sink uses it, unless it writes in the other direction. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void usesAComparisonInItsOwnDirectionOnly(boolean isReversed) {
        AtomicBoolean recognised = new AtomicBoolean();
        FeedSource source = (range, kind, from) -> new SyncedFeed(at(5)) {
            @Override
            public boolean poll(Duration timeout, FeedConsumer consumer) {
                if (from == null) {
                    consumer.snapshotStarted(SOURCE, new Revision(5));
                }
                return super.poll(timeout, consumer);
            }
        };
        Sink forth = new StubSink() {
            @Override
            public @Nullable Position open() {
                if (opened.getAndIncrement() == 0) {
                    return null;
                }
                if (isReversed) {
                    throw new SinkException.HomeMoved("the target is the primary");
                }
                return at(5);
            }

            @Override
            public void snapshotStarted(ClusterId cluster, Revision revision) {
                throw new SinkException.Compared("equal");
            }

            @Override
            public void historyRecognised() {
                recognised.set(true);
            }
        };
        Sink back = new StubSink() {
            @Override
            public Position open() {
                return at(5);
            }

            @Override
            public void historyRecognised() {
                recognised.set(true);
            }
        };
        MirrorPlan reversed = plan("source", source, () -> back);
        AtomicInteger reversals = new AtomicInteger();
        Supplier<MirrorPlan> opening = () -> {
            reversals.incrementAndGet();
            return reversed;
        };
        MirrorPlan plan = plan("target", source, () -> forth);
        try (Pipeline pipeline = start(() -> plan, opening, Duration.ofMillis(1))) {
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
            assertThat(pipeline.follows(reversed)).isEqualTo(isReversed);
            assertThat(reversals.get()).as("opened when it is used, once").isEqualTo(isReversed ? 1 : 0);
        }
        assertThat(recognised.get()).isEqualTo(!isReversed);
    }

    /** Tests invariant M36: what a mirror is opened with may be missing at first. */
    @Test
    void isRetriedWhenItCannotBeOpened() {
        FeedSource source = (range, kind, from) -> new SyncedFeed(at(5));
        MirrorPlan plan = plan("target", source, () -> new StubSink() {
            @Override
            public Position open() {
                return at(5);
            }
        });
        CountDownLatch passed = new CountDownLatch(1);
        Supplier<MirrorPlan> opening = () -> {
            if (opened.incrementAndGet() < 3 || passed.getCount() > 0) {
                throw new IllegalStateException("no certificate");
            }
            return plan;
        };
        try (Pipeline pipeline = start(opening, null, Duration.ofMillis(1))) {
            assertThat(pipeline.failure()).succeedsWithin(PATIENCE);
            pipeline.sampleSource();
            assertThat(pipeline.report().state()).isEqualTo(MirrorState.FAILED);
            assertThat(pipeline.report().reason()).isEqualTo("mirror dr failed: no certificate");
            passed.countDown();
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
            assertThat(opened.get()).isGreaterThanOrEqualTo(3);
        }
    }

    /** Neither direction is replicated: that is no standby, unless a command is at work. */
    @Test
    void twoPrimariesAreAConflictUntilOneRemains() {
        AtomicReference<@Nullable Conflict> conflict =
                new AtomicReference<>(new Conflict("A with epoch 1, B with epoch 1; run rejoin", false));
        AtomicInteger looks = new AtomicInteger();
        Supplier<Optional<Conflict>> former = () -> {
            looks.incrementAndGet();
            return Optional.ofNullable(conflict.get());
        };
        AtomicBoolean isPrimary = new AtomicBoolean(true);
        FeedSource source = (range, kind, from) -> new SyncedFeed(at(5));
        Sink refused = new StubSink() {
            @Override
            public Position open() {
                opened.incrementAndGet();
                if (!isPrimary.get()) {
                    return at(5);
                }
                throw new SinkException.HomeMoved("the target is the primary");
            }
        };
        MirrorPlan back = plan("source", source, () -> refused, former);
        MirrorPlan forth = plan("target", source, () -> refused, former);
        try (Pipeline pipeline = start(() -> forth, () -> back, Duration.ofMillis(1))) {
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.CONFLICT);
            assertThat(pipeline.report().reason()).isEqualTo("A with epoch 1, B with epoch 1; run rejoin");
            assertThat(pipeline.failure()).isNotDone();
            int sinks = opened.get();
            int before = looks.get();
            await().atMost(PATIENCE).until(() -> looks.get() > before + 1);
            assertThat(opened.get()).as("a sink reads both clusters").isEqualTo(sinks);
            conflict.set(new Conflict("a command is at work", true));
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.STANDBY);
            assertThat(pipeline.report().reason()).isEqualTo("a command is at work");
            conflict.set(null);
            isPrimary.set(false);
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
        }
    }

    /** Such as from Kafka: neither is it replicated, nor does it wait to be. */
    @Test
    void aMirrorWithoutAnotherDirectionFailsWhileItsTargetIsThePrimary() {
        AtomicBoolean isPrimary = new AtomicBoolean(true);
        MirrorPlan plan = plan("target", (range, kind, from) -> new SyncedFeed(at(5)), () -> new StubSink() {
            @Override
            public Position open() {
                if (isPrimary.get()) {
                    throw new SinkException.HomeMoved("the target is the primary");
                }
                return at(5);
            }
        });
        try (Pipeline pipeline = start(() -> plan, null, Duration.ofMillis(1))) {
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.FAILED);
            assertThat(pipeline.report().reason())
                    .contains("the target is the primary. This mirror has no other direction, since source ");
            isPrimary.set(false);
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
        }
    }

    @Test
    void unreadableRecordsAreRetried() {
        AtomicInteger looks = new AtomicInteger();
        Supplier<Optional<Conflict>> former = () -> {
            if (looks.getAndIncrement() < 3) {
                throw new SinkException.Unavailable("source etcd does not answer", null);
            }
            return Optional.of(new Conflict("run rejoin", false));
        };
        FeedSource source = (range, kind, from) -> new SyncedFeed(at(5));
        Sink refused = new StubSink() {
            @Override
            public Position open() {
                throw new SinkException.HomeMoved("the target is the primary");
            }
        };
        MirrorPlan back = plan("source", source, () -> refused, former);
        MirrorPlan forth = plan("target", source, () -> refused, former);
        try (Pipeline pipeline = start(() -> forth, () -> back, Duration.ofMillis(1))) {
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.CONFLICT);
            assertThat(pipeline.report().retries()).isEqualTo(3);
            assertThat(pipeline.failure()).isNotDone();
        }
    }

    @Test
    void resumesAtTheCheckpointWhenTheRoleIsBackBeforeTheSinkHasSettled() throws InterruptedException {
        assertThat(positionsOfFeeds(at(5), at(6), consumer -> consumer.commit(commit(6), at(6))))
                .containsExactly(at(5), at(6));
    }

    @Test
    void deliversACommitMissingInTheTargetAgainWhenTheRoleIsBack() throws InterruptedException {
        assertThat(positionsOfFeeds(at(5), at(5), consumer -> consumer.commit(commit(6), at(6))))
                .containsExactly(at(5), at(5));
    }

    @Test
    void resumesAfterACompletedSnapshotWhenTheRoleIsBack() throws InterruptedException {
        assertThat(positionsOfFeeds(null, at(5), consumer -> {
                    consumer.snapshotStarted(SOURCE, new Revision(5));
                    consumer.snapshotCompleted(at(5));
                }))
                .containsExactly(null, at(5));
    }

    @Test
    void beginsAnotherSnapshotWhenTheRoleWasLostWithinOne() throws InterruptedException {
        assertThat(positionsOfFeeds(null, null, consumer -> consumer.snapshotStarted(SOURCE, new Revision(5))))
                .containsExactly(null, null);
    }

    @Test
    void keepsTheLastKnownCheckpointWhileSinksFailToOpen() throws InterruptedException {
        SynchronousQueue<Boolean> answers = new SynchronousQueue<>();
        CountDownLatch away = new CountDownLatch(1);
        Supplier<Sink> sinks = () -> new StubSink() {
            private volatile Revision complete = Revision.ZERO;

            @Override
            public @Nullable Position open() {
                if (opened.getAndIncrement() > 0 && !answer(answers)) {
                    throw new SinkException.Unavailable("target does not answer", null);
                }
                complete = new Revision(5);
                return at(5);
            }

            @Override
            public void settle() {
                if (away.getCount() == 0 && opened.get() == 1) {
                    throw new SinkException.Unavailable("target does not answer", null);
                }
            }

            @Override
            public Revision complete() {
                return complete;
            }
        };
        try (Pipeline pipeline = start((range, kind, from) -> new SyncedFeed((Position) from), sinks)) {
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
            away.countDown();
            for (int attempts = 2; attempts < 5; attempts++) {
                int expected = attempts;
                await().atMost(PATIENCE).until(() -> opened.get() == expected);
                MirrorReport report = pipeline.report();
                assertThat(report.state()).isEqualTo(MirrorState.RETRYING);
                assertThat(report.reason()).startsWith("target does not answer; last response at ");
                assertThat(report.completeRevision()).isEqualTo(5);
                answers.put(attempts == 4);
            }
            await().atMost(PATIENCE).until(() -> pipeline.report().state() == MirrorState.SYNCED);
            assertThat(pipeline.report().completeRevision()).isEqualTo(5);
        }
        assertThat(opened).hasValue(4);
    }

    private static boolean answer(SynchronousQueue<Boolean> answers) {
        try {
            return answers.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SinkException.Stopped("opening");
        }
    }

    /**
     * Where two feeds begin between which the role is lost and regained.
     *
     * @param first checkpoint of the target when the first sink opens
     * @param second the same when the second one does
     * @param events of the first feed
     */
    private List<@Nullable FeedStart> positionsOfFeeds(
            @Nullable FeedStart first, @Nullable FeedStart second, Consumer<FeedConsumer> events)
            throws InterruptedException {
        List<@Nullable FeedStart> begun = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch twoBegun = new CountDownLatch(2);
        FeedSource source = (range, kind, from) -> {
            begun.add(from);
            twoBegun.countDown();
            return new FlappingFeed(begun.size() == 1 ? events : consumer -> {});
        };
        Sink sink = new StubSink() {
            @Override
            public @Nullable FeedStart open() {
                return opened.getAndIncrement() == 0 ? first : second;
            }

            @Override
            public void settle() {
                activation.incrementAndGet();
                active = true;
            }
        };
        try (Pipeline pipeline = start(source, sink)) {
            assertThat(twoBegun.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(pipeline.failure()).isNotDone();
        }
        return begun.subList(0, 2);
    }

    private static Position at(long revision) {
        return new Position(SOURCE, new Revision(revision), null);
    }

    private static Commit commit(long revision) {
        return new Commit(new Revision(revision), List.of(new Change.Delete(ByteString.copyFromUtf8("key"))));
    }

    private Pipeline start(Runnable whileOpening) {
        return start(
                (range, kind, from) -> {
                    throw new IllegalStateException("no sink was opened");
                },
                new StubSink() {
                    @Override
                    public @Nullable FeedStart open() {
                        opened.incrementAndGet();
                        whileOpening.run();
                        throw new SinkException.Fenced("fenced");
                    }
                });
    }

    private Pipeline start(FeedSource source, Sink sink) {
        return start(source, () -> sink);
    }

    private Pipeline start(FeedSource source, Supplier<Sink> sinks) {
        return start(source, sinks, Duration.ofMillis(100));
    }

    private Pipeline start(FeedSource source, Supplier<Sink> sinks, Duration firstPause) {
        MirrorPlan plan = plan("target", source, sinks);
        return start(() -> plan, null, firstPause);
    }

    private static Pipeline start(
            Supplier<MirrorPlan> forward, @Nullable Supplier<MirrorPlan> back, Duration firstPause) {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        MirrorStatus status = new MirrorStatus("dr", "source", "target", PATIENCE, meters);
        return Pipeline.start("dr", forward, back, status, meters, firstPause);
    }

    private MirrorPlan plan(String target, FeedSource source, Supplier<Sink> sinks) {
        return plan(target, source, sinks, Optional::empty);
    }

    private MirrorPlan plan(
            String target, FeedSource source, Supplier<Sink> sinks, Supplier<Optional<Conflict>> former) {
        return new MirrorPlan(
                KeyRange.all(),
                FeedKind.STATE,
                "source",
                source,
                CompletableFuture::new,
                true,
                () -> outage.get(),
                CompletableFuture::new,
                target,
                new Role(),
                former,
                listener -> sinks.get());
    }

    private final class Role implements ActiveRole {
        @Override
        public ElectionState state() {
            return active ? new ElectionState.Active() : new ElectionState.Unknown("the target does not answer");
        }

        @Override
        public void awaitChange(ElectionState seen, Duration atMost) {}

        @Override
        public long activation() {
            return activation.get();
        }

        @Override
        public boolean isConfirmed(long since) {
            return activation.get() == since;
        }

        @Override
        public void compete(boolean competes) {
            competing.add(competes);
        }

        @Override
        public void close() {}
    }

    /** Gives its events at once; the role is lost right after them. */
    private final class FlappingFeed implements Feed {
        private final Consumer<FeedConsumer> events;

        FlappingFeed(Consumer<FeedConsumer> events) {
            this.events = events;
        }

        @Override
        public boolean poll(Duration timeout, FeedConsumer consumer) {
            events.accept(consumer);
            active = false;
            return true;
        }

        @Override
        public void requestProgress() {}

        @Override
        public void close() {}
    }

    /** Has nothing beyond where it is opened. */
    private static class SyncedFeed implements Feed {
        private final Position at;

        SyncedFeed(Position at) {
            this.at = at;
        }

        @Override
        public boolean poll(Duration timeout, FeedConsumer consumer) {
            consumer.progress(at);
            return false;
        }

        @Override
        public void requestProgress() {}

        @Override
        public void close() {}
    }

    abstract static class StubSink implements Sink {

        @Override
        public void sourceReset(FeedEndedException why) {}

        @Override
        public void snapshotStarted(ClusterId cluster, Revision revision) {}

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> entries) {}

        @Override
        public void snapshotCompleted(Position position) {}

        @Override
        public void commit(Commit commit, Position position) {}

        @Override
        public void progress(Position position) {}

        @Override
        public Duration pause() {
            return Duration.ZERO;
        }

        @Override
        public void caughtUp() {}

        @Override
        public void settle() {}

        @Override
        public @Nullable Checkpoint checkpoint() {
            return null;
        }

        @Override
        public Revision complete() {
            return Revision.ZERO;
        }

        @Override
        public void close() {}
    }
}
