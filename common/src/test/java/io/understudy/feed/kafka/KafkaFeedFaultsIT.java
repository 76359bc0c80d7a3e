package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.Feed;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the feed makes of topics that are incomplete, of another history, replaced or unreachable. */
final class KafkaFeedFaultsIT {

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    /** Keys of which nothing is ever written. */
    private static final KeyRange SOMETHING_ELSE = KeyRange.prefix(ByteString.copyFromUtf8("other"));

    private static final Duration PATIENCE = FeedFixture.PATIENCE;

    @RegisterExtension
    final FeedFixture fixture = new FeedFixture(KAFKA);

    @Test
    void aRecordWithoutAKeyInTheStateTopicIsSkipped() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        mirror.writeStateWithoutKey();
        mirror.write(fixture.history().next(3));
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
    }

    /** Kafka accepts any number of milliseconds. */
    @Test
    void tombstonesMayBeKeptForEver() {
        MirrorStub mirror = fixture.mirror(1, Map.of("delete.retention.ms", String.valueOf(Long.MAX_VALUE)));
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
    }

    @Test
    void aHoleIsAGap() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.writeWithHole(fixture.history().next(3));
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
    }

    /** Such as one that is being copied again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSnapshotAfterAnotherFeedWaitsForADelayedState(boolean isClosed) throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        KafkaFeedSource source = fixture.source();
        FeedRunner reader = fixture.closeLater(
                new FeedRunner(source.open(KeyRange.all(), FeedKind.STATE, null), new ModelConsumer(KeyRange.all())));
        mirror.delayState();
        mirror.writeEach(fixture.history().next(3));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        if (isClosed) {
            reader.close();
        } else {
            mirror.writeWithHole(fixture.history().next(1));
            assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        }
        Feed next = fixture.closeLater(source.open(KeyRange.all(), FeedKind.STATE, null));
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        await().atMost(PATIENCE).until(() -> next.poll(Duration.ofMillis(100), model) || next.stateRead() > 0);
        assertThat(next.poll(Duration.ofSeconds(1), model))
                .as("a snapshot before the end of the other feed")
                .isFalse();
        mirror.copyState();
        FeedRunner again = fixture.closeLater(new FeedRunner(next, model));
        again.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(again.state()).isEqualTo(fixture.history().state());
    }

    /** The topics were written from scratch, with the lower revisions of another history. */
    @Test
    void theSnapshotAfterAGapDoesNotWaitInALaterGeneration() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        Revision first = fixture.history().revision();
        List<KeyValue> state = fixture.history().state();
        mirror.snapshot(first, state, List.of());
        KafkaFeedSource source = fixture.source();
        FeedRunner reader = fixture.closeLater(
                new FeedRunner(source.open(KeyRange.all(), FeedKind.STATE, null), new ModelConsumer(KeyRange.all())));
        mirror.writeEach(fixture.history().next(3));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.writeWithHole(fixture.history().next(1));
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        mirror.recreateChangeTopic();
        mirror.recreateStateTopic();
        mirror.reconnect();
        mirror.snapshot(first, state, List.of());
        FeedRunner again = fixture.closeLater(
                new FeedRunner(source.open(KeyRange.all(), FeedKind.STATE, null), new ModelConsumer(KeyRange.all())));
        again.awaitRevision(first, PATIENCE);
        assertThat(again.state()).isEqualTo(state);
    }

    @Test
    void aCommitBeyondTheLimitIsAGapAndThenASnapshot() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        KafkaFeedSource limited = fixture.source(
                new KafkaFeedOptions(fixture.topic(), mirror.stateTopic(), 10_000), new SimpleMeterRegistry());
        FeedRunner reader = fixture.closeLater(
                new FeedRunner(limited.open(KeyRange.all(), FeedKind.STATE, null), new ModelConsumer(KeyRange.all())));
        mirror.writeEach(fixture.history().next(3));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.write(List.of(fixture.history().put("v".repeat(20_000), "large")));
        assertThat(reader.awaitEnd(PATIENCE))
                .isInstanceOf(Gap.class)
                .hasMessageContainingAll("allowed: 10000 bytes", "maxCommitBytes");
        FeedRunner next = fixture.closeLater(
                new FeedRunner(limited.open(KeyRange.all(), FeedKind.STATE, null), new ModelConsumer(KeyRange.all())));
        next.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.writeEach(fixture.history().next(3));
        next.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(next.state()).isEqualTo(fixture.history().state());
    }

    @Test
    void aPartitionToWhichTheMirrorDoesNotWriteIsNamed() throws Exception {
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Position start = new Position(MirrorStub.CLUSTER, fixture.history().revision(), null);
        FeedRunner before = fixture.read(KeyRange.all(), null);
        before.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.addPartition();
        mirror.writeEach(fixture.history().next(3));
        before.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(fixture.read(KeyRange.all(), start).awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        FeedRunner again = fixture.read(KeyRange.all(), null);
        again.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.writeEach(fixture.history().next(1));
        assertThat(again.awaitEnd(PATIENCE))
                .isInstanceOf(Unexplained.class)
                .hasMessageContaining(fixture.topic() + "-2");
    }

    @Test
    void aStateWrittenAgainToMorePartitionsIsAGapAndThenASnapshot() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Position start = new Position(MirrorStub.CLUSTER, fixture.history().revision(), null);
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        mirror.writeEach(fixture.history().next(3));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        FeedRunner resumed = fixture.read(KeyRange.all(), start);
        resumed.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.rewriteTo(3);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        assertThat(resumed.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        assertThat(fixture.read(KeyRange.all(), start).awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        FeedRunner again = fixture.read(KeyRange.all(), null);
        mirror.writeEach(fixture.history().next(3));
        again.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(again.state()).isEqualTo(fixture.history().state());
    }

    @Test
    void anotherHistoryIsRecognised() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Commit last = fixture.history().put("here", "a");
        mirror.write(List.of(last));
        Commit other = new RandomHistory(1, 50).put("there", "a");
        Position consumed = new Position(MirrorStub.CLUSTER, other.revision(), null).after(other);
        assertThat(other.revision()).isEqualTo(last.revision());
        assertThat(fixture.read(KeyRange.all(), consumed).awaitEnd(PATIENCE)).isInstanceOf(AnotherHistory.class);
    }

    @Test
    void anotherClusterIsRecognised() {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Position consumed =
                new Position(new ClusterId(0xBEEF), fixture.history().revision(), null);
        FeedRunner reader = fixture.read(KeyRange.all(), consumed);
        mirror.write(fixture.history().next(1));
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(AnotherCluster.class).hasMessageContaining("cafe");
    }

    @Test
    void whatRetentionTookIsAGap() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        Position start = new Position(MirrorStub.CLUSTER, fixture.history().revision(), null);
        mirror.writeEach(fixture.history().next(10));
        Revision kept = fixture.history().revision();
        long end = mirror.endOffset();
        mirror.writeEach(fixture.history().next(1));
        mirror.deleteBefore(end - 1);
        mirror.writeEach(fixture.history().next(5));
        assertThat(fixture.read(KeyRange.all(), start).awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
        ModelConsumer model = new ModelConsumer(SOMETHING_ELSE);
        FeedRunner atTheEdge = fixture.read(SOMETHING_ELSE, new Position(MirrorStub.CLUSTER, kept, null), model);
        atTheEdge.awaitRevision(fixture.history().revision(), PATIENCE);
    }

    @Test
    void retentionWhileItIsReadIsAGap() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        try (Feed feed = fixture.source().open(KeyRange.all(), FeedKind.HISTORY, null)) {
            ModelConsumer model = new ModelConsumer(KeyRange.all());
            await().atMost(PATIENCE).until(() -> {
                feed.poll(Duration.ofMillis(50), model);
                return model.position() != null;
            });
            mirror.writeEach(fixture.history().next(5));
            mirror.deleteBefore(mirror.endOffset());
            mirror.writeEach(fixture.history().next(5));
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
    void aStateWrittenAgainIsAGapAndThenASnapshot() {
        MirrorStub mirror = fixture.mirror(2);
        fixture.history().next(20);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        List<KeyValue> before = fixture.history().state();
        fixture.history().next(30);
        Set<ByteString> left =
                fixture.history().state().stream().map(KeyValue::key).collect(Collectors.toSet());
        mirror.snapshot(
                fixture.history().revision(),
                fixture.history().state(),
                before.stream()
                        .map(KeyValue::key)
                        .filter(key -> !left.contains(key))
                        .toList());
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class);
        FeedRunner again = fixture.read(KeyRange.all(), null);
        again.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(again.state()).isEqualTo(fixture.history().state());
        mirror.writeEach(fixture.history().next(5));
        again.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(again.state()).isEqualTo(fixture.history().state());
    }

    @Test
    void whatWasAbortedIsNotSeen() {
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        for (int i = 0; i < 5; i++) {
            List<Commit> commits = fixture.history().next(5);
            mirror.abort(commits);
            mirror.write(commits);
        }
        List<Commit> last = fixture.history().next(5);
        mirror.abort(last);
        reader.awaitRevision(mirror.complete(), PATIENCE);
        FeedRunner late = fixture.read(KeyRange.all(), null);
        late.awaitRevision(mirror.complete(), PATIENCE);
        assertThat(late.state()).isEqualTo(reader.state());
        mirror.write(last);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        late.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
        assertThat(late.state()).isEqualTo(fixture.history().state());
    }

    @Test
    void compactionWhileItIsReadTakesNothing() throws Exception {
        MirrorStub mirror = fixture.mirror(
                1, Map.of("segment.ms", "100", "min.cleanable.dirty.ratio", "0.01", "delete.retention.ms", "60000"));
        mirror.cleanOften();
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        AtomicBoolean done = new AtomicBoolean();
        Thread writing = new Thread(() -> {
            while (!done.get()) {
                mirror.write(fixture.history().next(10));
            }
        });
        writing.start();
        List<FeedRunner> readers = new ArrayList<>();
        try {
            for (int i = 0; i < 5; i++) {
                FeedRunner reader = fixture.read(KeyRange.all(), null);
                readers.add(reader);
                await().atMost(PATIENCE).until(() -> reader.read(ModelConsumer::snapshots) == 1);
            }
        } finally {
            done.set(true);
            writing.join();
        }
        mirror.write(fixture.history().next(10));
        for (FeedRunner reader : readers) {
            reader.awaitRevision(fixture.history().revision(), PATIENCE);
            assertThat(reader.state()).isEqualTo(fixture.history().state());
        }
    }

    @Test
    void aStateTopicWithTooShortDeleteRetentionIsRejected() {
        MirrorStub mirror = fixture.mirror(1, Map.of("delete.retention.ms", "0"));
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        assertThat(fixture.read(KeyRange.all(), null).awaitEnd(PATIENCE))
                .isInstanceOf(Unexplained.class)
                .hasMessageContaining("delete.retention.ms");
    }

    @Test
    void aTopicThatIsNotThereIsNamed() {
        fixture.mirror(1);
        KafkaSettings impatient = new KafkaSettings(fixture.kafka().bootstrapServers(), null, Duration.ofSeconds(1));
        Feed feed = new KafkaFeedSource(
                        "test", impatient, KafkaFeedOptions.of("no-such-topic"), new SimpleMeterRegistry())
                .open(KeyRange.all(), FeedKind.STATE, null);
        FeedRunner reader = new FeedRunner(feed, new ModelConsumer(KeyRange.all()));
        fixture.closeLater(reader);
        assertThat(reader.awaitEnd(PATIENCE))
                .isInstanceOf(Unexplained.class)
                .hasMessageContaining("no-such-topic.state");
    }

    @Test
    void aDeletedTopicIsNotWaitedForAndAnotherOfItsNameNotRead() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        mirror.recreateChangeTopic();
        assertThat(reader.awaitEnd(PATIENCE)).isInstanceOf(Gap.class).hasMessageContaining(fixture.topic());
    }

    @Test
    void aRecreatedStateTopicIsReadFromItsBeginning() throws Exception {
        MirrorStub mirror = fixture.mirror(1);
        fixture.history()
                .put("", IntStream.range(0, 20_000).mapToObj(i -> "many-" + i).toArray(String[]::new));
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        ModelConsumer model = new ModelConsumer(KeyRange.all());
        try (Feed feed = fixture.source().open(KeyRange.all(), FeedKind.HISTORY, null)) {
            // Until a part is read, which is what one poll gives.
            for (int i = 0; i < 30 && model.position() == null; i++) {
                feed.poll(Duration.ofMillis(1), model);
            }
            assertThat(model.position()).isNull();
            mirror.recreateStateTopic();
            mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
            mirror.write(fixture.history().next(1));
            await().atMost(PATIENCE).until(() -> {
                feed.poll(Duration.ofMillis(50), model);
                return model.position() != null;
            });
        }
        assertThat(model.snapshots()).isEqualTo(1);
        assertThat(model.state()).hasSizeGreaterThanOrEqualTo(20_000);
    }

    @Test
    void theFeedContinuesAfterTheBrokerIsKilled() {
        MirrorStub mirror = fixture.mirror(2);
        mirror.snapshot(fixture.history().revision(), fixture.history().state(), List.of());
        FeedRunner reader = fixture.read(KeyRange.all(), null);
        mirror.writeEach(fixture.history().next(10));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        fixture.kafka().kill();
        FeedRunner late = fixture.read(KeyRange.all(), null);
        fixture.kafka().start();
        mirror.reconnect();
        mirror.writeEach(fixture.history().next(10));
        reader.awaitRevision(fixture.history().revision(), PATIENCE);
        late.awaitRevision(fixture.history().revision(), PATIENCE);
        assertThat(reader.state()).isEqualTo(fixture.history().state());
        assertThat(late.state()).isEqualTo(fixture.history().state());
        assertThat(reader.read(ModelConsumer::snapshots)).isEqualTo(1);
    }
}
