package io.understudy.topics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.FeedKind;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.feed.kafka.KafkaFeedSource;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.local.kafka.LocalMirrorMaker;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A mirror's topics read where Kafka's MirrorMaker 2 has copied them to, while it is killed again and again.
 *
 * <p>Tests invariant FK9.
 */
// Twelve starts of MirrorMaker take about 10 s each.
@Timeout(600)
@Tag("distribution")
final class MirrorMakerIT {

    private static final int PARTITIONS = 2;
    private static final int KILLS =
            System.getProperty("understudy.schedule", "short").equals("long") ? 12 : 2;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final KafkaExtension core = KafkaExtension.broker();

    @RegisterExtension
    static final KafkaExtension dr = KafkaExtension.broker();

    @TempDir
    Path folder;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final ScheduledExecutorService writing = Executors.newSingleThreadScheduledExecutor();

    @Test
    void whateverMirrorMakerRepeatsEachCommitComesOnceWholeAndInOrder() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        System.err.println("seed " + seed);
        try (WrittenTopics topics = WrittenTopics.create(core.bootstrapServers(), PARTITIONS, seed);
                LocalMirrorMaker copying = new LocalMirrorMaker(
                        folder,
                        core.bootstrapServers(),
                        dr.bootstrapServers(),
                        List.of(WrittenTopics.CHANGES, WrittenTopics.STATE.replace(".", "\\.")))) {
            ScheduledFuture<?> writer = writing.scheduleWithFixedDelay(topics::writeMore, 0, 20, TimeUnit.MILLISECONDS);
            copying.start();
            try (Reader reader = read(null)) {
                await().atMost(PATIENCE).until(() -> reader.commits().size() > 100);
                for (int kill = 0; kill < KILLS; kill++) {
                    copying.kill();
                    Revision known = topics.revision();
                    copying.start();
                    await().atMost(PATIENCE).until(() -> reader.revision().isAfter(known));
                }
                Position middle = reader.position().orElseThrow();
                writer.cancel(false);
                writing.shutdown();
                assertThat(writing.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
                topics.writeMore();

                await().atMost(PATIENCE).until(() -> reader.revision().equals(topics.revision()));
                assertThat(reader.commits()).isEqualTo(topics.commitsAfter(reader.snapshot()));
                assertThat(reader.state()).isEqualTo(topics.state());
                assertThat(copiedRecords())
                        .as("records copied; only more than were written show that some came again")
                        .isGreaterThan(topics.changeRecords());

                // MirrorMaker copies each partition at its own pace: the state topic may be behind the changes.
                await().atMost(PATIENCE)
                        .until(() -> snapshotReadFromStart(topics).equals(topics.revision()));
                try (Reader resumed = read(middle)) {
                    await().atMost(PATIENCE).until(() -> resumed.revision().equals(topics.revision()));
                    assertThat(resumed.commits()).isEqualTo(topics.commitsAfter(middle.revision()));
                }
            }
        } finally {
            writing.shutdownNow();
        }
    }

    private Revision snapshotReadFromStart(WrittenTopics topics) {
        try (Reader late = read(null)) {
            await().atMost(PATIENCE).until(() -> late.revision().equals(topics.revision()));
            assertThat(late.state()).isEqualTo(topics.state());
            return late.snapshot();
        }
    }

    private Reader read(@Nullable Position resumeAt) {
        KafkaFeedSource source = new KafkaFeedSource(
                "dr",
                KafkaSettings.of(dr.bootstrapServers()),
                KafkaFeedOptions.of(LocalMirrorMaker.PREFIX + WrittenTopics.CHANGES),
                meters);
        return new Reader(source.open(KeyRange.all(), FeedKind.STATE, resumeAt));
    }

    private static long copiedRecords() {
        List<TopicPartition> partitions = List.of(
                new TopicPartition(LocalMirrorMaker.PREFIX + WrittenTopics.CHANGES, 0),
                new TopicPartition(LocalMirrorMaker.PREFIX + WrittenTopics.CHANGES, 1));
        try (Consumer<byte[], byte[]> consumer =
                new KafkaClients(KafkaSettings.of(dr.bootstrapServers()), "counting").consumer()) {
            // The copies are in no transaction, so that each offset is a record.
            return consumer.endOffsets(partitions).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }
}
