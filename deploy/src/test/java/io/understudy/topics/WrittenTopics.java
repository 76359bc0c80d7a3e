package io.understudy.topics;

import com.google.protobuf.ByteString;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.Producer;

/**
 * The topics of a mirror, written as mirrors do, with a random history from a seed. One thread writes; any may read.
 */
final class WrittenTopics implements AutoCloseable {

    static final String CHANGES = "play";
    static final String STATE = "play.state";

    private static final ClusterId CLUSTER = new ClusterId(0xcdf8_1819_4e3a_8c32L);
    private static final int KEYS = 300;

    private final Producer<byte[], byte[]> producer;
    private final int partitions;
    private final Random random;
    private final List<Commit> commits = new ArrayList<>();
    private final TreeMap<ByteString, KeyValue> state = new TreeMap<>(KeyRange.KEY_ORDER);
    private final long[] sinceMark;
    private Revision revision = Revision.ZERO;
    private long records;

    private WrittenTopics(Producer<byte[], byte[]> producer, int partitions, long seed) {
        this.producer = producer;
        this.partitions = partitions;
        this.random = new Random(seed);
        this.sinceMark = new long[partitions + 1];
    }

    /** Creates both topics, and writes the state of some keys into them as a mirror's first synchronisation does. */
    static WrittenTopics create(String bootstrapServers, int partitions, long seed) throws Exception {
        KafkaClients clients = new KafkaClients(KafkaSettings.of(bootstrapServers), "written-topics");
        String bytes = Integer.toString(KafkaClients.MAX_MESSAGE_BYTES);
        try (Admin admin = clients.admin()) {
            admin.createTopics(List.of(
                            new NewTopic(CHANGES, partitions, (short) 1).configs(Map.of("max.message.bytes", bytes)),
                            new NewTopic(STATE, 1, (short) 1)
                                    .configs(Map.of("cleanup.policy", "compact", "max.message.bytes", bytes))))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
        Producer<byte[], byte[]> producer = clients.producer(
                "understudy." + CHANGES, Duration.ofSeconds(60), KafkaClients.MAX_MESSAGE_BYTES, Map.of());
        producer.initTransactions();
        WrittenTopics topics = new WrittenTopics(producer, partitions, seed);
        topics.synchronise();
        return topics;
    }

    private synchronized void synchronise() {
        revision = new Revision(1_000);
        producer.beginTransaction();
        mark(since -> new TopicRecord.SnapshotBegin(CLUSTER, revision));
        for (int number = 0; number < KEYS; number += 3) {
            KeyValue entry = new KeyValue(
                    key(number), value(), new Revision(2 + number), new Revision(2 + number), 1, number % 7);
            state.put(entry.key(), entry);
            write(new TopicRecord.Found(CLUSTER, entry));
        }
        mark(since -> new TopicRecord.SnapshotEnd(CLUSTER, revision, since));
        producer.commitTransaction();
    }

    /** Some more commits, in one transaction. */
    synchronized void writeMore() {
        Revision previous = revision;
        producer.beginTransaction();
        for (int left = 1 + random.nextInt(8); left > 0; left--) {
            // Not every revision of the source has changes in a mirror's scope.
            revision = new Revision(revision.value() + 1 + random.nextInt(2));
            Commit commit = new Commit(revision, changes());
            for (int index = 0; index < commit.changes().size(); index++) {
                write(new TopicRecord.Changed(
                        CLUSTER,
                        revision,
                        index,
                        commit.changes().size(),
                        commit.changes().get(index)));
            }
            commits.add(commit);
        }
        mark(since -> new TopicRecord.Complete(CLUSTER, revision, previous, since, null));
        producer.commitTransaction();
    }

    private List<Change> changes() {
        List<Change> changes = new ArrayList<>();
        // Sorted, and a key once, as a transaction of etcd has them.
        for (int number :
                random.ints(1 + random.nextInt(12), 0, KEYS).distinct().sorted().toArray()) {
            ByteString key = key(number);
            KeyValue known = state.get(key);
            if (known != null && random.nextInt(4) == 0) {
                state.remove(key);
                changes.add(new Change.Delete(key));
            } else {
                KeyValue entry = new KeyValue(
                        key,
                        value(),
                        known == null ? revision : known.createRevision(),
                        revision,
                        known == null ? 1 : known.version() + 1,
                        random.nextInt(5));
                state.put(key, entry);
                changes.add(new Change.Put(entry));
            }
        }
        return changes;
    }

    private void write(TopicRecord record) {
        var state = RecordFormat.write(STATE, 0, record, origin());
        int partition = Math.floorMod(ByteString.copyFrom(state.key()).hashCode(), partitions);
        var unused = producer.send(state);
        var unusedToo = producer.send(RecordFormat.write(CHANGES, partition, record, origin()));
        sinceMark[partition]++;
        sinceMark[partitions]++;
        records++;
    }

    private void mark(LongFunction<TopicRecord> record) {
        for (int partition = 0; partition <= partitions; partition++) {
            TopicRecord mark = record.apply(sinceMark[partition]);
            sinceMark[partition] = 0;
            var unused = producer.send(
                    partition == partitions
                            ? RecordFormat.write(STATE, 0, mark, origin())
                            : RecordFormat.write(CHANGES, partition, mark, origin()));
        }
        records += partitions;
    }

    private TopicOrigin origin() {
        return new TopicOrigin(1, TopicScope.all(), partitions);
    }

    private static ByteString key(int number) {
        return ByteString.copyFromUtf8("/registry/pods/" + number);
    }

    private ByteString value() {
        byte[] value = new byte[random.nextInt(60)];
        random.nextBytes(value);
        return ByteString.copyFrom(value);
    }

    /** Up to where all is written. */
    synchronized Revision revision() {
        return revision;
    }

    /** Every commit after that revision. */
    synchronized List<Commit> commitsAfter(Revision start) {
        return commits.stream()
                .filter(commit -> commit.revision().isAfter(start))
                .toList();
    }

    /** As the source has it now. */
    synchronized List<KeyValue> state() {
        return List.copyOf(state.values());
    }

    /** How many records were written to the change topic. */
    synchronized long changeRecords() {
        return records;
    }

    @Override
    public void close() {
        producer.close();
    }
}
