package io.understudy.mirror.kafka;

import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.StateDigest;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.kafka.KafkaClients;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.kafka.KafkaSinkOptions.TopicLoss;
import io.understudy.mirror.kafka.KafkaTopics.RecordLimit;
import io.understudy.mirror.kafka.Offsets.Footprint;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a sink: fences earlier writers, then reads the checkpoint, which they cannot change. It then verifies that the
 * topics still hold what the checkpoint records.
 *
 * <p>Invariant M27: uncommitted records are never visible, and of two mirrors of a topic only the later one writes.
 */
final class SinkStart {

    private static final Logger LOG = LoggerFactory.getLogger(SinkStart.class);

    /** Maximum hand-overs: each needs two turns, one per transactional.id. */
    private static final int MAX_HANDOVERS = 6;

    private final KafkaClients clients;
    private final KafkaSinkOptions options;
    private final CheckpointTopic checkpoints;
    private final TopicReader reader;
    private final MirrorScope scope;
    private final TransactionTimeout timeout;
    private final StrayRecords strays;
    /** Offset up to which the state topic was read; -1 if it was not. */
    private long endOfState = -1;
    /** Offset of the first stray record read in the state topic; -1 for none. */
    private long strayAt = -1;
    /** Whether a stray record has replaced the last mark of the state topic. */
    private boolean isMarkReplaced;

    SinkStart(
            KafkaClients clients,
            KafkaSinkOptions options,
            MirrorScope scope,
            CheckpointTopic checkpoints,
            TopicReader reader,
            TransactionTimeout timeout,
            StrayRecords strays) {
        this.strays = strays;
        this.clients = clients;
        this.options = options;
        this.scope = scope;
        this.checkpoints = checkpoints;
        this.reader = reader;
        this.timeout = timeout;
    }

    /**
     * The outcome of a start.
     *
     * @param writer closed by the caller
     * @param checkpoint null before the first; syncing if the topics lack recorded data and must be rewritten
     * @param state digest of the state topic; null if unknown
     * @param isWhole false if only a snapshot can show whether the state topic is complete
     */
    record Outcome(
            TopicWriter writer,
            @Nullable Checkpoint checkpoint,
            @Nullable StateDigest state,
            boolean isWhole) {}

    /**
     * Takes over the topics.
     *
     * @param fencing detects a later take-over
     * @throws SinkException.Refused the topics or the checkpoint are unsuitable
     */
    Outcome run(Fencing fencing) {
        try (Admin admin = clients.admin()) {
            KafkaTopics topics = new KafkaTopics(admin, options);
            Map<String, TopicDescription> existing = topics.find();
            RecordLimit limit = topics.limit(existing);
            Fenced fenced = fence(existing.containsKey(options.checkpointTopic()), limit, topics);
            Producer<byte[], byte[]> producer = fenced.producer();
            CheckpointTopic.Stored stored = fenced.stored();
            try {
                String loss = stored == null ? leftovers(existing) : loss(stored, existing, topics);
                if (loss != null) {
                    lost(loss);
                }
                String usual = KafkaNames.of(options.topic()).transactionalId();
                if (stored == null && loss != null && !usual.equals(options.transactionalId())) {
                    // No checkpoint names the writer of these records: at least the one with the default ID is fenced.
                    producer(usual, limit).close(Duration.ZERO);
                }
                boolean mayAdopt = options.onTopicLoss() == TopicLoss.RESYNC && (stored == null || loss != null);
                Map<String, Uuid> ids = topics.ensure(existing, topic -> mayAdopt && isUnwritten(topic, topics));
                Footprint known = stored == null || loss != null ? nothing(ids) : stored.footprint();
                TopicOrigin origin = new TopicOrigin(
                        generation(stored, loss != null),
                        new TopicScope(scope.named().include(), scope.named().exclude()),
                        options.partitions(),
                        options.format());
                Checkpoint found = stored == null ? null : stored.checkpoint();
                CheckpointTopic.Stored kept = loss == null ? stored : null;
                Offsets offsets = kept == null
                        ? new Offsets(known, options.stateTopic(), -1, -1)
                        : new Offsets(known, options.stateTopic(), endOfState, uncheckedFrom(kept));
                return new Outcome(
                        new TopicWriter(producer, options, limit, origin, offsets, fencing, timeout),
                        found == null || loss == null ? found : found.in(CheckpointState.SYNCING),
                        kept == null ? null : kept.state(),
                        !isMarkReplaced);
            } catch (RuntimeException e) {
                producer.close(Duration.ZERO);
                throw e;
            }
        } catch (KafkaException e) {
            String doing = "taking over topic " + options.topic();
            // By a concurrent take-over: the next attempt finds its owner.
            throw KafkaFailures.isFenced(e)
                    ? new SinkException.Unavailable(
                            doing + " failed: another process is taking over at the same time", e)
                    : KafkaFailures.explained(doing, AclOperation.WRITE, options.kafka(), e);
        }
    }

    /** The only valid producer, and the checkpoint, which only it can change. */
    private record Fenced(Producer<byte[], byte[]> producer, CheckpointTopic.@Nullable Stored stored) {}

    /**
     * Fences the writer that the checkpoint names. Another transactional.id takes over by a transaction of the recorded
     * one: Kafka accepts it from the last producer of that id only, so each writer is fenced.
     */
    private Fenced fence(boolean hasCheckpoint, RecordLimit limit, KafkaTopics topics) {
        for (int i = 0; i < MAX_HANDOVERS; i++) {
            // Read first: another mirror must not be fenced by a mistake in the configuration of this one.
            String id = writer(hasCheckpoint ? known(checkpoints.read(reader)) : null);
            if (id.equals(options.transactionalId())) {
                Producer<byte[], byte[]> producer = producer(id, limit);
                try {
                    CheckpointTopic.Stored stored = hasCheckpoint ? known(lastCheckpoint(topics)) : null;
                    if (writer(stored).equals(id)) {
                        return new Fenced(producer, stored);
                    }
                } catch (RuntimeException e) {
                    producer.close(Duration.ZERO);
                    throw e;
                }
                producer.close(Duration.ZERO);
            } else {
                handOver(id, limit, topics);
            }
        }
        throw new SinkException.Unavailable(
                "taking over topic " + options.topic() + " failed: other processes change the transactional.id at the"
                        + " same time",
                null);
    }

    /** Fences another transactional.id, and replaces it in the checkpoint unless another process has. */
    private void handOver(String id, RecordLimit limit, KafkaTopics topics) {
        String doing = "fencing transactional.id " + id;
        try {
            Producer<byte[], byte[]> producer = producer(id, limit);
            try {
                handOver(id, producer, topics);
            } finally {
                producer.close(Duration.ZERO);
            }
        } catch (KafkaException e) {
            throw KafkaFailures.isFenced(e)
                    ? new SinkException.Unavailable(doing + " failed: another process does the same", e)
                    : KafkaFailures.explained(doing, AclOperation.WRITE, options.kafka(), e);
        }
    }

    private void handOver(String id, Producer<byte[], byte[]> producer, KafkaTopics topics) {
        CheckpointTopic.Stored stored = lastCheckpoint(topics);
        if (stored == null || !writer(stored).equals(id)) {
            return;
        }
        producer.beginTransaction();
        var unused = producer.send(checkpoints.record(stored.handedTo(options.transactionalId())));
        producer.commitTransaction();
        LOG.atInfo()
                .addKeyValue("topic", options.topic())
                .addKeyValue("previous", id)
                .addKeyValue("current", options.transactionalId())
                .log("transactional.id changed");
    }

    /** Reads the checkpoint after its writer is fenced: an open transaction could hide only an earlier one from here. */
    private CheckpointTopic.@Nullable Stored lastCheckpoint(KafkaTopics topics) {
        TopicPartition partition = new TopicPartition(options.checkpointTopic(), 0);
        if (topics.hidesRecords(partition)) {
            throw hidden(partition);
        }
        return checkpoints.read(reader);
    }

    private static SinkException.Unavailable hidden(TopicPartition partition) {
        return new SinkException.Unavailable(
                "partition " + partition + " has an open transaction of another producer, which hides the records"
                        + " after it until it ends or times out",
                null);
    }

    private String writer(CheckpointTopic.@Nullable Stored stored) {
        if (stored == null) {
            return options.transactionalId();
        }
        String id = stored.transactionalId();
        return id == null ? KafkaNames.of(options.topic()).transactionalId() : id;
    }

    /** Verifies that a checkpoint has this scope, these topics and this value format. */
    private CheckpointTopic.@Nullable Stored known(CheckpointTopic.@Nullable Stored stored) {
        if (stored == null) {
            return null;
        }
        MirrorScope written = stored.checkpoint().scope();
        if (!written.equals(scope)) {
            throw new SinkException.Refused("checkpoint at " + checkpoints.where() + " has " + written.shown()
                    + "; configured: " + scope.shown() + ". Mirror to another topic");
        }
        Set<String> configured = Set.copyOf(options.names().topics().values());
        Set<String> mirrored = stored.footprint().topics().keySet();
        if (!mirrored.equals(configured)) {
            throw new SinkException.Refused("checkpoint at " + checkpoints.where() + " has the topics "
                    + new TreeSet<>(mirrored) + "; configured: " + new TreeSet<>(configured)
                    + ". Restore the names, or use another checkpoint topic for new topics");
        }
        if (!stored.format().equals(options.format().number())) {
            throw new SinkException.Refused("topic " + options.topic() + " has values of format " + stored.format()
                    + "; configured: " + options.format().number()
                    + " (2 is raw, 3 is debezium). Restore the setting format, or mirror to another topic");
        }
        return stored;
    }

    /** Returns a producer that has fenced its predecessors. */
    private Producer<byte[], byte[]> producer(String id, RecordLimit limit) {
        while (true) {
            Producer<byte[], byte[]> producer =
                    clients.producer(id, timeout.current(), limit.bytes(), options.producer());
            try {
                producer.initTransactions();
                timeout.accepted();
                return producer;
            } catch (RuntimeException e) {
                producer.close(Duration.ZERO);
                if (!KafkaFailures.isTimeoutTooLarge(e)) {
                    throw e;
                }
                if (!timeout.rejected()) {
                    throw new SinkException.Refused(
                            "transactionTimeout of " + timeout.current().toMillis()
                                    + " ms exceeds transaction.max.timeout.ms of the brokers. Reduce the setting, or"
                                    + " increase the brokers'",
                            e);
                }
            }
        }
    }

    private long uncheckedFrom(CheckpointTopic.Stored stored) {
        return stored.uncheckedFrom() >= 0 ? stored.uncheckedFrom() : strayAt;
    }

    /**
     * Returns the generation of records: after a loss by the clock, and later than any in the state topic. Copies of
     * deleted topics still have the previous generation.
     */
    private long generation(CheckpointTopic.@Nullable Stored stored, boolean isLost) {
        if (stored != null && !isLost) {
            return stored.generation();
        }
        AtomicLong newest = new AtomicLong(stored == null ? 0 : stored.generation());
        var unused = reader.read(new TopicPartition(options.stateTopic(), 0), 0, record -> {
            if (RecordFormat.readOwn(record, null) != null) {
                newest.accumulateAndGet(MirrorRecord.generation(record), Math::max);
            }
        });
        return Math.max(System.currentTimeMillis(), newest.get() + 1);
    }

    private void lost(String loss) {
        if (options.onTopicLoss() == TopicLoss.STOP) {
            throw new SinkException.Refused(loss + ". Delete the topics " + options.topic() + ", "
                    + options.stateTopic() + " and "
                    + options.checkpointTopic() + " to start over, or set onTopicLoss to resync to rewrite the full"
                    + " state");
        }
        LOG.atWarn()
                .addKeyValue("topic", options.topic())
                .addKeyValue("cause", loss)
                .log("rewriting topic");
    }

    /** Returns why records without a checkpoint are a loss; null if there are none. */
    private @Nullable String leftovers(Map<String, TopicDescription> existing) {
        boolean hasChanges = hasRecords(options.topic(), existing);
        boolean hasState = hasRecords(options.stateTopic(), existing);
        if (!hasChanges && !hasState) {
            return null;
        }
        String loss = "topic " + (hasChanges ? options.topic() : options.stateTopic()) + " has records, but no"
                + " checkpoint exists at " + checkpoints.where();
        if (!hasState) {
            throw new SinkException.Refused(loss + ", and " + options.stateTopic()
                    + " is empty. The records may not be from a mirror. Mirror to another topic, or delete this topic");
        }
        return loss;
    }

    private boolean hasRecords(String topic, Map<String, TopicDescription> existing) {
        TopicDescription found = existing.get(topic);
        return found != null
                && found.partitions().stream()
                        .anyMatch(partition -> reader.hasRecords(new TopicPartition(topic, partition.partition())));
    }

    /** Whether no record of the topic was ever committed or deleted, nor may be by an open transaction. */
    private boolean isUnwritten(TopicDescription topic, KafkaTopics topics) {
        return !hasRecords(topic.name(), Map.of(topic.name(), topic))
                && topic.partitions().stream()
                        .map(partition -> new TopicPartition(topic.name(), partition.partition()))
                        .allMatch(partition -> !topics.hidesRecords(partition)
                                && reader.read(partition, 0, record -> {}).begin() == 0);
    }

    /** Returns which written data is missing; null if none is. */
    private @Nullable String loss(
            CheckpointTopic.Stored stored, Map<String, TopicDescription> existing, KafkaTopics topics) {
        for (var entry : stored.footprint().topics().entrySet()) {
            String topic = entry.getKey();
            Footprint.Topic known = entry.getValue();
            TopicDescription found = existing.get(topic);
            if (found == null) {
                return "topic " + topic + " is missing; previously mirrored: " + mirrored(stored.checkpoint());
            }
            if (!found.topicId().equals(known.id())) {
                return "topic " + topic + " was deleted and recreated; previously mirrored: "
                        + mirrored(stored.checkpoint());
            }
            int partitions = known.offsets().size();
            if (found.partitions().size() != partitions) {
                return "topic " + topic + " has " + found.partitions().size() + " partitions, previously " + partitions
                        + "; previously mirrored: " + mirrored(stored.checkpoint());
            }
            for (int i = 0; i < partitions && !topic.equals(options.checkpointTopic()); i++) {
                TopicPartition partition = new TopicPartition(topic, i);
                String loss = loss(partition, known.offsets().get(i), stored);
                if (loss != null && topics.hidesRecords(partition)) {
                    throw hidden(partition);
                }
                if (loss != null) {
                    return loss;
                }
            }
        }
        return null;
    }

    /** Reads the records from the last known one: the last mark must be the checkpoint's. */
    private @Nullable String loss(TopicPartition partition, long lastKnown, CheckpointTopic.Stored stored) {
        Checkpoint checkpoint = stored.checkpoint();
        AtomicReference<@Nullable Revision> marked = new AtomicReference<>();
        AtomicBoolean isReplaced = new AtomicBoolean();
        boolean isState = partition.topic().equals(options.stateTopic());
        TopicReader.Extent extent = reader.read(partition, Math.max(0, lastKnown), record -> {
            // What the state check reads again, it reports.
            TopicRecord content = RecordFormat.readOwn(record, isState ? null : strays);
            if (content != null && MirrorRecord.generation(record) > stored.generation()) {
                throw new SinkException.Refused("partition " + partition + " has a record of generation "
                        + MirrorRecord.generation(record) + " at offset " + record.offset() + "; the checkpoint at "
                        + checkpoints.where() + " has generation " + stored.generation()
                        + ". Another mirror with another checkpoint topic writes to it: stop one of them");
            }
            if (content != null && content.isMark()) {
                marked.set(completeAt(content));
                isReplaced.set(false);
            } else if (content == null && isState) {
                strayAt = strayAt < 0 ? record.offset() : strayAt;
                isReplaced.compareAndSet(false, record.key() != null && record.key().length == 0);
            }
        });
        if (isState && extent.begin() > 0) {
            throw new SinkException.Refused("topic " + partition.topic() + " starts at offset " + extent.begin()
                    + ": valid records were deleted. Delete the topic and restart the mirror");
        }
        if (isState) {
            endOfState = extent.end();
        }
        if (extent.end() <= lastKnown) {
            return "partition " + partition + " was truncated: it ends at offset " + extent.end() + ", but offset "
                    + lastKnown + " was written";
        }
        Revision last = marked.get();
        if (isReplaced.get() && !checkpoint.revision().equals(last)) {
            // Compaction keeps a stray record with an empty key in place of the last mark.
            isMarkReplaced = true;
            return null;
        }
        boolean isExpired = last == null && extent.begin() > lastKnown;
        if (checkpoint.state() == CheckpointState.SYNCED
                && !isExpired
                && !checkpoint.revision().equals(last)) {
            if (last != null && last.isAfter(checkpoint.revision())) {
                return "topic " + options.checkpointTopic() + " was truncated: its checkpoint is at revision "
                        + checkpoint.revision() + ", but partition " + partition + " ends at revision " + last;
            }
            return "partition " + partition + " was truncated: it ends "
                    + (last == null ? "without a mark" : "at revision " + last)
                    + "; previously mirrored: " + mirrored(checkpoint);
        }
        return null;
    }

    /** Returns the revision up to which a mark declares the topics complete; null for none. */
    private static @Nullable Revision completeAt(TopicRecord mark) {
        return mark instanceof TopicRecord.SnapshotBegin ? null : mark.revision();
    }

    private static String mirrored(Checkpoint checkpoint) {
        return checkpoint.state() == CheckpointState.SYNCED
                ? "all changes up to revision " + checkpoint.revision()
                : "part of a snapshot";
    }

    private Footprint nothing(Map<String, Uuid> ids) {
        Map<String, Footprint.Topic> topics = new TreeMap<>();
        ids.forEach((name, id) -> topics.put(
                name,
                new Footprint.Topic(
                        id, Collections.nCopies(name.equals(options.topic()) ? options.partitions() : 1, -1L))));
        return new Footprint(topics);
    }
}
