package io.understudy.mirror.kafka;

import static io.understudy.mirror.kafka.SinkFixture.CLUSTER;
import static io.understudy.mirror.kafka.SinkFixture.at;
import static io.understudy.mirror.kafka.SinkFixture.commit;
import static io.understudy.mirror.kafka.SinkFixture.entry;
import static io.understudy.mirror.kafka.SinkFixture.give;
import static io.understudy.mirror.kafka.SinkFixture.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedKind;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.feed.kafka.KafkaFeedSource;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Another producer writes to the topics of a mirror.
 *
 * <p>Tests invariant M50.
 */
final class StrayRecordsIT {

    private static final Duration PATIENCE = SinkFixture.PATIENCE;

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    @RegisterExtension
    final SinkFixture fixture = new SinkFixture(KAFKA);

    private KafkaProducer<byte[], byte[]> other;
    private KafkaSink sink;

    @BeforeEach
    void begin() {
        other = new KafkaProducer<>(
                Map.of("bootstrap.servers", KAFKA.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        // The state is compared by parts of one key.
        fixture.options(Binder.with(fixture.options(), "maxMergeKeys", 1));
        sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
    }

    @AfterEach
    void close() {
        other.close();
    }

    /** The mirror meets them when it writes on, and restores the key; a reader that began before waits for that. */
    @ParameterizedTest
    @CsvSource({"junk", ","})
    void aKeyThatAStrayRecordReplacedIsRestored(@Nullable String value) {
        stray(fixture.options().stateTopic(), "a", value);
        isRestored();
    }

    @Tag("schedules")
    @ParameterizedTest
    @CsvSource({"junk", ","})
    void aKeyThatCompactionRemovedIsRestored(@Nullable String value) throws Exception {
        stray(fixture.options().stateTopic(), "a", value);
        awaitCompaction("a");
        isRestored();
    }

    private void isRestored() {
        try (Reader reader = new Reader()) {
            reader.awaitStray();
            List<KeyValue> state = new ArrayList<>(List.of(entry(11, "a"), entry(9, "first")));
            await().atMost(PATIENCE).until(() -> isRefused(state));
            assertThat(reader.snapshot).as("of the state without a key").isNull();
            resynchronise(fixture.sink(), 9 + state.size(), state);
            assertThat(reader.await().keySet()).containsExactlyElementsOf(keys(state));
            assertThat(fixture.state().keySet()).containsAll(keys(state));
        }
        assertThat(fixture.strays()).isPositive();
        // What is restored is not restored again.
        assertThat(fixture.sink().open()).isNotNull();
    }

    @Test
    void keysReplacedWhileTheMirrorWasDownAreFoundAtTheStart() {
        sink.close();
        stray(fixture.options().stateTopic(), "a", null);
        isFound();
    }

    @Tag("schedules")
    @ParameterizedTest
    @CsvSource({"a, junk", "a,", "'', junk"})
    void keysRemovedWhileTheMirrorWasDownAreFoundAtTheStart(String key, @Nullable String value) throws Exception {
        sink.close();
        stray(fixture.options().stateTopic(), key, value);
        awaitCompaction(key);
        isFound();
    }

    private void isFound() {
        KafkaSink next = fixture.sink();
        List<KeyValue> state = List.of(entry(11, "a"), entry(9, "first"));
        resynchronise(next, 11, state);
        try (Reader reader = new Reader()) {
            assertThat(reader.await().keySet()).containsExactlyElementsOf(keys(state));
        }
    }

    /** The record has all headers, so it is not stray; the number of keys shows it. */
    @Test
    void aKeyThatAnotherWriterAddedIsRemoved() throws Exception {
        add("never");
        List<KeyValue> state = new ArrayList<>(List.of(entry(11, "a"), entry(9, "first")));
        await().atMost(PATIENCE).until(() -> isRefused(state));
        resynchronise(fixture.sink(), 9 + state.size(), state);
        assertThat(fixture.state().keySet()).containsExactlyElementsOf(keys(state));
        assertThat(fixture.sink().open()).isNotNull();
    }

    /** Readers count it, but no page of a snapshot covers it. */
    @Test
    void aKeyThatAnotherWriterAddedBesideTheScopeIsRemoved() throws Exception {
        fixture.options(KafkaSinkOptions.of(KAFKA.bootstrapServers(), "scoped"));
        fixture.scope(MirrorScope.prefix("a"));
        KafkaSink scoped = fixture.begun(10);
        add("never");
        scoped.snapshotStarted(CLUSTER, new Revision(12));
        scoped.snapshotPage(range("a", "b"), List.of(entry(11, "a")));
        scoped.snapshotCompleted(at(12));
        assertThat(fixture.state()).containsOnlyKeys("a");
    }

    private void add(String key) throws Exception {
        String topic = fixture.options().stateTopic();
        long generation = MirrorRecord.generation(
                Topic.records(KAFKA.bootstrapServers(), topic).get(0));
        var unused = other.send(RecordFormat.write(
                        topic,
                        0,
                        new TopicRecord.Found(CLUSTER, entry(10, key)),
                        new TopicOrigin(generation, TopicScope.all(), 1)))
                .get();
    }

    /** Also in place of a mark, which the mirror writes again. */
    @Test
    void strayRecordsOfOtherKeysAreSkippedAndCounted() {
        String changes = fixture.options().topic();
        for (String key : List.of("foreign", "")) {
            stray(changes, key, "junk");
            stray(fixture.options().stateTopic(), key, "junk");
        }
        List<KeyValue> state = new ArrayList<>(List.of(entry(11, "a"), entry(9, "first")));
        await().atMost(PATIENCE).until(() -> {
            add(state);
            return fixture.strays() > 1;
        });
        try (Reader reader = new Reader()) {
            assertThat(reader.await().keySet()).containsExactlyElementsOf(keys(state));
            assertThat(reader.strays()).isEqualTo(2);
            stray(changes, "a", "junk");
            stray(changes, "", null);
            add(state);
            reader.await(new Revision(9 + state.size()));
            assertThat(reader.strays()).isEqualTo(4);
        }
        sink.close();
        stray(fixture.options().checkpointTopic(), "foreign", "junk");
        stray(fixture.options().checkpointTopic(), "log", null);
        assertThat(fixture.sink().open()).isNotNull();
    }

    private void add(List<KeyValue> state) {
        int revision = 10 + state.size();
        state.add(entry(revision, "key-" + revision));
        give(sink, commit(revision, "key-" + revision));
        sink.settle();
    }

    private boolean isRefused(List<KeyValue> state) {
        try {
            add(state);
            return false;
        } catch (SinkException.Unavailable e) {
            assertThat(e)
                    .hasMessageContaining("records of another writer changed the keys of topic "
                            + fixture.options().stateTopic());
            sink.close();
            return true;
        }
    }

    private static void resynchronise(KafkaSink next, long revision, List<KeyValue> state) {
        assertThat(next.open()).as("the position of a resynchronisation").isNull();
        rewrite(next, revision, state);
    }

    private static void rewrite(KafkaSink next, long revision, List<KeyValue> state) {
        next.snapshotStarted(CLUSTER, new Revision(revision));
        next.snapshotPage(
                KeyRange.all(),
                state.stream()
                        .sorted((one, another) -> KeyRange.KEY_ORDER.compare(one.key(), another.key()))
                        .toList());
        next.snapshotCompleted(at(revision));
        next.close();
    }

    /** Brokers accept it while the topic is not compacted. */
    @Test
    void recordsWithoutAKeyInTheStateTopicAreSkipped() throws Exception {
        strayWithoutKey();
        List<KeyValue> state = new ArrayList<>(List.of(entry(11, "a"), entry(9, "first")));
        await().atMost(PATIENCE).until(() -> {
            add(state);
            return fixture.strays() > 0;
        });
        sink.close();
        strayWithoutKey();
        KafkaSink next = fixture.sink();
        assertThat(next.open()).isNotNull();
        rewrite(next, 10 + state.size(), state);
        try (Reader reader = new Reader()) {
            assertThat(reader.await().keySet()).containsExactlyElementsOf(keys(state));
        }
    }

    private void strayWithoutKey() throws Exception {
        String topic = fixture.options().stateTopic();
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        alter(resource, "cleanup.policy", "delete");
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> other.send(new ProducerRecord<>(topic, 0, null, bytes("junk")))
                                .get()
                        != null);
        alter(resource, "cleanup.policy", "compact");
    }

    private static List<String> keys(List<KeyValue> state) {
        return state.stream().map(entry -> entry.key().toStringUtf8()).sorted().toList();
    }

    private void stray(String topic, String key, @Nullable String value) {
        try {
            other.send(new ProducerRecord<>(topic, 0, bytes(key), value == null ? null : bytes(value)))
                    .get();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Until the mirror's own record of that key is gone. */
    private void awaitCompaction(String key) throws Exception {
        String topic = fixture.options().stateTopic();
        alter(new ConfigResource(ConfigResource.Type.BROKER, ""), "log.cleaner.backoff.ms", "50");
        alter(new ConfigResource(ConfigResource.Type.TOPIC, topic), "segment.ms", "100");
        alter(new ConfigResource(ConfigResource.Type.TOPIC, topic), "min.cleanable.dirty.ratio", "0.01");
        await().atMost(PATIENCE).until(() -> {
            // Another segment begins with another record.
            stray(topic, "foreign", "junk");
            return Topic.records(KAFKA.bootstrapServers(), topic).stream().noneMatch(record -> isOwn(record, key));
        });
    }

    private static boolean isOwn(ConsumerRecord<byte[], byte[]> record, String key) {
        return new String(record.key(), StandardCharsets.UTF_8).equals(key)
                && record.headers().lastHeader("understudy.format") != null;
    }

    private void alter(ConfigResource resource, String name, String value) throws Exception {
        fixture.admin()
                .incrementalAlterConfigs(Map.of(
                        resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET))))
                .all()
                .get();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A feed of the topics, up to its first complete snapshot. */
    private final class Reader implements FeedConsumer, AutoCloseable {

        private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
        private final Map<String, String> entries = new TreeMap<>();
        private final Feed feed;
        private @Nullable Map<String, String> snapshot;
        private Revision revision = Revision.ZERO;

        Reader() {
            feed = new KafkaFeedSource(
                            "reader",
                            fixture.options().kafka(),
                            KafkaFeedOptions.of(fixture.options().topic()),
                            meters)
                    .open(KeyRange.all(), FeedKind.STATE, null);
        }

        int strays() {
            return (int) meters.get("understudy.feed.strays").counter().count();
        }

        void awaitStray() {
            Awaitility.await().atMost(PATIENCE).until(() -> poll() || strays() > 0);
        }

        Map<String, String> await() {
            Awaitility.await().atMost(PATIENCE).until(() -> poll() && snapshot != null);
            return snapshot;
        }

        void await(Revision awaited) {
            Awaitility.await().atMost(PATIENCE).until(() -> poll() && revision.equals(awaited));
        }

        private boolean poll() {
            try {
                return feed.poll(Duration.ofMillis(100), this);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void snapshotStarted(ClusterId cluster, Revision revision) {
            entries.clear();
        }

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> page) {
            page.forEach(entry ->
                    entries.put(entry.key().toStringUtf8(), entry.value().toStringUtf8()));
        }

        @Override
        public void snapshotCompleted(Position position) {
            snapshot = entries;
        }

        @Override
        public void commit(Commit commit, Position position) {
            revision = commit.revision();
        }

        @Override
        public void progress(Position position) {}

        @Override
        public void close() {
            feed.close();
        }
    }
}
