package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.sink.ProgressSchedule;
import io.understudy.mirror.sink.ReservedKeys;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes every change as a record to one topic, in order; see {@link RecordFormat}.
 *
 * <p>The checkpoint goes to a compacted topic beside it, after all records up to it were acknowledged: nothing is ever
 * lost; what came after the last checkpoint is repeated after a crash, in order, so the last record per key is the
 * state again once the mirror has caught up. A snapshot is merged: records only for what the topic doesn't already
 * tell, tombstones for what is gone.
 *
 * <p>Nothing fences off a second mirror of the same topic.
 */
public final class KafkaSink implements Sink {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaSink.class);

    /** How often a checkpoint is moved when nothing in the range has changed. */
    private static final Duration PROGRESS_INTERVAL = Duration.ofSeconds(10);

    private final String mirror;
    private final KeyRange range;
    private final String writerName;
    private final KafkaSinkOptions options;
    private final SinkListener listener;
    private final KafkaClients clients;
    private final ProgressSchedule schedule = new ProgressSchedule(PROGRESS_INTERVAL);

    private @Nullable Producer<byte[], byte[]> producer;
    /** The last record given to the producer. */
    private @Nullable Future<RecordMetadata> lastSent;
    /** Whether a record was sent since the checkpoint was stored. */
    private boolean unsettled;
    /** Where the feed stands; null while a snapshot is written. */
    private @Nullable Position reached;

    private @Nullable LastRecords merging;
    private Revision snapshotRevision = Revision.ZERO;
    private long storedNanos = System.nanoTime();

    private volatile @Nullable Checkpoint checkpoint;
    private volatile Revision complete = Revision.ZERO;
    /** The first record that was not taken; written by the producer's thread. */
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    /**
     * A sink that connects when it is opened.
     *
     * @param writerName differs between any two writers, see {@link Checkpoint#writer}
     */
    public KafkaSink(
            String mirror, KeyRange range, String writerName, KafkaSinkOptions options, SinkListener listener) {
        this.mirror = mirror;
        this.range = range;
        this.writerName = writerName;
        this.options = options;
        this.listener = listener;
        this.clients = new KafkaClients(options, "understudy-mirror-" + mirror);
    }

    @Override
    public @Nullable Position open() {
        try (Admin admin = clients.admin()) {
            new KafkaTopics(admin, options).ensure();
        }
        Checkpoint found = readCheckpoint();
        producer = clients.producer();
        if (found == null) {
            requireEmptyTopic();
            listener.available();
            return null;
        }
        if (!found.range().equals(range)) {
            throw new SinkException.Refused("the checkpoint at " + where() + " is of another range than configured."
                    + " Mirror to another topic");
        }
        store(found.takenOverBy(writerName));
        LOG.info(
                "mirror={} taken over, epoch={} state={} revision={} from={}",
                mirror,
                found.epoch() + 1,
                found.state().word(),
                found.revision(),
                found.writer());
        listener.available();
        Position position = found.resumeAt();
        if (position != null) {
            reached = position;
            complete = position.revision();
        }
        return position;
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        settle();
        reached = null;
        Checkpoint before = checkpoint;
        if (before == null) {
            store(new Checkpoint(cluster, range, Revision.ZERO, null, 1, writerName, CheckpointState.SYNCING));
        } else if (!before.source().equals(cluster)) {
            throw new SinkException.Refused("the checkpoint at " + where() + " is of source cluster " + before.source()
                    + ", but the source's id is " + cluster + ". Mirror to another topic");
        } else if (revision.isBefore(before.revision())) {
            throw new SinkException.Refused("cluster " + cluster + " is at revision " + revision + ", but revision "
                    + before.revision() + " was mirrored: it was restored from a backup or wiped. Mirror the new"
                    + " history to another topic");
        } else {
            store(before.in(CheckpointState.SYNCING));
        }
        awaitAcknowledgement();
        snapshotRevision = revision;
        merging = LastRecords.read(clients, options);
        LOG.info("mirror={} snapshot is merged, revision={} keys in topic={}", mirror, revision, merging.size());
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        LastRecords last = merging;
        ClusterId source = current().source();
        if (last == null) {
            throw new IllegalStateException("a page without a snapshot");
        }
        long changes = 0;
        for (KeyValue entry : entries) {
            if (!ReservedKeys.contains(entry.key())
                    && !last.takeIf(entry.key(), entry.modRevision().value())) {
                send(RecordFormat.ofSnapshot(options.topic(), source, entry), null);
                changes++;
            }
        }
        for (ByteString gone : last.takeRest(covered)) {
            send(RecordFormat.goneAtSnapshot(options.topic(), source, snapshotRevision, gone), null);
            changes++;
        }
        if (changes > 0) {
            listener.written(changes);
        }
    }

    @Override
    public void snapshotCompleted(Position position) {
        merging = null;
        reached = position;
        unsettled = true;
        settle();
    }

    @Override
    public void commit(Commit commit, Position position) {
        List<Change> changes = commit.changes().stream()
                .filter(change -> !ReservedKeys.contains(change.key()))
                .toList();
        if (changes.isEmpty()) {
            progress(position);
            return;
        }
        ClusterId source = current().source();
        for (int i = 0; i < changes.size(); i++) {
            boolean last = i == changes.size() - 1;
            send(
                    RecordFormat.ofCommit(
                            options.topic(), source, commit.revision(), changes.get(i), i, changes.size()),
                    last ? position.revision() : null);
        }
        reached = position;
        listener.written(changes.size());
        if (System.nanoTime() - storedNanos > options.checkpointInterval().toNanos()) {
            settle();
        }
    }

    @Override
    public void progress(Position position) {
        reached = position;
        if (!unsettled) {
            complete = position.revision();
        }
    }

    @Override
    public void settle() {
        Position position = reached;
        if (position == null) {
            return;
        }
        Checkpoint stored = current();
        if (unsettled || schedule.isDue(stored.revision(), position.revision())) {
            awaitAcknowledgement();
            store(stored.syncedAt(position));
            unsettled = false;
            complete = position.revision();
        }
    }

    @Override
    public @Nullable Checkpoint checkpoint() {
        return checkpoint;
    }

    @Override
    public Revision complete() {
        return complete;
    }

    @Override
    public void close() {
        Producer<byte[], byte[]> open = producer;
        if (open != null) {
            producer = null;
            open.close(Duration.ZERO);
        }
    }

    /**
     * Gives one record to the producer, waiting while its buffer is full.
     *
     * @param completes the revision that is complete once the record is acknowledged
     */
    private void send(ProducerRecord<byte[], byte[]> record, @Nullable Revision completes) {
        requireHealthy();
        unsettled = true;
        try {
            lastSent = openProducer().send(record, (metadata, failed) -> {
                if (failed != null) {
                    failure.compareAndSet(null, failed);
                } else if (completes != null && failure.get() == null) {
                    complete = completes;
                }
            });
        } catch (KafkaException e) {
            throw KafkaFailures.explained("writing to topic " + options.topic(), e);
        }
    }

    /** Records of one partition are acknowledged in order: after the last, all are. */
    private void awaitAcknowledgement() {
        Future<RecordMetadata> last = lastSent;
        if (last != null) {
            await("writing to topic " + options.topic(), last);
            lastSent = null;
        }
        requireHealthy();
    }

    private void store(Checkpoint next) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                options.checkpointTopic(),
                0,
                mirror.getBytes(StandardCharsets.UTF_8),
                CheckpointCodec.encode(next).toByteArray());
        try {
            await("storing the checkpoint at " + where(), openProducer().send(record));
        } catch (KafkaException e) {
            throw KafkaFailures.explained("storing the checkpoint at " + where(), e);
        }
        checkpoint = next;
        storedNanos = System.nanoTime();
        schedule.stored();
    }

    private void await(String doing, Future<?> future) {
        try {
            Object unused = future.get(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException | InterruptedException e) {
            throw KafkaFailures.explained(doing, e);
        }
    }

    private void requireHealthy() {
        Exception failed = failure.get();
        if (failed != null) {
            throw KafkaFailures.explained("writing to topic " + options.topic(), failed);
        }
    }

    private Producer<byte[], byte[]> openProducer() {
        Producer<byte[], byte[]> open = producer;
        if (open == null) {
            throw new IllegalStateException("the sink is not open");
        }
        return open;
    }

    private Checkpoint current() {
        Checkpoint current = checkpoint;
        if (current == null) {
            throw new IllegalStateException("mirror " + mirror + " is given data before its snapshot started");
        }
        return current;
    }

    private @Nullable Checkpoint readCheckpoint() {
        AtomicReference<byte @Nullable []> last = new AtomicReference<>();
        clients.readAll(options.checkpointTopic(), record -> {
            if (record.key() != null && new String(record.key(), StandardCharsets.UTF_8).equals(mirror)) {
                last.set(record.value());
            }
        });
        byte[] found = last.get();
        if (found == null) {
            return null;
        }
        try {
            return CheckpointCodec.decode(where(), ByteString.copyFrom(found));
        } catch (CorruptCheckpointException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }

    private void requireEmptyTopic() {
        clients.readAll(options.topic(), record -> {
            throw new SinkException.Refused("topic " + options.topic() + " holds records, but no checkpoint of mirror "
                    + mirror + " is at " + where() + ". Mirror to another topic");
        });
    }

    private String where() {
        return "key \"" + mirror + "\" of topic " + options.checkpointTopic();
    }
}
