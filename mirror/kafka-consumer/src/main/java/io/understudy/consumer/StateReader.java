package io.understudy.consumer;

import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.StateChain;
import io.understudy.consumer.format.StateDigest;
import io.understudy.consumer.format.StrayRecords;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the compacted topic until what was returned is the state at one revision. It holds a hash of each key, not the
 * entries.
 *
 * <p>Invariant KC2: a state ends only at a mark with the digest of its keys, before tombstones expire.
 */
final class StateReader<K, V> {

    private static final Logger LOG = LoggerFactory.getLogger(StateReader.class);

    /** Between two looks whether the topic that does not become complete is still the same. */
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Topics topics;
    private final ConsumerOptions<K, V> options;
    private final StrayRecords strays;
    private final TopicPartition partition;
    private final StateChain chain = new StateChain();
    private final Set<Long> keys = new HashSet<>();
    private final Set<Long> replaced = new HashSet<>();
    private final long begunNanos = System.nanoTime();

    private @Nullable Uuid id;
    private Duration retention = Duration.ZERO;
    private long offset;
    private long checkedNanos = System.nanoTime();
    private boolean waits;

    private long cluster;
    private boolean hasCluster;

    StateReader(Topics topics, ConsumerOptions<K, V> options, StrayRecords strays) {
        this.topics = topics;
        this.options = options;
        this.strays = strays;
        this.partition = new TopicPartition(options.stateTopic(), 0);
    }

    long cluster() {
        return cluster;
    }

    long revision() {
        return chain.revision();
    }

    long generation() {
        return chain.generation();
    }

    /**
     * Reads on.
     *
     * @return whether the state is complete
     * @throws RestartException what was returned is void
     */
    boolean read(List<Event<K, V>> events) throws RestartException {
        if (id == null) {
            open();
        }
        if (chain.needsEnd()) {
            long beginning = topics.beginning(partition);
            if (beginning > 0) {
                throw new InvalidTopicException("topic " + partition.topic() + " starts at offset " + beginning
                        + ": part of the state was deleted. Its cleanup.policy must be compact only");
            }
            chain.endsAt(offset, topics.end(partition));
        }
        if (!chain.isRead(offset, isWhole())) {
            for (ConsumerRecord<byte[], byte[]> record : topics.poll(partition)) {
                accept(record, events);
            }
            offset = topics.position(partition);
        }
        boolean isLate = Duration.ofNanos(System.nanoTime() - begunNanos).compareTo(retention) > 0;
        StateChain.Step step = chain.step(offset, isWhole(), isLate);
        if (step == StateChain.Step.READ) {
            return false;
        }
        if (step == StateChain.Step.LATE || step == StateChain.Step.REPEAT) {
            throw new RestartException(
                    "reading topic " + partition.topic() + " took longer than its delete.retention.ms, "
                            + retention.toMillis(),
                    step == StateChain.Step.LATE);
        }
        boolean isComplete = step == StateChain.Step.COMPLETE;
        if (isComplete || System.nanoTime() - checkedNanos > CHECK_NANOS) {
            checkedNanos = System.nanoTime();
            if (!topics.describe(partition.topic()).topicId().equals(id)) {
                throw new RestartException("topic " + partition.topic() + " was recreated");
            }
            if (chain.isAtMark() && !isWhole() && !waits) {
                waits = true;
                LOG.atWarn()
                        .addKeyValue("topic", partition.topic())
                        .addKeyValue("keys", keys.size())
                        .addKeyValue("replaced", replaced.size())
                        .log("keys read differ from those of the last mark; waiting until the mirror repairs them");
            }
        }
        return isComplete;
    }

    private void open() {
        TopicDescription topic = topics.describe(partition.topic());
        if (topic.partitions().size() != 1) {
            throw new InvalidTopicException("topic " + partition.topic() + " has "
                    + topic.partitions().size() + " partitions; a state topic must have one");
        }
        retention = topics.deleteRetention(partition.topic());
        topics.assign(List.of(partition));
        topics.seek(partition, 0);
        id = topic.topicId();
    }

    private boolean isWhole() {
        return chain.isWhole(!replaced.isEmpty());
    }

    private void accept(ConsumerRecord<byte[], byte[]> source, List<Event<K, V>> events) {
        MirrorRecord record;
        try {
            record = MirrorRecord.read(source);
        } catch (MalformedRecordException e) {
            MirrorConsumer.skip(source, e, strays);
            stray(source, events);
            return;
        }
        StateChain.Generation generation = chain.begin(record.generation(), record.revision());
        if (generation == StateChain.Generation.OLD) {
            return;
        }
        if (generation == StateChain.Generation.NEW) {
            if (!keys.isEmpty()) {
                events.add(new Event.StateBegin<>("generation " + record.generation() + " begins"));
            }
            keys.clear();
            replaced.clear();
            hasCluster = false;
        }
        if (hasCluster && record.cluster() != cluster) {
            throw new MirrorConsumerException("cluster ID mismatch at offset " + source.offset() + " of "
                    + partition + ": found " + Long.toHexString(record.cluster()) + ", expected "
                    + Long.toHexString(cluster));
        }
        cluster = record.cluster();
        hasCluster = true;
        if (record.isMark()) {
            chain.mark(record.kind(), record.revision(), record.previous(), record.records(), state(source));
            return;
        }
        if (record.kind() == MirrorRecord.Kind.COMMIT) {
            chain.changed(record.revision(), record.index());
        }
        change(record, events);
    }

    private static @Nullable StateDigest state(ConsumerRecord<byte[], byte[]> mark) {
        try {
            return MirrorRecord.state(mark);
        } catch (MalformedRecordException e) {
            throw new IllegalStateException(e);
        }
    }

    private void change(MirrorRecord record, List<Event<K, V>> events) {
        ByteBuffer key = record.key();
        long hash = StateDigest.hash(key);
        replaced.remove(hash);
        if (record.isDelete()) {
            if (keys.remove(hash)) {
                chain.removed(key);
            }
        } else if (keys.add(hash)) {
            chain.added(key);
            if (keys.size() > options.maxKeys()) {
                throw new MirrorConsumerException("state has more than " + options.maxKeys() + " keys (maxKeys)");
            }
        }
        events.add(new Event.StatePart<>(CommitAssembly.change(record, options)));
    }

    /** Takes the key for absent until the mirror writes it again. Compaction may have removed the mirror's record. */
    private void stray(ConsumerRecord<byte[], byte[]> source, List<Event<K, V>> events) {
        byte[] key = source.key();
        if (key == null || key.length == 0) {
            return;
        }
        ByteBuffer wrapped = ByteBuffer.wrap(key);
        long hash = StateDigest.hash(wrapped);
        if (keys.remove(hash)) {
            chain.removed(wrapped);
            replaced.add(hash);
            events.add(new Event.StatePart<>(
                    new Change.Delete<>(options.keys().deserialize(source.topic(), source.headers(), key))));
        }
    }
}
