package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.kafka.KafkaClients;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.fixture.TopicHistory;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One sink at a real broker, given commits by hand: whoever reads what is committed sees each once, whole and in order. */
final class KafkaSinkIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final ClusterId CLUSTER = new ClusterId(0xc1);

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    private final List<KafkaSink> opened = new ArrayList<>();
    private KafkaSinkOptions options;
    private MirrorScope scope = MirrorScope.all();
    private Admin admin;

    @BeforeEach
    void connect(TestInfo test) {
        options = KafkaSinkOptions.of(
                KAFKA.bootstrapServers(), test.getTestMethod().orElseThrow().getName());
        admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()));
    }

    @AfterEach
    void disconnect() {
        opened.forEach(KafkaSink::close);
        admin.close();
    }

    @Test
    void commitsAreWholeAndInOrderAcrossThreePartitions() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        options = options.withPartitions(3);
        KafkaSink sink = begun(10);
        List<Commit> given = new ArrayList<>();
        for (int revision = 11; revision <= 200; revision++) {
            Commit commit = commit(
                    revision,
                    IntStream.range(0, random.nextInt(1, 20))
                            .mapToObj(i -> "k" + i)
                            .toArray(String[]::new));
            given.add(commit);
            sink.commit(commit, at(commit));
            if (random.nextInt(10) == 0) {
                sink.settle();
            }
        }
        sink.settle();
        TopicHistory history = history();
        assertThat(history.commits()).as("seed %d", seed).isEqualTo(given);
        assertThat(history.complete()).isEqualTo(200);
        assertThat(sink.complete()).isEqualTo(new Revision(200));
    }

    @Test
    void whatWasNotCommittedIsNeverSeenAndIsWrittenByTheNext() {
        KafkaSink killed = begun(10);
        give(killed, commit(11, "a"));
        killed.settle();
        killed.commit(commit(12, "a", "b"), at(commit(12, "a", "b")));
        killed.close();
        assertThat(history().complete()).isEqualTo(11);
        KafkaSink next = sink();
        assertThat(next.open()).isEqualTo(at(commit(11, "a")));
        give(next, commit(12, "a", "b"));
        next.settle();
        assertThat(history().commits()).isEqualTo(List.of(commit(11, "a"), commit(12, "a", "b")));
    }

    @Test
    void aSecondMirrorFencesTheFirst() {
        KafkaSink first = begun(10);
        KafkaSink second = sink();
        assertThat(second.open()).isEqualTo(at(10));
        assertThatThrownBy(() -> {
                    give(first, commit(11, "a"));
                    first.settle();
                })
                .isInstanceOf(SinkException.Fenced.class)
                .hasMessageContaining("another mirror writes topic " + options.topic())
                .hasMessageContaining("understudy." + options.topic());
        give(second, commit(11, "b"));
        second.settle();
        assertThat(history().commits()).isEqualTo(List.of(commit(11, "b")));
    }

    @Test
    void goesOnAfterItsTransactionWasAbortedThoughNobodyElseWrites() throws Exception {
        KafkaSink suspended = begun(10);
        suspended.commit(commit(11, "a"), at(commit(11, "a")));
        admin.fenceProducers(List.of(options.transactionalId())).all().get();
        assertThatThrownBy(suspended::caughtUp)
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("no other mirror has written since");
        suspended.close();
        KafkaSink next = sink();
        assertThat(next.open()).isEqualTo(at(10));
        give(next, commit(11, "a"));
        next.caughtUp();
        assertThat(history().commits()).isEqualTo(List.of(commit(11, "a")));
    }

    @Test
    void whatItDropsWhenItIsClosedHoldsUpNoReader() throws Exception {
        KafkaSink sink = begun(10);
        sink.commit(commit(11, "a"), at(commit(11, "a")));
        TopicPartition partition = new TopicPartition(options.topic(), 0);
        await().atMost(PATIENCE)
                .until(() -> end(partition, IsolationLevel.READ_UNCOMMITTED)
                        > end(partition, IsolationLevel.READ_COMMITTED));
        sink.close();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> end(partition, IsolationLevel.READ_UNCOMMITTED)
                        == end(partition, IsolationLevel.READ_COMMITTED));
        assertThat(history().complete()).isEqualTo(10);
    }

    private long end(TopicPartition partition, IsolationLevel isolation) throws Exception {
        return admin.listOffsets(Map.of(partition, OffsetSpec.latest()), new ListOffsetsOptions(isolation))
                .partitionResult(partition)
                .get()
                .offset();
    }

    @Test
    void aCommitOfManyDeletesIsOneTransaction() {
        KafkaSink sink = begun(10);
        List<Change> deletes = IntStream.range(0, 200_000)
                .<Change>mapToObj(i -> new Change.Delete(key("/many/" + i)))
                .toList();
        Commit commit = new Commit(new Revision(11), deletes);
        give(sink, commit);
        sink.settle();
        TopicHistory history = history();
        assertThat(history.commits()).hasSize(1);
        assertThat(history.commits().get(0).changes()).hasSize(200_000);
        assertThat(history.marks()).hasSize(3);
    }

    @Test
    void refusesAValueThatIsTooLargeBeforeAnythingOfItsCommitIsWritten() {
        KafkaSink sink = begun(10);
        give(sink, commit(11, "before"));
        Commit large =
                new Commit(new Revision(12), List.of(put(12, "small", "1"), put(12, "large", "x".repeat(2 << 20))));
        assertThatThrownBy(() -> give(sink, large))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("key \"large\" at revision 12")
                .hasMessageContaining("max.message.bytes of " + options.topic())
                .hasMessageContaining("allows 2097152");
        sink.close();
        assertThat(history().commits()).isEqualTo(List.of(commit(11, "before")));
    }

    @Test
    void compactionIsNotHeldUpByLargeSegments() throws Exception {
        var unused = begun(10);
        assertThat(segmentBytes(options.checkpointTopic())).isEqualTo("16777216");
        assertThat(segmentBytes(options.stateTopic())).isEqualTo("134217728");
    }

    private String segmentBytes(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return admin.describeConfigs(List.of(resource))
                .all()
                .get()
                .get(resource)
                .get("segment.bytes")
                .value();
    }

    @Test
    void takesTopicsThatHaveNoLimit() {
        for (String topic : List.of(options.topic(), options.stateTopic())) {
            create(new NewTopic(topic, Optional.of(1), Optional.empty())
                    .configs(Map.of(
                            "max.message.bytes",
                            "2147483647",
                            "cleanup.policy",
                            topic.equals(options.topic()) ? "delete" : "compact")));
        }
        KafkaSink sink = begun(10);
        give(sink, commit(11, "a"));
        sink.caughtUp();
        assertThat(history().commits()).isEqualTo(List.of(commit(11, "a")));
    }

    @Test
    void takesWhatTheTopicsWereRaisedTo() {
        for (String topic : List.of(options.topic(), options.stateTopic())) {
            create(new NewTopic(topic, Optional.of(1), Optional.empty())
                    .configs(Map.of(
                            "max.message.bytes",
                            "4194304",
                            "cleanup.policy",
                            topic.equals(options.topic()) ? "delete" : "compact")));
        }
        byte[] incompressible = new byte[4_000_000];
        new Random(1).nextBytes(incompressible);
        KafkaSink sink = begun(10);
        Revision revision = new Revision(11);
        Commit large = new Commit(
                revision,
                List.of(new Change.Put(
                        new KeyValue(key("large"), ByteString.copyFrom(incompressible), revision, revision, 1, 0))));
        give(sink, large);
        sink.settle();
        assertThat(history().commits()).isEqualTo(List.of(large));
    }

    @Test
    void onlyKeysOfTheScopeAreWritten() {
        scope = MirrorScope.prefix("/in/");
        KafkaSink sink = begun(10);
        give(sink, commit(11, "/in/a", "/out", "/in/b"));
        give(sink, commit(12, "/out"));
        give(sink, commit(13, "/in/a"));
        sink.settle();
        TopicHistory history = history();
        assertThat(history.commits()).isEqualTo(List.of(commit(11, "/in/a", "/in/b"), commit(13, "/in/a")));
        assertThat(history.complete()).isEqualTo(13);
    }

    @Test
    void anInterruptedSnapshotIsWrittenAnew() {
        KafkaSink killed = sink();
        killed.open();
        killed.snapshotStarted(CLUSTER, new Revision(10));
        killed.snapshotPage(range("a", "m"), List.of(entry(5, "a"), entry(6, "b")));
        killed.settle();
        killed.close();
        KafkaSink next = sink();
        assertThat(next.open()).isNull();
        next.snapshotStarted(CLUSTER, new Revision(20));
        next.snapshotPage(KeyRange.all(), List.of(entry(6, "b"), entry(15, "c")));
        next.snapshotCompleted(at(20));
        assertThat(history().state().keySet()).containsExactly(key("b"), key("c"));
        assertThat(state()).containsOnlyKeys("b", "c");
        assertThat(history().marks())
                .extracting(mark -> mark.getClass().getSimpleName())
                .containsExactly("SnapshotBegin", "SnapshotBegin", "SnapshotEnd");
    }

    @Test
    void writesAnEntryThatAnotherHistoryHasAtTheSameRevision() {
        KafkaSink sink = begun(10);
        // A gap: what is merged is of a source that was restored, and has passed the mirror's revision since.
        sink.snapshotStarted(CLUSTER, new Revision(20));
        Revision revision = new Revision(9);
        KeyValue other = new KeyValue(key("first"), ByteString.copyFromUtf8("other"), new Revision(1), revision, 1, 0);
        sink.snapshotPage(KeyRange.all(), List.of(other));
        sink.snapshotCompleted(at(20));
        assertThat(state()).containsOnly(Map.entry("first", "other"));
    }

    @Test
    void aSnapshotBehindWhatTheTopicsTellIsRefusedThoughTheCheckpointIsLost() {
        KafkaSink sink = begun(10);
        give(sink, commit(11, "a"));
        sink.caughtUp();
        sink.close();
        delete(options.checkpointTopic());
        options = options.withOnTopicLoss(TopicLoss.RESYNC);
        KafkaSink again = sink();
        assertThat(again.open()).isNull();
        assertThatThrownBy(() -> again.snapshotStarted(CLUSTER, new Revision(10)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining(options.stateTopic())
                .hasMessageContaining("revision 11");
        assertThatThrownBy(() -> again.snapshotStarted(new ClusterId(0xc2), new Revision(12)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("source cluster " + CLUSTER);
    }

    @Test
    void saysThatNothingHappened() {
        KafkaSink sink = begun(10);
        Instant asked = Instant.ofEpochMilli(1_700_000_000_123L);
        sink.asOf(asked);
        await().atMost(PATIENCE).until(() -> {
            sink.settle();
            return history().marks().size() == 3;
        });
        assertThat(history().marks().get(2))
                .isEqualTo(new TopicRecord.Complete(CLUSTER, new Revision(10), new Revision(10), 0, asked));
        sink.progress(at(15));
        await().atMost(PATIENCE).until(() -> {
            sink.settle();
            return history().complete() == 15;
        });
        sink.close();
        assertThat(sink().open()).isEqualTo(at(15));
    }

    @Test
    void stopsWhenATopicIsGoneAndWritesItAnewIfThatIsMeant() {
        KafkaSink sink = begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        sink.close();
        delete(options.topic());
        assertThatThrownBy(() -> sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("topic " + options.topic() + " is gone")
                .hasMessageContaining("up to revision 11")
                .hasMessageContaining("onTopicLoss");
        options = options.withOnTopicLoss(TopicLoss.RESYNC);
        KafkaSink again = sink();
        assertThat(again.open()).isNull();
        again.snapshotStarted(CLUSTER, new Revision(12));
        again.snapshotPage(KeyRange.all(), List.of(entry(9, "first"), entry(12, "b")));
        again.snapshotCompleted(at(12));
        assertThat(history().state().keySet()).containsExactly(key("b"), key("first"));
        assertThat(state()).containsOnlyKeys("b", "first");
    }

    @Test
    void whatIsWrittenAnewIsOfALaterGeneration() throws Exception {
        begun(10).close();
        KafkaSink sink = sink();
        sink.open();
        give(sink, commit(11, "a"));
        sink.caughtUp();
        sink.close();
        List<Long> before = generations();
        assertThat(before).hasSize(1);
        delete(options.topic());
        delete(options.stateTopic());
        options = options.withOnTopicLoss(TopicLoss.RESYNC);
        KafkaSink again = sink();
        assertThat(again.open()).isNull();
        again.snapshotStarted(CLUSTER, new Revision(12));
        again.snapshotPage(KeyRange.all(), List.of(entry(9, "first")));
        again.snapshotCompleted(at(12));
        assertThat(generations()).singleElement().satisfies(later -> assertThat(later)
                .isGreaterThan(before.get(0)));
    }

    /** Of all records of the state. */
    private List<Long> generations() {
        return Topic.records(KAFKA.bootstrapServers(), options.stateTopic()).stream()
                .map(record -> Long.valueOf(Topic.headers(record).get("understudy.generation")))
                .distinct()
                .toList();
    }

    @Test
    void noticesATopicThatIsCreatedAnewUnderIt() {
        KafkaSink sink = begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        delete(options.topic());
        assertThatThrownBy(() -> {
                    for (int revision = 12; ; revision++) {
                        give(sink, commit(revision, "a"));
                        sink.settle();
                    }
                })
                .isInstanceOf(SinkException.Unavailable.class);
        sink.close();
        assertThatThrownBy(() -> sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageMatching(".*topic " + options.topic() + " (is gone|was deleted and created anew).*");
    }

    @Test
    void noticesThatTheEndWasTruncated() {
        KafkaSink sink = begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        Checkpoint ahead = sink.checkpoint();
        sink.close();
        // The checkpoint of what the topic no longer has.
        KafkaClients clients = new KafkaClients(options.kafka(), "test");
        CheckpointTopic checkpoints = new CheckpointTopic(options.checkpointTopic(), "log");
        CheckpointTopic.Stored stored = checkpoints.read(new TopicReader(clients));
        try (Producer<byte[], byte[]> producer = clients.producer("test", Duration.ofMinutes(1), 1 << 20)) {
            producer.initTransactions();
            producer.beginTransaction();
            var unused =
                    producer.send(checkpoints.record(ahead.syncedAt(at(12)), stored.footprint(), stored.generation()));
            producer.commitTransaction();
        }
        assertThatThrownBy(() -> sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("ends at revision 11, but everything up to revision 12 was mirrored");
    }

    @Test
    void goesOnWhereWhatWasWrittenHasExpired() throws Exception {
        KafkaSink sink = begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        sink.close();
        admin.deleteRecords(Map.of(new TopicPartition(options.topic(), 0), RecordsToDelete.beforeOffset(-1)))
                .all()
                .get();
        KafkaSink next = sink();
        assertThat(next.open()).isEqualTo(at(commit(11, "a")));
        give(next, commit(12, "b"));
        next.settle();
        assertThat(state()).containsOnlyKeys("first", "a", "b");
    }

    @Test
    void refusesTopicsThatAreAnotherMirrorsWhichGoesOn() {
        KafkaSink owner = begun(10);
        KafkaSink other = new KafkaSink("other", scope, "test/2", options, new Silent());
        opened.add(other);
        assertThatThrownBy(other::open)
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("at key \"log\"");
        give(owner, commit(11, "a"));
        owner.settle();
        assertThat(history().commits()).isEqualTo(List.of(commit(11, "a")));
    }

    private KafkaSink sink() {
        KafkaSink sink = new KafkaSink("log", scope, "test/1", options, new Silent());
        opened.add(sink);
        return sink;
    }

    /** One that has mirrored a snapshot with the key {@code first}, or nothing of the scope. */
    private KafkaSink begun(long revision) {
        KafkaSink sink = sink();
        assertThat(sink.open()).isNull();
        sink.snapshotStarted(CLUSTER, new Revision(revision));
        sink.snapshotPage(KeyRange.all(), List.of(entry(9, "first")));
        sink.snapshotCompleted(at(revision));
        return sink;
    }

    private static void give(KafkaSink sink, Commit commit) {
        sink.commit(commit, at(commit));
    }

    private TopicHistory history() {
        return TopicHistory.read(KAFKA.bootstrapServers(), options.topic(), options.partitions());
    }

    private Map<String, String> state() {
        Map<String, String> state = new TreeMap<>();
        Topic.state(Topic.records(KAFKA.bootstrapServers(), options.stateTopic()))
                .forEach((key, value) -> state.put(key.toStringUtf8(), value.toStringUtf8()));
        return state;
    }

    private void create(NewTopic topic) {
        try {
            admin.createTopics(List.of(topic)).all().get();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void delete(String topic) {
        try {
            admin.deleteTopics(List.of(topic)).all().get();
            await().atMost(PATIENCE)
                    .until(() -> !admin.listTopics().names().get().contains(topic));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Position at(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }

    private static Position at(Commit commit) {
        return new Position(
                CLUSTER, commit.revision(), new Position.Anchor(commit.revision(), CommitDigest.of(commit)));
    }

    private static Commit commit(long revision, String... keys) {
        return new Commit(
                new Revision(revision),
                List.of(keys).stream().map(key -> put(revision, key, "1")).toList());
    }

    private static Change put(long revision, String key, String value) {
        return new Change.Put(
                new KeyValue(key(key), ByteString.copyFromUtf8(value), new Revision(1), new Revision(revision), 1, 0));
    }

    private static KeyValue entry(long revision, String key) {
        return new KeyValue(key(key), ByteString.copyFromUtf8("1"), new Revision(1), new Revision(revision), 1, 0);
    }

    private static ByteString key(String key) {
        return ByteString.copyFromUtf8(key);
    }

    private static KeyRange range(String from, @Nullable String to) {
        return new KeyRange(key(from), to == null ? null : key(to));
    }

    private static final class Silent implements SinkListener {
        @Override
        public void unavailable(String why) {}

        @Override
        public void available() {}

        @Override
        public void written(long changes) {}
    }
}
