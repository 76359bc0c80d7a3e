package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.AnotherHistory;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The feed against a real broker, and a stand-in for the mirror that writes. */
final class KafkaFeedIT {

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    private static final Logger LOG = LoggerFactory.getLogger(KafkaFeedIT.class);

    /** Keys of which nothing is ever written. */
    private static final KeyRange SOMETHING_ELSE = KeyRange.prefix(ByteString.copyFromUtf8("other"));

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static int topics;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final long seed = System.nanoTime();
    private final RandomHistory history = new RandomHistory(seed, 50);
    private String topic;

    @BeforeEach
    void tellSeed(TestInfo test) {
        LOG.info("test={} seed={}", test.getDisplayName(), seed);
    }

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    @Test
    void aSnapshotAndWhatFollowsAreWhatTheMirrorWrote() {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        mirror.write(history.next(20));
        FeedRunner reader = read(KeyRange.all(), null);
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
        mirror.writeEach(history.next(50));
        mirror.write(history.next(50));
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
        assertThat(reader.ask(ModelConsumer::snapshots)).isEqualTo(1);
        assertThat(reader.<Long>ask(ModelConsumer::commits)).isEqualTo(100);
    }

    @Test
    void itGoesOnWhereItsConsumerStands() {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        try (FeedRunner reader = read(KeyRange.all(), null, model)) {
            mirror.write(history.next(30));
            reader.awaitRevision(history.revision(), PATIENCE);
        }
        mirror.writeEach(history.next(30));
        Position position = model.position();
        FeedRunner reader = read(KeyRange.all(), position, model.restarted());
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
        assertThat(reader.ask(ModelConsumer::snapshots)).isZero();
    }

    @Test
    void aHoleIsAGap() {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        FeedRunner reader = read(KeyRange.all(), null);
        reader.awaitRevision(history.revision(), PATIENCE);
        mirror.writeWithHole(history.next(3));
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
    }

    @Test
    void commitsOfSeveralPartitionsAreInOrder() {
        MirrorStub mirror = mirror(3);
        mirror.write(history.next(10));
        mirror.snapshot(history.revision(), history.state(), List.of());
        mirror.writeEach(history.next(40));
        FeedRunner reader = read(KeyRange.all(), null);
        reader.awaitRevision(history.revision(), PATIENCE);
        mirror.writeEach(history.next(40));
        mirror.write(history.next(100));
        mirror.heartbeat(Instant.now());
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
        assertThat(reader.<Long>ask(ModelConsumer::commits)).isEqualTo(140);
    }

    @Test
    void aPartOfTheKeysIsReadAlone() {
        KeyRange some = new KeyRange(ByteString.copyFromUtf8("key-2"), ByteString.copyFromUtf8("key-4"));
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        mirror.write(history.next(20));
        FeedRunner reader = read(some, null);
        reader.awaitRevision(history.revision(), PATIENCE);
        mirror.writeEach(history.next(20));
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state())
                .isEqualTo(history.state().stream()
                        .filter(entry -> some.contains(entry.key()))
                        .toList());
    }

    @Test
    void whatIsOutOfTheMirrorsScopeIsNotTakenForMissing() {
        MirrorStub mirror = mirror(1);
        mirror.mirrorOnly("key-2");
        mirror.snapshot(history.revision(), history.state(), List.of());
        Position start = new Position(MirrorStub.CLUSTER, history.revision(), null);
        mirror.writeEach(history.next(1));
        for (Position position : Arrays.asList(null, start)) {
            assertThat(read(KeyRange.all(), position).awaitEnd(PATIENCE))
                    .isInstanceOf(Unexplained.class)
                    .hasMessageContaining("+key-2")
                    .hasMessageContaining("all keys");
            assertThat(read(SOMETHING_ELSE, position).awaitEnd(PATIENCE)).hasMessageContaining("from other to othes");
        }
        KeyRange inside = KeyRange.prefix(ByteString.copyFromUtf8("key-21"));
        read(inside, null).awaitRevision(history.revision(), PATIENCE);
    }

    @Test
    void whoUsesPartOfARangeIsRefusedOnlyIfThatIsNotTold() {
        MirrorStub mirror = mirror(1);
        mirror.mirrorOnly("key-2");
        mirror.snapshot(history.revision(), history.state(), List.of());
        KeyRange used = KeyRange.prefix(ByteString.copyFromUtf8("key-2"));
        KafkaFeedSource source = new KafkaFeedSource(
                "test",
                KafkaSettings.of(KAFKA.kafka().bootstrapServers()),
                KafkaFeedOptions.of(topic),
                List.of(used),
                new SimpleMeterRegistry());
        FeedRunner reader =
                new FeedRunner(source.open(KeyRange.all(), FeedKind.HISTORY, null), new ModelConsumer(KeyRange.all()));
        open.add(reader);
        reader.awaitRevision(history.revision(), PATIENCE);
    }

    @Test
    void aPartitionToWhichTheMirrorDoesNotWriteIsNamed() throws Exception {
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Position start = new Position(MirrorStub.CLUSTER, history.revision(), null);
        FeedRunner before = read(KeyRange.all(), null);
        before.awaitRevision(history.revision(), PATIENCE);
        mirror.addPartition();
        mirror.writeEach(history.next(3));
        before.awaitRevision(history.revision(), PATIENCE);
        assertThat(read(KeyRange.all(), start).awaitEnd(PATIENCE))
                .isInstanceOf(Unexplained.class)
                .hasMessageContaining(topic + "-2");
    }

    @Test
    void itGoesOnFromTheMiddleOfWhatWasWrittenTogether() {
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        for (int i = 0; i < 5; i++) {
            mirror.write(history.next(10));
        }
        RandomHistory past = new RandomHistory(seed, 50);
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        Position position = new Position(MirrorStub.CLUSTER, past.revision(), null);
        model.snapshotStarted(MirrorStub.CLUSTER, past.revision());
        model.snapshotPage(KeyRange.all(), List.of());
        model.snapshotCompleted(position);
        for (Commit commit : past.next(23)) {
            position = position.after(commit);
            model.commit(commit, position);
        }
        FeedRunner reader = read(KeyRange.all(), position, model.restarted());
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
    }

    @Test
    void anyPositionIsFoundAmongManyRecords() throws Exception {
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Position position = new Position(MirrorStub.CLUSTER, history.revision(), null);
        List<Position> positions = new ArrayList<>();
        List<Commit> commits = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            List<Commit> together = history.next(i % 5 == 0 ? 600 : 60);
            if (i % 5 == 0) {
                mirror.abort(together);
            }
            mirror.write(together);
            for (Commit commit : together) {
                positions.add(position);
                commits.add(commit);
                position = position.after(commit);
            }
        }
        Random random = new Random(seed);
        for (int i = 0; i < 4; i++) {
            int at = i == 0 ? 0 : random.nextInt(commits.size());
            List<Commit> given = new ArrayList<>();
            try (Feed feed = source().open(KeyRange.all(), FeedKind.HISTORY, positions.get(at))) {
                await().atMost(PATIENCE).until(() -> {
                    feed.poll(Duration.ofMillis(100), new CommitCollector(given));
                    return !given.isEmpty();
                });
            }
            assertThat(given).containsExactly(commits.get(at));
        }
    }

    /** Of a feed that was opened at a position. */
    private record CommitCollector(List<Commit> given) implements FeedConsumer {
        @Override
        public void snapshotStarted(ClusterId cluster, Revision revision) {
            throw new AssertionError("a snapshot");
        }

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> entries) {}

        @Override
        public void snapshotCompleted(Position position) {}

        @Override
        public void commit(Commit commit, Position position) {
            given.add(commit);
        }

        @Override
        public void progress(Position position) {}
    }

    @Test
    void anotherHistoryIsRecognised() {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Commit last = history.put("here", "a");
        mirror.write(List.of(last));
        Commit other = new RandomHistory(1, 50).put("there", "a");
        Position consumed = new Position(MirrorStub.CLUSTER, other.revision(), null).after(other);
        assertThat(other.revision()).isEqualTo(last.revision());
        assertThat(read(KeyRange.all(), consumed).awaitEnd(PATIENCE)).isInstanceOf(AnotherHistory.class);
    }

    @Test
    void anotherClusterIsRecognised() {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Position consumed = new Position(new ClusterId(0xBEEF), history.revision(), null);
        FeedRunner reader = read(KeyRange.all(), consumed);
        mirror.write(history.next(1));
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(AnotherCluster.class).hasMessageContaining("cafe");
    }

    @Test
    void whatRetentionTookIsAGap() throws Exception {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Position start = new Position(MirrorStub.CLUSTER, history.revision(), null);
        mirror.writeEach(history.next(10));
        Revision kept = history.revision();
        long end = mirror.endOffset();
        mirror.writeEach(history.next(1));
        mirror.deleteBefore(end - 1);
        mirror.writeEach(history.next(5));
        assertThat(read(KeyRange.all(), start).awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        FeedRunner reader = read(KeyRange.all(), null);
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
        ModelConsumer model = new ModelConsumer(SOMETHING_ELSE);
        FeedRunner atTheEdge = read(SOMETHING_ELSE, new Position(MirrorStub.CLUSTER, kept, null), model);
        atTheEdge.awaitRevision(history.revision(), PATIENCE);
    }

    @Test
    void retentionWhileItIsReadIsAGap() throws Exception {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        try (Feed feed = source().open(KeyRange.all(), FeedKind.HISTORY, null)) {
            ModelConsumer model = new ModelConsumer(KeyRange.all());
            await().atMost(PATIENCE).until(() -> {
                feed.poll(Duration.ofMillis(50), model);
                return model.position() != null;
            });
            mirror.writeEach(history.next(5));
            mirror.deleteBefore(mirror.endOffset());
            mirror.writeEach(history.next(5));
            assertThatThrownBy(() -> {
                        for (long end = System.nanoTime() + PATIENCE.toNanos(); System.nanoTime() < end; ) {
                            feed.poll(Duration.ofMillis(50), model);
                        }
                    })
                    .isInstanceOf(Gap.class);
            assertThatThrownBy(() -> feed.poll(Duration.ZERO, model)).isInstanceOf(Gap.class);
        }
    }

    @Test
    void aStateWrittenAnewIsAGapAndThenASnapshot() {
        MirrorStub mirror = mirror(2);
        history.next(20);
        mirror.snapshot(history.revision(), history.state(), List.of());
        FeedRunner reader = read(KeyRange.all(), null);
        reader.awaitRevision(history.revision(), PATIENCE);
        List<KeyValue> before = history.state();
        history.next(30);
        Set<ByteString> left = history.state().stream().map(KeyValue::key).collect(Collectors.toSet());
        mirror.snapshot(
                history.revision(),
                history.state(),
                before.stream()
                        .map(KeyValue::key)
                        .filter(key -> !left.contains(key))
                        .toList());
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        FeedRunner again = read(KeyRange.all(), null);
        again.awaitRevision(history.revision(), PATIENCE);
        assertThat(again.state()).isEqualTo(history.state());
        mirror.writeEach(history.next(5));
        again.awaitRevision(history.revision(), PATIENCE);
        assertThat(again.state()).isEqualTo(history.state());
    }

    @Test
    void aStateWrittenAnewIsPassedByWhereItWasConsumed() {
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Commit consumed = history.next();
        mirror.write(List.of(consumed));
        history.next(3);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Position position = new Position(MirrorStub.CLUSTER, history.revision(), null);
        Position withAnchor = new Position(MirrorStub.CLUSTER, consumed.revision(), null)
                .after(consumed)
                .upTo(history.revision());
        Commit next = history.next();
        mirror.write(List.of(next));
        for (Position each : List.of(position, withAnchor)) {
            List<Commit> given = new ArrayList<>();
            try (Feed feed = source().open(KeyRange.all(), FeedKind.HISTORY, each)) {
                await().atMost(PATIENCE).until(() -> {
                    feed.poll(Duration.ofMillis(100), new CommitCollector(given));
                    return !given.isEmpty();
                });
            }
            assertThat(given).containsExactly(next);
        }
    }

    @Test
    void aCopyOfTheChangesThatEndsInASnapshotIsWaitedFor() {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        mirror.write(history.next(3));
        mirror.beginSnapshotOfChanges(history.revision());
        FeedRunner reader = read(KeyRange.all(), null);
        await().during(Duration.ofSeconds(2)).until(() -> reader.ask(ModelConsumer::snapshots) == 0);
        mirror.endSnapshotOfChanges(history.revision());
        mirror.write(history.next(3));
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
    }

    @Test
    void aSnapshotIsWaitedForToItsEnd() {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        mirror.write(history.next(5));
        mirror.beginUnendingSnapshot(history.revision());
        FeedRunner reader = read(KeyRange.all(), null);
        await().during(Duration.ofSeconds(2))
                .until(() -> reader.ask(ModelConsumer::snapshots) == 0 && reader.ask(ModelConsumer::position) == null);
        mirror.endUnendingSnapshot(history.revision());
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
    }

    @Test
    void whatWasAbortedIsNotSeen() {
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        FeedRunner reader = read(KeyRange.all(), null);
        for (int i = 0; i < 5; i++) {
            List<Commit> commits = history.next(5);
            mirror.abort(commits);
            mirror.write(commits);
        }
        List<Commit> last = history.next(5);
        mirror.abort(last);
        reader.awaitRevision(mirror.complete(), PATIENCE);
        FeedRunner late = read(KeyRange.all(), null);
        late.awaitRevision(mirror.complete(), PATIENCE);
        assertThat(late.state()).isEqualTo(reader.state());
        mirror.write(last);
        reader.awaitRevision(history.revision(), PATIENCE);
        late.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
        assertThat(late.state()).isEqualTo(history.state());
    }

    @Test
    void aCommitOf200000DeletesIsOne() {
        MirrorStub mirror = mirror(3);
        String[] names = IntStream.range(0, 200_000).mapToObj(i -> "many-" + i).toArray(String[]::new);
        history.put("", names);
        mirror.snapshot(history.revision(), history.state(), List.of());
        FeedRunner reader = read(KeyRange.all(), null);
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).hasSize(200_000);
        mirror.write(List.of(history.deleteAll()));
        reader.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEmpty();
        assertThat(reader.<Long>ask(ModelConsumer::commits)).isEqualTo(1);
    }

    @Test
    void compactionWhileItIsReadTakesNothing() throws Exception {
        MirrorStub mirror = mirror(
                1, Map.of("segment.ms", "100", "min.cleanable.dirty.ratio", "0.01", "delete.retention.ms", "60000"));
        mirror.cleanOften();
        mirror.snapshot(history.revision(), history.state(), List.of());
        AtomicBoolean done = new AtomicBoolean();
        Thread writing = new Thread(() -> {
            while (!done.get()) {
                mirror.write(history.next(10));
            }
        });
        writing.start();
        List<FeedRunner> readers = new ArrayList<>();
        try {
            for (int i = 0; i < 5; i++) {
                FeedRunner reader = read(KeyRange.all(), null);
                readers.add(reader);
                await().atMost(PATIENCE).until(() -> reader.ask(ModelConsumer::snapshots) == 1);
            }
        } finally {
            done.set(true);
            writing.join();
        }
        mirror.write(history.next(10));
        for (FeedRunner reader : readers) {
            reader.awaitRevision(history.revision(), PATIENCE);
            assertThat(reader.state()).isEqualTo(history.state());
        }
    }

    @Test
    void aStateWhoseDeletionsAreForgottenTooSoonIsRefused() {
        MirrorStub mirror = mirror(1, Map.of("delete.retention.ms", "0"));
        mirror.snapshot(history.revision(), history.state(), List.of());
        assertThat(read(KeyRange.all(), null).awaitEnd(PATIENCE))
                .isInstanceOf(Unexplained.class)
                .hasMessageContaining("delete.retention.ms");
    }

    @Test
    void aTopicThatIsNotThereIsNamed() {
        mirror(1);
        topic = "no-such-topic";
        KafkaSettings impatient = new KafkaSettings(KAFKA.kafka().bootstrapServers(), null, Duration.ofSeconds(1));
        Feed feed = new KafkaFeedSource("test", impatient, KafkaFeedOptions.of(topic), new SimpleMeterRegistry())
                .open(KeyRange.all(), FeedKind.STATE, null);
        FeedRunner reader = new FeedRunner(feed, new ModelConsumer(KeyRange.all()));
        open.add(reader);
        assertThat(reader.awaitEnd(PATIENCE))
                .isInstanceOf(Unexplained.class)
                .hasMessageContaining("no-such-topic.state");
    }

    @Test
    void aDeletedTopicIsNotWaitedForAndAnotherOfItsNameNotRead() throws Exception {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        FeedRunner reader = read(KeyRange.all(), null);
        reader.awaitRevision(history.revision(), PATIENCE);
        mirror.makeChangeTopicAnew();
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class).hasMessageContaining(topic);
    }

    @Test
    void aStateTopicThatIsMadeAnewWhileItIsReadIsReadFromItsBeginning() throws Exception {
        MirrorStub mirror = mirror(1);
        history.put("", IntStream.range(0, 20_000).mapToObj(i -> "many-" + i).toArray(String[]::new));
        mirror.snapshot(history.revision(), history.state(), List.of());
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        try (Feed feed = source().open(KeyRange.all(), FeedKind.HISTORY, null)) {
            // Until a part is read, which is what one poll gives.
            for (int i = 0; i < 30 && model.position() == null; i++) {
                feed.poll(Duration.ofMillis(1), model);
            }
            assertThat(model.position()).isNull();
            mirror.makeStateTopicAnew();
            mirror.snapshot(history.revision(), history.state(), List.of());
            mirror.write(history.next(1));
            await().atMost(PATIENCE).until(() -> {
                feed.poll(Duration.ofMillis(50), model);
                return model.position() != null;
            });
        }
        assertThat(model.snapshots()).isEqualTo(1);
        assertThat(model.state()).hasSizeGreaterThanOrEqualTo(20_000);
    }

    @Test
    void itGoesOnAfterTheBrokerWasKilled() {
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        FeedRunner reader = read(KeyRange.all(), null);
        mirror.writeEach(history.next(10));
        reader.awaitRevision(history.revision(), PATIENCE);
        KAFKA.kafka().kill();
        FeedRunner late = read(KeyRange.all(), null);
        KAFKA.kafka().start();
        mirror.writeEach(history.next(10));
        reader.awaitRevision(history.revision(), PATIENCE);
        late.awaitRevision(history.revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(history.state());
        assertThat(late.state()).isEqualTo(history.state());
        assertThat(reader.ask(ModelConsumer::snapshots)).isEqualTo(1);
    }

    @Test
    void heartbeatsTellHowCurrentItIs() throws Exception {
        MirrorStub mirror = mirror(2);
        mirror.snapshot(history.revision(), history.state(), List.of());
        List<String> told = new ArrayList<>();
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        Instant time = Instant.ofEpochMilli(1_234_567);
        try (Feed feed = source().open(KeyRange.all(), FeedKind.HISTORY, null)) {
            FeedConsumer consumer = new FeedConsumer() {
                @Override
                public void snapshotStarted(ClusterId cluster, Revision revision) {
                    model.snapshotStarted(cluster, revision);
                }

                @Override
                public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
                    model.snapshotPage(covered, entries);
                }

                @Override
                public void snapshotCompleted(Position position) {
                    model.snapshotCompleted(position);
                    mirror.write(history.next(1));
                    mirror.heartbeat(time);
                }

                @Override
                public void commit(Commit commit, Position position) {
                    told.add("commit " + commit.revision());
                }

                @Override
                public void progress(Position position) {
                    told.add("complete " + position.revision());
                }

                @Override
                public void asOf(Instant asOf) {
                    told.add("as of " + asOf.toEpochMilli());
                }
            };
            await().atMost(PATIENCE).until(() -> {
                feed.poll(Duration.ofMillis(100), consumer);
                return told.contains("as of 1234567");
            });
        }
        assertThat(told)
                .startsWith(
                        "commit " + history.revision(),
                        "complete " + history.revision(),
                        "as of " + time.toEpochMilli());
    }

    @Test
    void theHeadIsTheLastMark() throws Exception {
        MirrorStub mirror = mirror(2);
        KafkaFeedSource source = source();
        assertThat(source.head().get(20, TimeUnit.SECONDS)).isEqualTo(Revision.ZERO);
        mirror.snapshot(history.revision(), history.state(), List.of());
        mirror.write(history.next(1_000));
        mirror.abort(history.next(1_000));
        assertThat(source.head().get(20, TimeUnit.SECONDS)).isEqualTo(mirror.complete());
        mirror.heartbeat(history.revision(), Instant.now());
        assertThat(source.head().get(20, TimeUnit.SECONDS)).isEqualTo(history.revision());
    }

    @Test
    void closingWakesWhoPolls() throws Exception {
        MirrorStub mirror = mirror(1);
        mirror.snapshot(history.revision(), history.state(), List.of());
        Feed feed = source().open(KeyRange.all(), FeedKind.HISTORY, null);
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        await().atMost(PATIENCE).until(() -> {
            feed.poll(Duration.ofMillis(50), model);
            return model.position() != null;
        });
        CompletableFuture<Throwable> polled = CompletableFuture.supplyAsync(() -> catchThrowable(() -> {
            while (true) {
                feed.poll(Duration.ofMinutes(5), model);
            }
        }));
        feed.close();
        assertThat(polled.get(10, TimeUnit.SECONDS)).isInstanceOf(IllegalStateException.class);
    }

    private MirrorStub mirror(int partitions) {
        return mirror(partitions, Map.of());
    }

    private MirrorStub mirror(int partitions, Map<String, String> stateConfig) {
        topic = "feed-" + topics++;
        MirrorStub mirror = new MirrorStub(KAFKA.kafka().bootstrapServers(), topic, partitions, stateConfig);
        open.add(mirror);
        return mirror;
    }

    private FeedRunner read(KeyRange range, @Nullable Position resumeAt) {
        return read(range, resumeAt, new ModelConsumer(range));
    }

    private FeedRunner read(KeyRange range, @Nullable Position resumeAt, ModelConsumer model) {
        FeedRunner runner = new FeedRunner(source().open(range, FeedKind.HISTORY, resumeAt), model);
        open.add(runner);
        return runner;
    }

    private KafkaFeedSource source() {
        return new KafkaFeedSource(
                "test",
                KafkaSettings.of(KAFKA.kafka().bootstrapServers()),
                KafkaFeedOptions.of(topic),
                new SimpleMeterRegistry());
    }
}
