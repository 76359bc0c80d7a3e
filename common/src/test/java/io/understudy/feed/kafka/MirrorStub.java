package io.understudy.feed.kafka;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes a mirror's topics the way a mirror does. */
final class MirrorStub implements AutoCloseable {

    static final ClusterId CLUSTER = new ClusterId(0xCAFEL);

    private static final Logger LOG = LoggerFactory.getLogger(MirrorStub.class);

    private final KafkaClients clients;
    private final Admin admin;
    private Producer<byte[], byte[]> producer;
    private final String topic;
    private int partitions;
    private TopicOrigin origin;
    private Revision complete = Revision.ZERO;
    /** Records of the state topic that are not copied yet; null if each is sent at once. */
    private @Nullable List<ProducerRecord<byte[], byte[]>> delayed;

    MirrorStub(String bootstrapServers, String topic, int partitions, Map<String, String> stateConfig) {
        this.clients = new KafkaClients(KafkaSettings.of(bootstrapServers), "stub");
        this.topic = topic;
        this.partitions = partitions;
        this.origin = new TopicOrigin(1, TopicScope.all(), partitions);
        this.admin = clients.admin();
        create(stateConfig);
        this.producer = open();
    }

    private Producer<byte[], byte[]> open() {
        Producer<byte[], byte[]> opened =
                clients.producer("stub." + topic, Duration.ofSeconds(10), KafkaClients.MAX_MESSAGE_BYTES, Map.of());
        opened.initTransactions();
        return opened;
    }

    /** A broker that was killed may have an older state of the producer's last transaction. */
    void reconnect() {
        producer.close(Duration.ofSeconds(5));
        producer = open();
    }

    private void create(Map<String, String> stateConfig) {
        Map<String, String> compact = new HashMap<>(stateConfig);
        compact.put("cleanup.policy", "compact");
        try {
            admin.createTopics(List.of(
                            new NewTopic(topic, partitions, (short) 1),
                            new NewTopic(stateTopic(), Optional.of(1), Optional.empty()).configs(compact)))
                    .all()
                    .get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** From here on it is a mirror of keys with that prefix. */
    void mirrorOnly(String prefix) {
        origin = new TopicOrigin(
                1, new TopicScope(List.of(ByteString.copyFromUtf8(prefix)), List.of()), origin.partitions());
    }

    /** Has more partitions from here on, to which nothing is written. */
    void addPartition() throws InterruptedException, ExecutionException {
        increaseTo(partitions + 1);
    }

    /** Has more partitions; what is written then is of another generation. */
    void rewriteTo(int more) throws InterruptedException, ExecutionException {
        increaseTo(more);
        partitions = more;
        origin = new TopicOrigin(origin.generation() + 1, origin.scope(), more);
    }

    private void increaseTo(int more) throws InterruptedException, ExecutionException {
        admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(more)))
                .all()
                .get();
        await().until(() -> admin.describeTopics(List.of(topic))
                        .topicNameValues()
                        .get(topic)
                        .get()
                        .partitions()
                        .size()
                == more);
    }

    String stateTopic() {
        return KafkaFeedOptions.stateTopicOf(topic);
    }

    Revision complete() {
        return complete;
    }

    /** The whole state, in one transaction. */
    void snapshot(Revision revision, List<KeyValue> entries, List<ByteString> gone) {
        inTransaction(() -> {
            beginSnapshot(revision);
            long[] records = new long[partitions];
            entries.forEach(entry -> records[send(new TopicRecord.Found(CLUSTER, entry), entry.key())]++);
            gone.forEach(key -> records[send(new TopicRecord.Gone(CLUSTER, revision, key), key)]++);
            endSnapshot(revision, records, entries.size() + (long) gone.size());
        });
    }

    /** Transactions of a snapshot that is never over. */
    void beginUnendingSnapshot(Revision revision) {
        inTransaction(() -> beginSnapshot(revision));
    }

    void endUnendingSnapshot(Revision revision) {
        inTransaction(() -> endSnapshot(revision, new long[partitions], 0));
    }

    /** As a copy of the change topic is that has not come as far as that of the state. */
    void beginSnapshotOfChanges(Revision revision) {
        inTransaction(() -> send(topic, 0, new TopicRecord.SnapshotBegin(CLUSTER, revision)));
    }

    void endSnapshotOfChanges(Revision revision) {
        inTransaction(() -> send(topic, 0, new TopicRecord.SnapshotEnd(CLUSTER, revision, 0)));
    }

    private void beginSnapshot(Revision revision) {
        for (int partition = 0; partition < partitions; partition++) {
            send(topic, partition, new TopicRecord.SnapshotBegin(CLUSTER, revision));
        }
        send(stateTopic(), 0, new TopicRecord.SnapshotBegin(CLUSTER, revision));
    }

    private void endSnapshot(Revision revision, long[] records, long all) {
        for (int partition = 0; partition < partitions; partition++) {
            send(topic, partition, new TopicRecord.SnapshotEnd(CLUSTER, revision, records[partition]));
        }
        send(stateTopic(), 0, new TopicRecord.SnapshotEnd(CLUSTER, revision, all));
        complete = revision;
    }

    /** Commits in one transaction. */
    void write(List<Commit> commits) {
        inTransaction(() -> mark(commits.get(commits.size() - 1).revision(), send(commits), null));
    }

    /** As {@link #write}, each commit in a transaction of its own. */
    void writeEach(List<Commit> commits) {
        commits.forEach(commit -> write(List.of(commit)));
    }

    /** As a copy of the state topic is that has not come as far as that of the changes. */
    void delayState() {
        delayed = new ArrayList<>();
    }

    /** Writes what was delayed. */
    void copyState() {
        inTransaction(() -> Objects.requireNonNull(delayed).forEach(this::send));
        delayed = null;
    }

    /** Commits in a transaction that fails. */
    void abort(List<Commit> commits) {
        producer.beginTransaction();
        send(commits);
        producer.flush();
        producer.abortTransaction();
    }

    /** Commits with marks that claim more than there is. */
    void writeWithHole(List<Commit> commits) {
        inTransaction(() -> {
            long[] records = send(commits);
            records[0]++;
            mark(commits.get(commits.size() - 1).revision(), records, null);
        });
    }

    void heartbeat(Instant asOf) {
        heartbeat(complete, asOf);
    }

    void heartbeat(Revision revision, Instant asOf) {
        inTransaction(() -> mark(revision, new long[partitions], asOf));
    }

    /** As another program may while the state topic is not compacted. */
    void writeStateWithoutKey() throws InterruptedException, ExecutionException {
        cleanUpStateBy("delete");
        inTransaction(() -> send(new ProducerRecord<>(stateTopic(), new byte[] {1})));
        cleanUpStateBy("compact");
    }

    private void cleanUpStateBy(String policy) throws InterruptedException, ExecutionException {
        admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, stateTopic()),
                        List.of(new AlterConfigOp(
                                new ConfigEntry("cleanup.policy", policy), AlterConfigOp.OpType.SET))))
                .all()
                .get();
    }

    /** Of the first partition of changes. */
    long endOffset() throws InterruptedException, ExecutionException {
        TopicPartition first = new TopicPartition(topic, 0);
        return admin.listOffsets(Map.of(first, OffsetSpec.latest()))
                .partitionResult(first)
                .get()
                .offset();
    }

    /** As retention does, in the first partition of changes. */
    void deleteBefore(long offset) throws InterruptedException, ExecutionException {
        admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(offset)))
                .all()
                .get();
    }

    /** Has the broker compact what is to be compacted at once. */
    void cleanOften() throws InterruptedException, ExecutionException {
        admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.BROKER, ""),
                        List.of(new AlterConfigOp(
                                new ConfigEntry("log.cleaner.backoff.ms", "50"), AlterConfigOp.OpType.SET))))
                .all()
                .get();
    }

    /** Deletes the change topic and creates it again. */
    void recreateChangeTopic() throws InterruptedException, ExecutionException {
        recreate(new NewTopic(topic, partitions, (short) 1));
    }

    /** Deletes the state topic and creates it again; what is written then is of another generation. */
    void recreateStateTopic() throws InterruptedException, ExecutionException {
        recreate(new NewTopic(stateTopic(), 1, (short) 1).configs(Map.of("cleanup.policy", "compact")));
        origin = new TopicOrigin(origin.generation() + 1, origin.scope(), origin.partitions());
    }

    private void recreate(NewTopic made) throws InterruptedException, ExecutionException {
        admin.deleteTopics(List.of(made.name())).all().get();
        await().ignoreExceptions()
                .until(() -> admin.createTopics(List.of(made)).all().get() == null);
    }

    /** Of a commit that the broker rejects for the state of its transaction, nothing is committed: it is written again. */
    private void inTransaction(Runnable records) {
        Revision before = complete;
        producer.beginTransaction();
        records.run();
        try {
            producer.commitTransaction();
        } catch (InvalidTxnStateException e) {
            // As a mirror does: KAFKA-20785.
            LOG.warn("the broker had ended a transaction of {}", topic, e);
            reconnect();
            complete = before;
            inTransaction(records);
        }
    }

    private long[] send(List<Commit> commits) {
        long[] records = new long[partitions];
        for (Commit commit : commits) {
            int size = commit.changes().size();
            for (int i = 0; i < size; i++) {
                Change change = commit.changes().get(i);
                records[send(new TopicRecord.Changed(CLUSTER, commit.revision(), i, size, change), change.key())]++;
            }
        }
        return records;
    }

    private void send(String to, int partition, TopicRecord record) {
        ProducerRecord<byte[], byte[]> written = RecordFormat.write(to, partition, record, origin);
        List<ProducerRecord<byte[], byte[]>> later = delayed;
        if (later != null && to.equals(stateTopic())) {
            later.add(written);
            return;
        }
        send(written);
    }

    private void send(ProducerRecord<byte[], byte[]> record) {
        // What fails shows when the transaction is committed.
        Future<?> unused = producer.send(record);
    }

    private int send(TopicRecord record, ByteString key) {
        int partition = Math.floorMod(key.hashCode(), partitions);
        send(topic, partition, record);
        send(stateTopic(), 0, record);
        return partition;
    }

    private void mark(Revision revision, long[] records, Instant asOf) {
        long all = 0;
        for (int partition = 0; partition < partitions; partition++) {
            send(topic, partition, new TopicRecord.Complete(CLUSTER, revision, complete, records[partition], asOf));
            all += records[partition];
        }
        send(stateTopic(), 0, new TopicRecord.Complete(CLUSTER, revision, complete, all, asOf));
        complete = revision;
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
        admin.close();
    }
}
