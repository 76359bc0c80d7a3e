package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.metrics.ProcessMetrics;
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
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The feed against a real broker, and a stand-in for the mirror that writes what it should.
 *
 * <p>Tests invariants FK3, FK4, FK5, FK6, FK7.
 */
final class KafkaFeedIT {

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    /** Keys of which nothing is ever written. */
    private static final KeyRange SOMETHING_ELSE = KeyRange.prefix(ByteString.copyFromUtf8("other"));

    private static final Duration PATIENCE = FeedFixture.PATIENCE;

    @RegisterExtension
    final FeedFixture fixture = new FeedFixture(KAFKA);

    @Test
    void aSnapshotAndWhatFollowsAreWhatTheMirrorWrote() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        mirror.write(fixture.history().next(20));
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
        mirror.writeEach(fixture.history().next(50));
        mirror.write(fixture.history().next(50));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
        assertThat(reader.read(ModelConsumer::snapshots)).isEqualTo(1);
        assertThat(reader.<Long>read(ModelConsumer::commits)).isEqualTo(100);
    }

    @Test
    void metricsOfTheConsumerAreThereWhileTheFeedIsOpen() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        try (ProcessMetrics process = new ProcessMetrics("gateway", "test")) {
            MeterRegistry meters = process.registry();
            try (FeedRunner reader = new FeedRunner(
                    fixture.source(meters).open(KeyRange.all(), FeedKind.HISTORY, null),
                    new ModelConsumer(KeyRange.all()))) {
                reader.awaitRevision(fixture.history().revision(), PATIENCE);
                assertThat(ofKafka(meters))
                        .isNotEmpty()
                        .allSatisfy(id -> assertThat(id.getTags())
                                .extracting(tag -> tag.getKey())
                                .isSubsetOf("process", "feed", "client.id", "kafka.version", "topic", "partition"))
                        .allSatisfy(id -> assertThat(id.getTag("feed")).isEqualTo("test"))
                        .extracting(Meter.Id::getName)
                        .contains("kafka.consumer.fetch.manager.records.consumed.total");
            }
            assertThat(ofKafka(meters)).isEmpty();
        }
    }

    private static List<Meter.Id> ofKafka(MeterRegistry meters) {
        return meters.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("kafka."))
                .toList();
    }

    @Test
    void theFeedResumesAtItsConsumersPosition() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        try (FeedRunner reader = fixture.read(KeyRange.all(), null, model)) {
            mirror.write(fixture.history().next(30));
            reader.awaitRevision(fixture.history().revision(), PATIENCE);
        }
        mirror.writeEach(fixture.history().next(30));
        Position position = model.position();
        FeedRunner reader = fixture.read(KeyRange.all(), position, model.restarted());
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
        assertThat(reader.read(ModelConsumer::snapshots)).isZero();
    }

    @Test
    void commitsOfSeveralPartitionsAreInOrder() {
        MirrorStub mirror = fixture.mirror(3);
        mirror.write(fixture.history().next(10));
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        mirror.writeEach(fixture.history().next(40));
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.writeEach(fixture.history().next(40));
        mirror.write(fixture.history().next(100));
        mirror.heartbeat(Instant.now());
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
        assertThat(reader.<Long>read(ModelConsumer::commits)).isEqualTo(140);
    }

    @Test
    void aPartOfTheKeysIsReadAlone() {
        KeyRange some = new KeyRange(ByteString.copyFromUtf8("key-2"), ByteString.copyFromUtf8("key-4"));
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        mirror.write(fixture.history().next(20));
        FeedRunner reader = fixture.read(some, null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.writeEach(fixture.history().next(20));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state())
                .isEqualTo(fixture.history().state().stream()
                        .filter(entry -> some.contains(entry.key()))
                        .toList());
    }

    @Test
    void whatIsOutOfTheMirrorsScopeIsNotTakenForMissing() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.mirrorOnly("key-2");
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Position start = new Position(MirrorStub.CLUSTER, fixture.history().revision(), null);
        mirror.writeEach(fixture.history().next(1));
        for (Position position : Arrays.asList(null, start)) {
            assertThat(fixture.read(KeyRange.all(), position).awaitEnd(PATIENCE))
                    .isInstanceOf(Unexplained.class)
                    .hasMessageContaining("+key-2")
                    .hasMessageContaining("all keys");
            assertThat(fixture.read(SOMETHING_ELSE, position).awaitEnd(PATIENCE))
                    .hasMessageContaining("from other to othes");
        }
        KeyRange inside = KeyRange.prefix(ByteString.copyFromUtf8("key-21"));
        fixture.read(inside, null).awaitRevision(fixture.history().revision(), PATIENCE);
    }

    @Test
    void aConsumerOfPartOfARangeIsRejectedOnlyIfThatPartIsMissing() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.mirrorOnly("key-2");
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        KeyRange used = KeyRange.prefix(ByteString.copyFromUtf8("key-2"));
        KafkaFeedSource source = new KafkaFeedSource(
                "test",
                KafkaSettings.of(fixture.kafka().bootstrapServers()),
                KafkaFeedOptions.of(fixture.topic()),
                List.of(used),
                new SimpleMeterRegistry());
        FeedRunner reader =
                new FeedRunner(source.open(KeyRange.all(), FeedKind.HISTORY, null), new ModelConsumer(KeyRange.all()));
        fixture.closeLater(reader);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
    }

    @Test
    void theFeedResumesInTheMiddleOfATransaction() {
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        for (int i = 0; i < 5; i++) {
            mirror.write(fixture.history().next(10));
        }
        RandomHistory past = fixture.sameHistory();
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        Position position = new Position(MirrorStub.CLUSTER, past.revision(), null);
        model.snapshotStarted(MirrorStub.CLUSTER, past.revision());
        model.snapshotPage(KeyRange.all(), List.of());
        model.snapshotCompleted(position);
        for (Commit commit : past.next(23)) {
            position = position.after(commit);
            model.commit(commit, position);
        }
        FeedRunner reader = fixture.read(KeyRange.all(), position, model.restarted());
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
    }

    @Test
    @Tag("volume")
    void anyPositionIsFoundAmongManyRecords() throws Exception {
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Position position = new Position(MirrorStub.CLUSTER, fixture.history().revision(), null);
        List<Position> positions = new ArrayList<>();
        List<Commit> commits = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            List<Commit> together = fixture.history().next(i % 5 == 0 ? 600 : 60);
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
        Random random = new Random(fixture.seed());
        for (int i = 0; i < 4; i++) {
            int at = i == 0 ? 0 : random.nextInt(commits.size());
            List<Commit> given = new ArrayList<>();
            try (Feed feed = fixture.source().open(KeyRange.all(), FeedKind.HISTORY, positions.get(at))) {
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
    void aStateWrittenAgainIsSkippedWhereItWasConsumed() {
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Commit consumed = fixture.history().next();
        mirror.write(List.of(consumed));
        fixture.history().next(3);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Position position = new Position(MirrorStub.CLUSTER, fixture.history().revision(), null);
        Position withAnchor = new Position(MirrorStub.CLUSTER, consumed.revision(), null)
                .after(consumed)
                .upTo(fixture.history().revision());
        Commit next = fixture.history().next();
        mirror.write(List.of(next));
        for (Position each : List.of(position, withAnchor)) {
            List<Commit> given = new ArrayList<>();
            try (Feed feed = fixture.source().open(KeyRange.all(), FeedKind.HISTORY, each)) {
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
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        mirror.write(fixture.history().next(3));
        mirror.beginSnapshotOfChanges(fixture.history().revision());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        await().during(Duration.ofSeconds(2)).until(() -> reader.read(ModelConsumer::snapshots) == 0);
        mirror.endSnapshotOfChanges(fixture.history().revision());
        mirror.write(fixture.history().next(3));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
    }

    @Test
    void aSnapshotIsWaitedForToItsEnd() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        mirror.write(fixture.history().next(5));
        mirror.beginUnendingSnapshot(fixture.history().revision());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        await().during(Duration.ofSeconds(2))
                .until(() ->
                        reader.read(ModelConsumer::snapshots) == 0 && reader.read(ModelConsumer::position) == null);
        mirror.endUnendingSnapshot(fixture.history().revision());
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
    }

    @Test
    @Tag("volume")
    void aCommitOf200000DeletesIsOne() {
        MirrorStub mirror = fixture.mirror(3);
        String[] names = IntStream.range(0, 200_000).mapToObj(i -> "many-" + i).toArray(String[]::new);
        fixture.history().put("", names);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).hasSize(200_000);
        mirror.write(List.of(fixture.history().deleteAll()));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEmpty();
        assertThat(reader.<Long>read(ModelConsumer::commits)).isEqualTo(1);
    }

    @Test
    void heartbeatsReportHowCurrentTheTopicIs() throws Exception {
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        List<String> received = new ArrayList<>();
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        Instant time = Instant.ofEpochMilli(1_234_567);
        try (Feed feed = fixture.source().open(KeyRange.all(), FeedKind.HISTORY, null)) {
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
                    mirror.write(fixture.history().next(1));
                    mirror.heartbeat(time);
                }

                @Override
                public void commit(Commit commit, Position position) {
                    received.add("commit " + commit.revision());
                }

                @Override
                public void progress(Position position) {
                    received.add("complete " + position.revision());
                }

                @Override
                public void asOf(Instant asOf) {
                    received.add("as of " + asOf.toEpochMilli());
                }
            };
            await().atMost(PATIENCE).until(() -> {
                feed.poll(Duration.ofMillis(100), consumer);
                return received.contains("as of 1234567");
            });
        }
        assertThat(received)
                .startsWith(
                        "commit " + fixture.history().revision(),
                        "complete " + fixture.history().revision(),
                        "as of " + time.toEpochMilli());
    }

    /** Kafka answers a commit before it writes the markers by which readers see the transaction. */
    private static void awaitHead(KafkaFeedSource source, Revision expected) {
        await().untilAsserted(() ->
                assertThat(source.head().get(20, TimeUnit.SECONDS)).isEqualTo(expected));
    }

    @Test
    void theHeadIsTheLastMark() throws Exception {
        MirrorStub mirror = fixture.mirror(2);
        KafkaFeedSource source = fixture.source();
        assertThat(source.head().get(20, TimeUnit.SECONDS)).isEqualTo(Revision.ZERO);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        mirror.write(fixture.history().next(1_000));
        mirror.abort(fixture.history().next(1_000));
        awaitHead(source, mirror.complete());
        mirror.heartbeat(fixture.history().revision(), Instant.now());
        awaitHead(source, fixture.history().revision());
        fixture.history().next(1);
        mirror.beginUnendingSnapshot(fixture.history().revision());
        awaitHead(source, fixture.history().revision());
        awaitHead(source, fixture.history().revision());
        mirror.recreateChangeTopic();
        assertThat(source.head().get(20, TimeUnit.SECONDS)).isEqualTo(Revision.ZERO);
    }

    @Test
    void closingWakesAWaitingPoll() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Feed feed = fixture.source().open(KeyRange.all(), FeedKind.HISTORY, null);
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
}
