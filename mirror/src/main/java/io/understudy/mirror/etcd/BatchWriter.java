package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.sink.ForeignWriteHint;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes each batch together with the checkpoint, in one transaction. A commit too large for that is written in parts,
 * the checkpoint being {@code torn} before it until the last part: after a crash the feed gives it again.
 *
 * <p>One thread at a time, but for {@link #complete} and observations.
 *
 * <p>Invariant M2: a source commit is part of one target revision if it fits into one request.
 */
final class BatchWriter {

    private static final Logger LOG = LoggerFactory.getLogger(BatchWriter.class);

    private final String mirror;
    private final FencedWriter writer;
    private final TargetLeases leases;
    private final ForeignWriteHint hint;
    private volatile KeyObservation observation = new KeyObservation(List.of());
    private volatile Revision complete = Revision.ZERO;

    BatchWriter(String mirror, FencedWriter writer, TargetLeases leases, ForeignWriteHint hint) {
        this.mirror = mirror;
        this.writer = writer;
        this.leases = leases;
        this.hint = hint;
    }

    /** The target is known to be whole up to there; {@link Revision#ZERO} while it isn't whole. */
    void completeAt(Revision revision) {
        complete = revision;
    }

    /** Returns the revision as last set, or as written since. Any thread. */
    Revision complete() {
        return complete;
    }

    /** Observes commits to {@code keys} and ends the previous observation. Any thread. */
    synchronized KeyObservation observe(Collection<ByteString> keys) {
        KeyObservation before = observation;
        KeyObservation next = new KeyObservation(keys);
        observation = next;
        before.end();
        return next;
    }

    /** Ends the observation, since other writes than batches change the target. Any thread. */
    void endObservation() {
        observation.end();
    }

    /** The source did these operations, but the target is not written. Any thread. */
    void passedOver(List<RequestOp> operations) {
        observation.changed(operations);
    }

    void write(CommitBatch batch) {
        if (batch.path().isEmpty()) {
            advance(batch);
        } else {
            apply(batch);
        }
    }

    /** Writes operations that belong to no commit; the target's revision of the source is unchanged. */
    void repair(List<RequestOp> operations, List<ClusterId> path) {
        write(operations, writer.current().marked(path, Instant.now()));
    }

    private void apply(CommitBatch batch) {
        Checkpoint before = writer.current().marked(batch.path(), batch.at());
        List<List<RequestOp>> parts = batch.parts();
        if (parts.size() > 1) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("revision", batch.position().revision())
                    .addKeyValue("operations", batch.operations().size())
                    .addKeyValue("parts", parts.size())
                    .log("commit split into several transactions");
        }
        for (List<RequestOp> part : parts.subList(0, parts.size() - 1)) {
            write(leased(part), before.in(CheckpointState.TORN));
        }
        write(leased(parts.get(parts.size() - 1)), before.syncedAt(batch.position()));
        complete = batch.position().revision();
    }

    private void advance(CommitBatch batch) {
        Checkpoint stored = writer.current();
        if (stored.state() == CheckpointState.TORN) {
            // Only the rest of the torn commit, which the feed gives next, makes the range whole again.
            return;
        }
        if (writer.isMoveDue(batch.position().revision())) {
            write(List.of(), stored.marked(stored.path(), batch.at()).syncedAt(batch.position()));
        }
        complete = batch.position().revision();
    }

    private void write(List<RequestOp> operations, Checkpoint next) {
        long after = writer.modRevision();
        writer.write(operations, next);
        // Recorded after the write: a comparison that begins once this is recorded reads the write.
        observation.changed(operations);
        if (writer.modRevision() != after + 1) {
            hint.between(after, writer.modRevision());
        }
    }

    /** Returns the operations with leases that exist in the target. */
    private List<RequestOp> leased(List<RequestOp> operations) {
        if (!leases.areKept()) {
            return operations;
        }
        operations.stream()
                .filter(RequestOp::hasRequestDeleteRange)
                .forEach(operation -> leases.deleted(Operations.key(operation)));
        List<RequestOp> granted = new ArrayList<>(operations.size());
        for (RequestOp operation : operations) {
            long lease = operation.getRequestPut().getLease();
            long there = operation.hasRequestPut() ? leases.forPut(Operations.key(operation), lease) : 0;
            granted.add(
                    there == lease
                            ? operation
                            : EtcdMessages.put(
                                    operation.getRequestPut().getKey(),
                                    operation.getRequestPut().getValue(),
                                    there));
        }
        return granted;
    }
}
