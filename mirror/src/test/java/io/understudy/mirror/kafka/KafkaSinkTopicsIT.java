package io.understudy.mirror.kafka;

import static io.understudy.mirror.kafka.SinkFixture.CLUSTER;
import static io.understudy.mirror.kafka.SinkFixture.at;
import static io.understudy.mirror.kafka.SinkFixture.commit;
import static io.understudy.mirror.kafka.SinkFixture.entry;
import static io.understudy.mirror.kafka.SinkFixture.give;
import static io.understudy.mirror.kafka.SinkFixture.key;
import static io.understudy.mirror.kafka.SinkFixture.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.feed.kafka.ValueFormat;
import io.understudy.kafka.KafkaClients;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.kafka.KafkaSinkOptions.TopicLoss;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a sink makes of topics that are there already, are gone, shortened, or written by another mirror. */
final class KafkaSinkTopicsIT {

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    @RegisterExtension
    final SinkFixture fixture = new SinkFixture(KAFKA);

    @Test
    void compactionIsNotDelayedByLargeSegments() throws Exception {
        var unused = fixture.begun(10);
        assertThat(setting(fixture.options().checkpointTopic(), "segment.bytes"))
                .isEqualTo("16777216");
        assertThat(setting(fixture.options().stateTopic(), "segment.bytes")).isEqualTo("134217728");
    }

    private String setting(String topic, String name) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return fixture.admin()
                .describeConfigs(List.of(resource))
                .all()
                .get()
                .get(resource)
                .get(name)
                .value();
    }

    @Test
    void acceptsTopicsWithoutALimit() {
        for (String topic : List.of(fixture.options().topic(), fixture.options().stateTopic())) {
            fixture.create(new NewTopic(topic, Optional.of(1), Optional.empty())
                    .configs(Map.of(
                            "max.message.bytes",
                            "2147483647",
                            "cleanup.policy",
                            topic.equals(fixture.options().topic()) ? "delete" : "compact")));
        }
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.caughtUp();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a")));
    }

    @Test
    void acceptsRaisedLimitsOfTopics() {
        for (String topic : List.of(fixture.options().topic(), fixture.options().stateTopic())) {
            fixture.create(new NewTopic(topic, Optional.of(1), Optional.empty())
                    .configs(Map.of(
                            "max.message.bytes",
                            "4194304",
                            "cleanup.policy",
                            topic.equals(fixture.options().topic()) ? "delete" : "compact")));
        }
        byte[] incompressible = new byte[4_000_000];
        new Random(1).nextBytes(incompressible);
        KafkaSink sink = fixture.begun(10);
        Revision revision = new Revision(11);
        Commit large = new Commit(
                revision,
                List.of(new Change.Put(
                        new KeyValue(key("large"), ByteString.copyFrom(incompressible), revision, revision, 1, 0))));
        give(sink, large);
        sink.settle();
        assertThat(fixture.history().commits()).isEqualTo(List.of(large));
    }

    @Test
    void aSnapshotBehindTheTopicsIsRejectedEvenWithoutACheckpoint() {
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.caughtUp();
        sink.close();
        fixture.delete(fixture.options().checkpointTopic());
        fixture.options(fixture.options().with(TopicLoss.RESYNC));
        KafkaSink again = fixture.sink();
        assertThat(again.open()).isNull();
        assertThatThrownBy(() -> again.snapshotStarted(CLUSTER, new Revision(10)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining(fixture.options().stateTopic())
                .hasMessageContaining("revision 11");
        assertThatThrownBy(() -> again.snapshotStarted(new ClusterId(0xc2), new Revision(12)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("source cluster " + CLUSTER);
    }

    @Test
    void aLostCheckpointDoesNotHideTheWriterWithTheDefaultId() {
        KafkaSink before = fixture.begun(10);
        KafkaSinkOptions usual = fixture.options();
        KafkaNames names = usual.names();
        fixture.options(
                usual.with(new KafkaNames(names.topic(), names.stateTopic(), names.topic() + ".other", "orders."))
                        .with(TopicLoss.RESYNC));
        KafkaSink after = fixture.sink();
        assertThat(after.open()).isNull();
        assertThatThrownBy(() -> {
                    give(before, commit(11, "a"));
                    before.settle();
                })
                .hasMessageContaining("Kafka aborted the transaction");
        after.snapshotStarted(CLUSTER, new Revision(12));
        after.snapshotPage(KeyRange.all(), List.of(entry(12, "b")));
        after.snapshotCompleted(at(12));
        fixture.options(usual.with(TopicLoss.RESYNC));
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("Another mirror with another checkpoint topic writes to it");
    }

    @Test
    void aLostCheckpointDoesNotMixFormats() {
        KafkaSinkOptions raw = fixture.options().with(TopicLoss.RESYNC);
        fixture.options(raw.with(ValueFormat.DEBEZIUM));
        fixture.begun(10).close();
        fixture.delete(raw.checkpointTopic());
        fixture.options(raw);
        KafkaSink sink = fixture.sink();
        assertThat(sink.open()).isNull();
        assertThatThrownBy(() -> sink.snapshotStarted(CLUSTER, new Revision(12)))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("has values of format 3");
    }

    @Test
    void aMissingTopicStopsTheSinkOrIsRewrittenByResync() {
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        sink.close();
        fixture.delete(fixture.options().topic());
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("topic " + fixture.options().topic() + " is missing")
                .hasMessageContaining("up to revision 11")
                .hasMessageContaining("onTopicLoss");
        fixture.options(fixture.options().with(TopicLoss.RESYNC));
        KafkaSink again = fixture.sink();
        assertThat(again.open()).isNull();
        again.snapshotStarted(CLUSTER, new Revision(12));
        again.snapshotPage(KeyRange.all(), List.of(entry(9, "first"), entry(12, "b")));
        again.snapshotCompleted(at(12));
        assertThat(fixture.history().state().keySet()).containsExactly(key("b"), key("first"));
        assertThat(fixture.state()).containsOnlyKeys("b", "first");
    }

    /** As a broker with auto.create.topics.enable creates them when a producer requests metadata of deleted topics. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void adoptsTopicsThatABrokerCreatedWithItsDefaults(int partitions) throws Exception {
        fixture.options(KafkaSinkOptions.of(KAFKA.bootstrapServers(), "of-" + partitions + "-partitions")
                .with(TopicLoss.RESYNC));
        fixture.begun(10).close();
        List<String> topics = List.of(
                fixture.options().checkpointTopic(),
                fixture.options().stateTopic(),
                fixture.options().topic());
        for (int lost : List.of(1, 3)) {
            for (String topic : topics.subList(topics.size() - lost, topics.size())) {
                fixture.delete(topic);
                fixture.create(new NewTopic(topic, Optional.of(partitions), Optional.empty()));
            }
            KafkaSink again = fixture.sink();
            assertThat(again.open()).isNull();
            again.snapshotStarted(CLUSTER, new Revision(11));
            again.snapshotPage(KeyRange.all(), List.of(entry(9, "first"), entry(11, "second")));
            again.snapshotCompleted(at(11));
            again.close();
            assertThat(fixture.history().state().keySet()).containsExactly(key("first"), key("second"));
            assertThat(fixture.state()).containsOnlyKeys("first", "second");
            assertThat(setting(fixture.options().topic(), "max.message.bytes")).isEqualTo("2097152");
            assertThat(setting(fixture.options().stateTopic(), "cleanup.policy"))
                    .isEqualTo("compact");
            assertThat(setting(fixture.options().checkpointTopic(), "cleanup.policy"))
                    .isEqualTo("compact");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void doesNotAdoptAWrittenTopic(boolean isCommitted) {
        fixture.options(fixture.options().with(TopicLoss.RESYNC));
        fixture.begun(10).close();
        String topic = fixture.options().topic();
        fixture.delete(topic);
        fixture.create(new NewTopic(topic, Optional.of(1), Optional.empty()));
        KafkaClients clients = new KafkaClients(fixture.options().kafka(), "test");
        try (Producer<byte[], byte[]> producer = clients.producer("test", Duration.ofMinutes(1), 1 << 20, Map.of())) {
            producer.initTransactions();
            producer.beginTransaction();
            var unused = producer.send(new ProducerRecord<>(topic, new byte[1]));
            producer.flush();
            if (isCommitted) {
                producer.commitTransaction();
            }
            assertThatThrownBy(() -> fixture.sink().open())
                    .isInstanceOf(SinkException.Refused.class)
                    .hasMessageContaining("topic " + topic + " has max.message.bytes=");
        }
    }

    @Test
    void rewrittenTopicsHaveALaterGeneration() throws Exception {
        fixture.begun(10).close();
        KafkaSink sink = fixture.sink();
        sink.open();
        give(sink, commit(11, "a"));
        sink.caughtUp();
        sink.close();
        List<Long> before = generations();
        assertThat(before).hasSize(1);
        fixture.delete(fixture.options().topic());
        fixture.delete(fixture.options().stateTopic());
        fixture.options(fixture.options().with(TopicLoss.RESYNC));
        KafkaSink again = fixture.sink();
        assertThat(again.open()).isNull();
        again.snapshotStarted(CLUSTER, new Revision(12));
        again.snapshotPage(KeyRange.all(), List.of(entry(9, "first")));
        again.snapshotCompleted(at(12));
        assertThat(generations()).singleElement().satisfies(later -> assertThat(later)
                .isGreaterThan(before.get(0)));
    }

    @Test
    void anInterruptedRewriteOfALostTopicIsContinued() {
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.caughtUp();
        sink.close();
        fixture.delete(fixture.options().topic());
        fixture.options(fixture.options().with(TopicLoss.RESYNC));
        KafkaSink killed = fixture.sink();
        assertThat(killed.open()).isNull();
        killed.snapshotStarted(CLUSTER, new Revision(12));
        killed.snapshotPage(range("a", "b"), List.of(entry(11, "a")));
        killed.settle();
        killed.close();
        KafkaSink next = fixture.sink();
        assertThat(next.open()).isNull();
        next.snapshotStarted(CLUSTER, new Revision(12));
        next.snapshotPage(KeyRange.all(), List.of(entry(11, "a"), entry(9, "first")));
        next.snapshotCompleted(at(12));
        assertThat(fixture.written()).containsExactly("a", "first");
        assertThat(fixture.state()).containsOnlyKeys("a", "first");
    }

    /** Readers ignore records of an earlier generation. */
    @Test
    void aLostCheckpointOfAClockThatWasAheadIsFollowedByALaterGeneration() throws Exception {
        fixture.begun(10).close();
        long ahead = System.currentTimeMillis() + Duration.ofDays(1).toMillis();
        KafkaClients clients = new KafkaClients(fixture.options().kafka(), "test");
        try (Producer<byte[], byte[]> producer = clients.producer("test", Duration.ofMinutes(1), 1 << 20, Map.of())) {
            producer.initTransactions();
            producer.beginTransaction();
            var unused = producer.send(RecordFormat.write(
                    fixture.options().stateTopic(),
                    0,
                    new TopicRecord.Found(CLUSTER, entry(9, "first")),
                    new TopicOrigin(ahead, TopicScope.all(), 1)));
            producer.commitTransaction();
        }
        fixture.delete(fixture.options().checkpointTopic());
        fixture.options(fixture.options().with(TopicLoss.RESYNC));
        KafkaSink again = fixture.sink();
        assertThat(again.open()).isNull();
        again.snapshotStarted(CLUSTER, new Revision(12));
        again.snapshotPage(KeyRange.all(), List.of(entry(9, "first")));
        again.snapshotCompleted(at(12));
        assertThat(fixture.written()).as("all of the new generation").containsExactly("first", "first");
        List<Long> generations = generations();
        assertThat(generations.get(generations.size() - 1)).isGreaterThan(ahead);
    }

    /** Of all records of the state. */
    private List<Long> generations() {
        return Topic.records(KAFKA.bootstrapServers(), fixture.options().stateTopic()).stream()
                .map(record -> Long.valueOf(Topic.headers(record).get("understudy.generation")))
                .distinct()
                .toList();
    }

    @Test
    void detectsARecreatedTopicWhileWriting() {
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        fixture.delete(fixture.options().topic());
        assertThatThrownBy(() -> {
                    for (int revision = 12; ; revision++) {
                        give(sink, commit(revision, "a"));
                        sink.settle();
                    }
                })
                .isInstanceOf(SinkException.Unavailable.class);
        sink.close();
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageMatching(
                        ".*topic " + fixture.options().topic() + " (is missing|was deleted and recreated).*");
    }

    @Test
    void detectsATruncatedEnd() {
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        Checkpoint ahead = sink.checkpoint();
        sink.close();
        // The checkpoint of what the topic no longer has.
        CheckpointTopic.Stored stored = stored();
        store(new CheckpointTopic.Stored(
                ahead.syncedAt(at(12)), stored.footprint(), stored.generation(), stored.state(), -1, null, "2"));
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("ends at revision 11; previously mirrored: all changes up to revision 12");
    }

    @Test
    void detectsATruncatedCheckpointTopic() {
        KafkaSink sink = fixture.begun(10);
        CheckpointTopic.Stored before = stored();
        give(sink, commit(11, "a"));
        sink.settle();
        sink.close();
        store(before);
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("topic " + fixture.options().checkpointTopic()
                        + " was truncated: its checkpoint is at revision 10, but partition ");
    }

    private CheckpointTopic.Stored stored() {
        return checkpoints()
                .read(new TopicReader(new KafkaClients(fixture.options().kafka(), "test")));
    }

    private CheckpointTopic checkpoints() {
        return new CheckpointTopic(fixture.options().checkpointTopic(), "log", new StrayRecords(() -> {}));
    }

    private void store(CheckpointTopic.Stored checkpoint) {
        KafkaClients clients = new KafkaClients(fixture.options().kafka(), "test");
        try (Producer<byte[], byte[]> producer = clients.producer("test", Duration.ofMinutes(1), 1 << 20, Map.of())) {
            producer.initTransactions();
            producer.beginTransaction();
            var unused = producer.send(checkpoints().record(checkpoint));
            producer.commitTransaction();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".checkpoint"})
    void anOpenTransactionOfAnotherProducerIsNotATruncatedEnd(String suffix) {
        KafkaSink sink = fixture.begun(10);
        KafkaClients clients = new KafkaClients(fixture.options().kafka(), "test");
        try (Producer<byte[], byte[]> producer = clients.producer("test", Duration.ofMinutes(1), 1 << 20, Map.of())) {
            producer.initTransactions();
            producer.beginTransaction();
            var unused =
                    producer.send(new ProducerRecord<>(fixture.options().topic() + suffix, 0, new byte[] {1}, null));
            producer.flush();
            give(sink, commit(11, "a"));
            sink.settle();
            sink.close();
            assertThatThrownBy(() -> fixture.sink().open())
                    .isInstanceOf(SinkException.Unavailable.class)
                    .hasMessageContaining("open transaction of another producer");
            producer.abortTransaction();
        }
        assertThat(fixture.sink().open()).isEqualTo(at(commit(11, "a")));
    }

    @Test
    void resumesAfterRecordsHaveExpired() throws Exception {
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        sink.close();
        fixture.admin()
                .deleteRecords(
                        Map.of(new TopicPartition(fixture.options().topic(), 0), RecordsToDelete.beforeOffset(-1)))
                .all()
                .get();
        KafkaSink next = fixture.sink();
        assertThat(next.open()).isEqualTo(at(commit(11, "a")));
        give(next, commit(12, "b"));
        next.settle();
        assertThat(fixture.state()).containsOnlyKeys("first", "a", "b");
    }

    @Test
    void anotherScopeIsRejectedAndTheWriterContinues() {
        KafkaSink owner = fixture.begun(10);
        fixture.scope(MirrorScope.prefix("/other/"));
        assertThatThrownBy(() -> fixture.sink("log", "test/2").open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("configured: keys with \"/other/\"");
        give(owner, commit(11, "a"));
        owner.settle();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a")));
    }

    @Test
    void topicsOfAnotherMirrorAreRejectedAndItsWriterContinues() {
        KafkaSink owner = fixture.begun(10);
        KafkaSink other = fixture.sink("other", "test/2");
        assertThatThrownBy(other::open)
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("at key \"log\"");
        give(owner, commit(11, "a"));
        owner.settle();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a")));
    }
}
