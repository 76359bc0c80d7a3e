package io.understudy.feed.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The feed against a real broker, and a stand-in for the mirror that writes. */
final class KafkaFeedIT {

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static int topics;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final RandomHistory history = new RandomHistory(seed(), 50);
    private String topic;

    private static long seed() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        return seed;
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
        KafkaFeedSource source = new KafkaFeedSource(
                "test",
                KafkaSettings.of(KAFKA.kafka().bootstrapServers()),
                KafkaFeedOptions.of(topic),
                new SimpleMeterRegistry());
        FeedRunner runner = new FeedRunner(source.open(range, FeedKind.HISTORY, resumeAt), model);
        open.add(runner);
        return runner;
    }
}
