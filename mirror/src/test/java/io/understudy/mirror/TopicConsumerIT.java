package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.consumer.Change;
import io.understudy.consumer.ConsumerOptions;
import io.understudy.consumer.Event;
import io.understudy.consumer.MirrorConsumer;
import io.understudy.consumer.MirrorConsumerException;
import io.understudy.consumer.Position;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.kafka.KafkaSinkOptions.TopicLoss;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
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
            this(options());
        }

        Store(ConsumerOptions<String, String> options) {
            consumer = MirrorConsumer.open(options, null);
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

    @Test
    void commitsBeforeASnapshotAreReturnedThoughBothAreReadAtOnce() throws Exception {
        Uuid id;
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()))) {
            id = admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1)))
                    .topicId(topic)
                    .get();
        }
        ClusterId cluster = new ClusterId(1);
        KafkaClients clients = new KafkaClients(KafkaSettings.of(KAFKA.bootstrapServers()), "test");
        try (Producer<byte[], byte[]> producer =
                clients.producer(topic, Duration.ofSeconds(20), KafkaClients.MAX_MESSAGE_BYTES, Map.of())) {
            producer.initTransactions();
            producer.beginTransaction();
            TopicOrigin origin = new TopicOrigin(1, TopicScope.all(), 1);
            ProducerRecord<byte[], byte[]> stray = RecordFormat.write(
                    topic, 0, new TopicRecord.Complete(cluster, new Revision(4), new Revision(3), 0, null), origin);
            stray.headers().remove(MirrorRecord.PARTITIONS).add(MirrorRecord.PARTITIONS, null);
            var unusedToo = producer.send(stray);
            for (TopicRecord record : List.of(
                    changed(cluster, 5),
                    new TopicRecord.Complete(cluster, new Revision(5), new Revision(4), 1, null),
                    changed(cluster, 6),
                    new TopicRecord.Complete(cluster, new Revision(6), new Revision(5), 1, null),
                    new TopicRecord.SnapshotBegin(cluster, new Revision(8)))) {
                var unused = producer.send(RecordFormat.write(topic, 0, record, origin));
            }
            producer.commitTransaction();
        }
        Position stored = new Position(1, 1, id, 4, 4, List.of(0L));
        try (MirrorConsumer<String, String> consumer = MirrorConsumer.open(options(), stored)) {
            List<Event<String, String>> events = new ArrayList<>();
            await().pollInSameThread().atMost(PATIENCE).until(() -> {
                Event<String, String> event = consumer.next(Duration.ofMillis(100));
                if (event != null) {
                    events.add(event);
                }
                return event instanceof Event.StateBegin;
            });
            assertThat(events).hasSize(3);
            assertThat(events.subList(0, 2))
                    .extracting(each -> ((Event.Commit<String, String>) each).revision())
                    .containsExactly(5L, 6L);
            assertThat(consumer.strays()).isEqualTo(1);
        }
    }

    @Test
    void addedPartitionsAreRejected() throws Exception {
        source.put("a", "1");
        try (MirrorProcess mirror = start()) {
            awaitCaughtUp(mirror, source);
            addPartition();
            try (Store store = new Store()) {
                assertThatThrownBy(() -> store.readTo(Long.MAX_VALUE))
                        .isInstanceOf(MirrorConsumerException.class)
                        .hasMessageContaining("has 3 partitions, but its mirror writes to 2. Mirror to another topic");
            }
        }
    }

    /** Also for a consumer that finds only marks of the previous generation at first. */
    @Test
    void anotherNumberOfPartitionsInAnotherGenerationRestartsFromTheState() throws Exception {
        source.put("a", "1");
        try (Store running = new Store();
                Store reopened = new Store()) {
            try (MirrorProcess mirror = start()) {
                awaitCaughtUp(mirror, source);
                long revision = source.put("before", "1");
                running.readTo(revision);
                reopened.readTo(revision);
            }
            addPartition();
            try (MirrorProcess mirror = start(KafkaSinkOptions.of(KAFKA.bootstrapServers(), topic)
                    .withPartitions(PARTITIONS + 1)
                    .with(TopicLoss.RESYNC))) {
                awaitCaughtUp(mirror, source);
                long revision = source.put("after", "1");
                reopened.reopen();
                try (Store late = new Store()) {
                    for (Store store : List.of(running, reopened, late)) {
                        store.readTo(revision);
                        assertThat(store.state).containsEntry("before", "1").containsEntry("after", "1");
                    }
                }
                assertThat(running.begins).hasSizeGreaterThan(1);
                assertThat(reopened.begins).hasSizeGreaterThan(1);
            }
        }
    }

    private void addPartition() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()))) {
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(PARTITIONS + 1)))
                    .all()
                    .get();
            await().atMost(PATIENCE)
                    .until(() -> admin.describeTopics(List.of(topic))
                                    .topicNameValues()
                                    .get(topic)
                                    .get()
                                    .partitions()
                                    .size()
                            > PARTITIONS);
        }
    }

    @Test
    void tombstonesMayBeKeptForEver() throws Exception {
        try (MirrorProcess mirror = start();
                Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()));
                Store store = new Store()) {
            long revision = source.put("a", "1");
            awaitCaughtUp(mirror, source);
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.TOPIC, topic + ".state"),
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("delete.retention.ms", String.valueOf(Long.MAX_VALUE)),
                                    AlterConfigOp.OpType.SET))))
                    .all()
                    .get();
            store.readTo(revision);
        }
    }

    @Test
    void aCommitOverTheLimitIsReplacedByTheState() {
        source.put("a", "1");
        try (MirrorProcess mirror = start();
                Store store = new Store(options().withLimits(4096, 1000))) {
            awaitCaughtUp(mirror, source);
            store.readTo(source.put("before", "1"));
            store.readTo(source.put("large", "v".repeat(8192)));
            store.readTo(source.put("after", "1"));
            assertThat(store.state)
                    .containsEntry("before", "1")
                    .containsEntry("after", "1")
                    .containsKey("large");
            assertThat(store.begins).hasSize(2);
            assertThat(store.begins.get(1)).contains("maxCommitBytes");
        }
    }

    private static TopicRecord changed(ClusterId cluster, long at) {
        Revision revision = new Revision(at);
        KeyValue entry =
                new KeyValue(ByteString.copyFromUtf8("k"), ByteString.copyFromUtf8("v" + at), revision, revision, 1, 0);
        return new TopicRecord.Changed(cluster, revision, 0, 1, new io.understudy.vocabulary.Change.Put(entry));
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
        return start(KafkaSinkOptions.of(KAFKA.bootstrapServers(), topic).withPartitions(PARTITIONS));
    }

    private static MirrorProcess start(KafkaSinkOptions options) {
        return Mirrors.kafka(Mirrors.settings(CLUSTERS.source()), options);
    }

    private ConsumerOptions<String, String> options() {
        var text = new StringDeserializer();
        return ConsumerOptions.of(Map.of("bootstrap.servers", KAFKA.bootstrapServers()), topic, text, text);
    }
}
