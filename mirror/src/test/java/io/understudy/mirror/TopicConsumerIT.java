package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.consumer.Change;
import io.understudy.consumer.ConsumerOptions;
import io.understudy.consumer.Event;
import io.understudy.consumer.MirrorConsumer;
import io.understudy.consumer.Position;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The consumer library behind a real mirror.
 *
 * <p>Tests invariants KC1, KC2.
 */
final class TopicConsumerIT {

    private static final int PARTITIONS = 2;

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    private final TestClient source = CLUSTERS.sourceClient();
    private String topic;

    @BeforeEach
    void name(TestInfo test) {
        topic = test.getTestMethod().orElseThrow().getName();
    }

    /** What a caller stores: the state and the position that belongs to it. */
    private final class Store implements AutoCloseable {
        private final TreeMap<String, String> state = new TreeMap<>();
        private final List<Long> commits = new ArrayList<>();
        private final List<String> begins = new ArrayList<>();
        private MirrorConsumer<String, String> consumer;
        private @Nullable Position position;

        Store() {
            consumer = MirrorConsumer.open(options(), null);
        }

        /** As after a crash: all that is not stored is lost. */
        void reopen() {
            consumer.close();
            Position stored = position == null ? null : Position.parse(position.toString());
            consumer = MirrorConsumer.open(options(), stored);
        }

        void readTo(long revision) {
            await().pollInSameThread()
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(PATIENCE)
                    .until(() -> {
                        accept(consumer.next(Duration.ofMillis(100)));
                        return position != null && position.revision() >= revision;
                    });
        }

        void accept(@Nullable Event<String, String> event) {
            if (event instanceof Event.StateBegin<String, String> begin) {
                begins.add(begin.reason());
                state.clear();
                position = null;
            } else if (event instanceof Event.StatePart<String, String> part) {
                apply(part.change());
            } else if (event instanceof Event.StateEnd<String, String> end) {
                position = end.position();
            } else if (event instanceof Event.Commit<String, String> commit) {
                commits.add(commit.revision());
                commit.changes().forEach(this::apply);
                position = commit.position();
            } else if (event instanceof Event.Progress<String, String> progress) {
                position = progress.position();
            }
        }

        private void apply(Change<String, String> change) {
            if (change instanceof Change.Put<String, String> put) {
                state.put(put.key(), put.value());
            } else {
                state.remove(change.key());
            }
        }

        @Override
        public void close() {
            consumer.close();
        }
    }

    @Test
    void stateAndEveryCommitAcrossReopenings() {
        source.put("a", "1");
        source.put("b", "1");
        try (MirrorProcess mirror = start();
                Store store = new Store()) {
            awaitCaughtUp(mirror, source);
            store.readTo(source.put("c", "1"));
            assertThat(store.state).isEqualTo(Map.of("a", "1", "b", "1", "c", "1"));
            store.commits.clear();
            List<Long> written = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                written.add(i % 5 == 4 ? source.delete("k" + (i - 1)) : source.put("k" + i, "" + i));
                if (i % 7 == 0) {
                    store.readTo(written.get(i));
                    store.reopen();
                }
            }
            store.readTo(written.get(29));
            assertThat(store.commits).isEqualTo(written);
            assertThat(store.begins).containsExactly("no position");
            try (Store late = new Store()) {
                late.readTo(written.get(29));
                assertThat(late.state).isEqualTo(store.state);
            }
        }
    }

    @Test
    void recreatedTopicsRestartFromTheState() throws Exception {
        source.put("old", "1");
        try (Store store = new Store()) {
            try (MirrorProcess mirror = start()) {
                awaitCaughtUp(mirror, source);
                store.readTo(source.put("before", "1"));
            }
            source.delete("old");
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()))) {
                admin.deleteTopics(List.of(topic, topic + ".state", topic + ".checkpoint"))
                        .all()
                        .get();
            }
            try (MirrorProcess mirror = start()) {
                awaitCaughtUp(mirror, source);
                store.readTo(source.put("after", "1"));
                assertThat(store.state).isEqualTo(Map.of("before", "1", "after", "1"));
                assertThat(store.begins).hasSizeGreaterThan(1);
            }
        }
    }

    /** Takes as long as the mirror takes to repair the topic. */
    @Test
    @Tag("schedules")
    void strayRecordsAreSkippedAndAStrayTombstoneIsRepairedFirst() throws Exception {
        source.put("a", "1");
        source.put("b", "1");
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            Properties properties = new Properties();
            properties.put("bootstrap.servers", KAFKA.bootstrapServers());
            var bytes = new ByteArraySerializer();
            try (KafkaProducer<byte[], byte[]> stranger = new KafkaProducer<>(properties, bytes, bytes)) {
                stranger.send(new ProducerRecord<>(topic, "x".getBytes(StandardCharsets.UTF_8), new byte[1]))
                        .get(10, TimeUnit.SECONDS);
                stranger.send(new ProducerRecord<>(topic + ".state", "a".getBytes(StandardCharsets.UTF_8), null))
                        .get(10, TimeUnit.SECONDS);
            }
            try (Store store = new Store()) {
                store.readTo(source.put("c", "1"));
                assertThat(store.state).isEqualTo(Map.of("a", "1", "b", "1", "c", "1"));
                assertThat(store.consumer.strays()).isPositive();
            }
        }
    }

    private MirrorProcess start() {
        KafkaSinkOptions options =
                KafkaSinkOptions.of(KAFKA.bootstrapServers(), topic).withPartitions(PARTITIONS);
        return Mirrors.kafka(Mirrors.settings(CLUSTERS.source()), options);
    }

    private ConsumerOptions<String, String> options() {
        var text = new StringDeserializer();
        return ConsumerOptions.of(Map.of("bootstrap.servers", KAFKA.bootstrapServers()), topic, text, text);
    }
}
