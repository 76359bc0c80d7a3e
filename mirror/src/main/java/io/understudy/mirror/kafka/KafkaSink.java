package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.feed.FeedEndedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.ProgressSchedule;
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
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.ProducerRecord;
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
    private final MirrorScope scope;
    private final String writerName;
    private final KafkaSinkOptions options;
    private final SinkListener listener;
    private final KafkaClients clients;
    private final CheckpointTopic checkpoints;
    private final ProgressSchedule schedule = new ProgressSchedule(PROGRESS_INTERVAL);

    private volatile @Nullable TopicWriter writer;
    /** Whether a record was sent since the checkpoint was stored. */
    private boolean unsettled;
    /** Where the feed stands; null while a snapshot is written. */
    private @Nullable Position reached;

    private @Nullable LastRecords merging;
    private Revision snapshotRevision = Revision.ZERO;
    private long storedNanos = System.nanoTime();

    private volatile @Nullable Checkpoint checkpoint;
    /** As of the last time when nothing was on its way. */
    private volatile Revision complete = Revision.ZERO;

    /**
     * A sink that connects when it is opened.
     *
     * @param writerName differs between any two writers, see {@link Checkpoint#writer}
     */
    public KafkaSink(
            String mirror, MirrorScope scope, String writerName, KafkaSinkOptions options, SinkListener listener) {
        this.mirror = mirror;
        this.scope = scope;
        this.writerName = writerName;
        this.options = options;
        this.listener = listener;
        this.clients = new KafkaClients(options, "understudy-mirror-" + mirror);
        this.checkpoints = new CheckpointTopic(clients, options.checkpointTopic(), mirror);
    }

    @Override
    public @Nullable Position open() {
        boolean created;
        try (Admin admin = clients.admin()) {
            created = new KafkaTopics(admin, options).ensure();
        }
        Checkpoint found = checkpoints.read();
        if (created && found != null) {
            throw new SinkException.Refused("topic " + options.topic() + " was missing, but the checkpoint at "
                    + checkpoints.where() + " says it holds everything up to revision " + found.revision()
                    + ". Delete " + options.checkpointTopic() + " as well to begin anew");
        }
        writer = new TopicWriter(clients.producer(), options.timeout());
        if (found == null) {
            requireEmptyTopic();
            listener.available();
            return null;
        }
        if (!found.scope().equals(scope)) {
            throw new SinkException.Refused("the checkpoint at " + checkpoints.where() + " is of "
                    + found.scope().shown() + "; configured is " + scope.shown() + "." + " Mirror to another topic");
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

    /** A topic can't be told that what it holds never was. */
    @Override
    public void sourceReset(FeedEndedException why) throws FeedEndedException {
        throw why;
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        settle();
        reached = null;
        Checkpoint before = checkpoint;
        if (before == null) {
            store(Checkpoint.first(cluster, scope, writerName, Instant.now()));
        } else if (!before.source().equals(cluster)) {
            throw new SinkException.Refused("the checkpoint at " + checkpoints.where() + " is of source cluster "
                    + before.source() + ", but the source's id is " + cluster + ". Mirror to another topic");
        } else if (revision.isBefore(before.revision())) {
            throw new SinkException.Refused("cluster " + cluster + " is at revision " + revision + ", but revision "
                    + before.revision() + " was mirrored: it was restored from a backup or wiped. Mirror the new"
                    + " history to another topic");
        } else {
            store(before.in(CheckpointState.SYNCING));
        }
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
            if (scope.contains(entry.key())
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
                .filter(change -> scope.contains(change.key()))
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
        TopicWriter open = writer;
        Revision acknowledged = open == null ? Revision.ZERO : open.acknowledged();
        Revision settled = complete;
        return acknowledged.isAfter(settled) ? acknowledged : settled;
    }

    @Override
    public void close() {
        TopicWriter open = writer;
        if (open != null) {
            writer = null;
            open.close();
        }
    }

    private void send(ProducerRecord<byte[], byte[]> record, @Nullable Revision completes) {
        unsettled = true;
        writer().send(record, completes);
    }

    private void store(Checkpoint next) {
        writer().awaitAcknowledgement(options.topic());
        writer().send(checkpoints.record(next), null);
        writer().awaitAcknowledgement(checkpoints.name());
        checkpoint = next;
        storedNanos = System.nanoTime();
        schedule.stored();
    }

    private TopicWriter writer() {
        TopicWriter open = writer;
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

    private void requireEmptyTopic() {
        clients.readAll(options.topic(), record -> {
            throw new SinkException.Refused("topic " + options.topic() + " holds records, but no checkpoint of mirror "
                    + mirror + " is at " + checkpoints.where() + ". Mirror to another topic");
        });
    }
}
