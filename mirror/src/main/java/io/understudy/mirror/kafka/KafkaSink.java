package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.understudy.consumer.format.StateDigest;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.kafka.KafkaClients;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.kafka.LastRecords.SnapshotSelection;
import io.understudy.mirror.scope.MirrorScope;
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
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes every change exactly once and in order to change topic and state topic. The state topic is compacted. See
 * {@link io.understudy.feed.kafka.RecordFormat} for the records.
 *
 * <p>A transaction holds several whole commits, or one large, with a mark in every partition and the checkpoint.
 * Opening a sink aborts the transaction of its predecessor and fences it. A snapshot takes many transactions between
 * two marks. It has records only for entries that the state topic lacks in the mirror's generation, and tombstones for
 * deleted keys. An interrupted one continues so.
 *
 * <p>Invariant M26: each commit is in Kafka once, whole and in order, and the last record of each key is the state,
 * whatever is killed.
 */
public final class KafkaSink implements Sink {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaSink.class);

    private final String mirror;
    private final MirrorScope scope;
    /** The scope under the key names of the topics. */
    private final MirrorScope named;

    private final String writerName;
    private final KafkaSinkOptions options;
    private final TransactionTimeout timeout;
    private final SinkListener listener;
    private final MeterRegistry meters;
    private final KafkaClients clients;
    private final TopicReader reader;
    private final CheckpointTopic checkpoints;
    private final StrayRecords strays;
    private final StateCheck check;

    private final TransactionBatch batch = new TransactionBatch();
    private @Nullable TopicWriter writer;
    /** Position of the feed; null while a snapshot is written. */
    private @Nullable Position reached;
    /** Revision up to which the last mark declares the topics complete. */
    private Revision marked = Revision.ZERO;

    private long markedNanos = System.nanoTime();
    /** When the source had nothing newer; null if unknown since the last mark. */
    private @Nullable Instant asOf;

    private @Nullable SnapshotSelection merge;
    /** Digest of the received state, with an open batch or snapshot; null if unknown. */
    private @Nullable StateDigest state;

    /** Epoch of the last checkpoint sent; 0 before the first. */
    private long epoch;

    private volatile @Nullable Checkpoint checkpoint;
    private volatile Revision complete = Revision.ZERO;

    /**
     * Returns a factory of a mirror's sinks, which connect when opened; one at a time.
     *
     * @param writerName unique per writer, see {@link Checkpoint#writer}
     */
    public static Function<SinkListener, Sink> factory(
            String mirror, MirrorScope scope, String writerName, KafkaSinkOptions options, MeterRegistry meters) {
        TransactionTimeout timeout = new TransactionTimeout(options.transactionTimeout());
        return listener -> new KafkaSink(mirror, scope, writerName, options, timeout, listener, meters);
    }

    /** @throws IllegalArgumentException Kafka's own settings are invalid, see {@link KafkaClients} */
    KafkaSink(
            String mirror,
            MirrorScope scope,
            String writerName,
            KafkaSinkOptions options,
            TransactionTimeout timeout,
            SinkListener listener,
            MeterRegistry meters) {
        this.meters = meters;
        this.mirror = mirror;
        this.scope = scope;
        this.named = scope.named();
        this.writerName = writerName;
        this.options = options;
        this.timeout = timeout;
        this.listener = listener;
        this.clients = new KafkaClients(options.kafka(), "understudy-mirror-" + mirror);
        this.reader = new TopicReader(clients);
        this.strays = new StrayRecords(listener::stray);
        this.check = new StateCheck(reader, options, named, strays);
        this.checkpoints = new CheckpointTopic(options.checkpointTopic(), mirror, strays);
    }

    @Override
    public @Nullable Position open() {
        SinkStart.Outcome taken = new SinkStart(clients, options, scope, checkpoints, reader, timeout, strays)
                .run(new Fencing(checkpoints, reader, options, this::isOther));
        taken.writer().export(meters, Tags.of("mirror", mirror));
        writer = taken.writer();
        Checkpoint found = taken.checkpoint();
        if (found == null) {
            return null;
        }
        Checkpoint ours = found.takenOverBy(writerName);
        marked = ours.revision();
        state = taken.state();
        write(ours);
        LOG.atInfo()
                .addKeyValue("mirror", mirror)
                .addKeyValue("epoch", ours.epoch())
                .addKeyValue("state", found.state().word())
                .addKeyValue("revision", found.revision())
                .addKeyValue("from", found.writer())
                .log("mirror taken over");
        Position position = isStateWhole() && taken.isWhole() ? current().resumeAt() : null;
        if (position != null) {
            reached = position;
            complete = position.revision();
        }
        return position;
    }

    /** Whether a checkpoint is not this writer's, nor its predecessor's. Epochs begin again after a lost checkpoint. */
    private boolean isOther(CheckpointTopic.Stored stored) {
        Checkpoint other = stored.checkpoint();
        return other.epoch() > epoch
                || (other.epoch() == epoch && !other.writer().equals(writerName))
                || stored.generation() > writer().generation();
    }

    /** Always fails: a topic cannot revoke records. */
    @Override
    public void sourceReset(FeedEndedException why) throws FeedEndedException {
        throw why;
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        flush();
        reached = null;
        asOf = null;
        Checkpoint before = checkpoint;
        if (before != null) {
            requireSame("checkpoint at " + checkpoints.where(), before.source(), before.revision(), cluster, revision);
        }
        LastRecords last = LastRecords.read(
                reader, options, writer().generation(), writer().offsets().endOfState());
        writer().offsets().checked(last.end());
        state = StateDigest.EMPTY;
        ClusterId mirroredCluster = last.cluster();
        if (mirroredCluster != null) {
            // Also where the checkpoint is lost.
            requireSame("topic " + options.stateTopic(), mirroredCluster, last.newest(), cluster, revision);
        }
        LOG.atInfo()
                .addKeyValue("mirror", mirror)
                .addKeyValue("revision", revision)
                .log("snapshot started");
        merge = new SnapshotSelection(cluster, revision, last);
        writer().mark(records -> new TopicRecord.SnapshotBegin(cluster, revision), null);
        write(
                before == null
                        ? Checkpoint.first(cluster, scope, writerName, Instant.now())
                        : before.in(CheckpointState.SYNCING));
    }

    /** Requires the same source history: readers rely on its revisions. */
    private static void requireSame(
            String what, ClusterId of, Revision mirrored, ClusterId cluster, Revision revision) {
        if (!of.equals(cluster)) {
            throw new SinkException.Refused(what + " has source cluster " + of + ", but the source cluster ID is "
                    + cluster + ". Mirror to another topic");
        }
        if (revision.isBefore(mirrored)) {
            throw new SinkException.Refused(
                    "source cluster " + cluster + " is at revision " + revision + ", but " + what
                            + " is at revision " + mirrored
                            + ": the cluster was restored from a backup or wiped. Mirror the new"
                            + " history to another topic");
        }
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        List<KeyValue> mirrored = scope.mirrored(entries);
        for (KeyValue entry : mirrored) {
            state = Objects.requireNonNull(state).with(entry.key().asReadOnlyByteBuffer());
        }
        merge(scope.inTarget(covered), mirrored);
    }

    private void merge(KeyRange covered, List<KeyValue> mirrored) {
        SnapshotSelection open = merge;
        if (open == null) {
            throw new IllegalStateException("page received without a snapshot");
        }
        List<KeyValue> left = mirrored;
        for (ByteString rest = open.last().restBefore(covered.to());
                rest != null;
                rest = open.last().restBefore(covered.to())) {
            KeyRange present = new KeyRange(ByteString.EMPTY, rest);
            // Also removes keys beside the scope, which no page covers.
            write(open.page(
                    present,
                    left.stream().filter(each -> present.contains(each.key())).toList()));
            left = left.stream().filter(each -> !present.contains(each.key())).toList();
            // No transaction stays open while the topic is read.
            flush();
            open.last().readRest();
        }
        write(open.page(covered, left));
    }

    private void write(List<TopicRecord> records) {
        for (TopicRecord record : records) {
            batch.add(writer().write(record), 1);
            if (batch.isDue()) {
                write(current());
            }
        }
    }

    @Override
    public void snapshotCompleted(Position position) {
        // Removes keys beside the scope, which only another writer can have added: readers count them.
        merge(KeyRange.all(), List.of());
        merge = null;
        writer().mark(records -> new TopicRecord.SnapshotEnd(position.cluster(), position.revision(), records), state);
        reached = position;
        wrote(position, current().syncedAt(position));
    }

    @Override
    public void commit(Commit commit, Position position) {
        List<Change> changes = commit.changes().stream()
                .filter(change -> scope.contains(change.key()))
                .map(scope::inTarget)
                .toList();
        if (changes.isEmpty()) {
            progress(position);
            return;
        }
        long bytes = changes.stream().mapToLong(Change::bytes).sum();
        if (batch.isFullBefore(bytes, changes.size())) {
            flush();
        }
        requireFits(changes, commit.revision());
        ClusterId source = current().source();
        for (int i = 0; i < changes.size(); i++) {
            writer().write(new TopicRecord.Changed(source, commit.revision(), i, changes.size(), changes.get(i)));
            state = state == null ? null : after(state, changes.get(i));
        }
        batch.commit(bytes, changes.size());
        reached = position;
        if (batch.isDue()) {
            flush();
        }
    }

    private static StateDigest after(StateDigest state, Change change) {
        return state.after(
                change.key().asReadOnlyByteBuffer(),
                change instanceof Change.Put put ? put.keyValue().version() : 0);
    }

    /** Flushes earlier commits before it rejects a commit that does not fit. */
    private void requireFits(List<Change> changes, Revision revision) {
        try {
            changes.forEach(change -> writer().requireFits(change, revision));
        } catch (SinkException e) {
            flush();
            throw e;
        }
    }

    @Override
    public void progress(Position position) {
        reached = position;
        if (batch.isEmpty()) {
            complete = position.revision();
        }
    }

    @Override
    public void asOf(Instant time) {
        asOf = time;
    }

    @Override
    public Duration pause() {
        return batch.pause();
    }

    @Override
    public void caughtUp() {
        flush();
        Position position = reached;
        boolean isDue =
                System.nanoTime() - markedNanos >= options.heartbeatInterval().toNanos();
        if (position != null && isDue && (asOf != null || position.revision().isAfter(marked))) {
            complete(position);
        }
    }

    @Override
    public void settle() {
        caughtUp();
    }

    /** Commits the open transaction, if there is one. */
    private void flush() {
        Position position = reached;
        if (position == null && !batch.isEmpty()) {
            write(current());
        } else if (position != null && !batch.isEmpty()) {
            complete(position);
        }
    }

    private void complete(Position position) {
        Checkpoint stored = current();
        Revision previous = marked;
        Instant time = asOf;
        writer().mark(
                        records ->
                                new TopicRecord.Complete(stored.source(), position.revision(), previous, records, time),
                        state);
        wrote(position, stored.marked(stored.path(), Instant.now()).syncedAt(position));
    }

    private void wrote(Position position, Checkpoint next) {
        write(next);
        marked = position.revision();
        markedNanos = System.nanoTime();
        asOf = null;
        complete = position.revision();
        if (!isStateWhole()) {
            // With the offset, from which the next sink finds the same and resynchronises.
            write(current());
            throw new SinkException.Unavailable(
                    "records of another writer changed the keys of topic " + options.stateTopic()
                            + "; a resynchronisation restores them",
                    null);
        }
    }

    private boolean isStateWhole() {
        return check.isWhole(writer(), state);
    }

    /** Commits the transaction with a checkpoint. */
    private void write(Checkpoint next) {
        epoch = next.epoch();
        writer().send(checkpoints.record(writer().stored(next, merge == null ? state : null)));
        Duration took = writer().commit();
        checkpoint = next;
        listener.written(batch.changes());
        listener.committed(batch.commits(), took);
        batch.written();
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
        TopicWriter open = writer;
        if (open != null) {
            writer = null;
            if (open.inTransaction()) {
                listener.aborted();
            }
            open.close();
        }
    }

    private TopicWriter writer() {
        TopicWriter open = writer;
        if (open == null) {
            throw new IllegalStateException("sink is not open");
        }
        return open;
    }

    private Checkpoint current() {
        Checkpoint current = checkpoint;
        if (current == null) {
            throw new IllegalStateException("mirror " + mirror + " received data before its snapshot started");
        }
        return current;
    }
}
