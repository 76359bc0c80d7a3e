package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the target equal to a snapshot: only what differs is written, and what the source doesn't have is deleted;
 * meanwhile the checkpoint is {@code syncing}.
 */
final class Synchronisation {

    private final MirrorScope scope;
    private final String writerName;
    private final EtcdSinkOptions options;
    private final TargetCalls calls;
    private final CheckpointWriter writer;
    private final TargetChecks checks;

    Synchronisation(
            MirrorScope scope,
            String writerName,
            EtcdSinkOptions options,
            TargetCalls calls,
            CheckpointWriter writer,
            TargetChecks checks) {
        this.scope = scope;
        this.writerName = writerName;
        this.options = options;
        this.calls = calls;
        this.writer = writer;
        this.checks = checks;
    }

    void started(ClusterId cluster, Revision revision) {
        checks.requireAnotherCluster(cluster);
        Checkpoint before = writer.found();
        if (before == null) {
            checks.requireNoOtherMirror();
            writer.beginEpoch(Checkpoint.first(cluster, scope, writerName, Instant.now()));
            // Of two that begin at the same time, one at least sees the other, before either has written data.
            checks.requireNoOtherMirror();
            return;
        }
        checks.requireSource(before, cluster);
        checks.requireNotBehind(before, revision);
        if (before.state() != CheckpointState.SYNCING) {
            writer.write(List.of(), before.in(CheckpointState.SYNCING));
        }
    }

    void page(KeyRange covered, List<KeyValue> entries) {
        Checkpoint syncing = writer.current();
        long room = writer.room(syncing);
        List<KeyValue> mirrored = entries.stream()
                .filter(entry -> scope.contains(entry.key()))
                .map(scope::inTarget)
                .toList();
        PageMerge merge = new PageMerge(mirrored, options.onForeignKeys(), writer.createRevision());
        List<RequestOp> batch = new ArrayList<>();
        long bytes = 0;
        for (KeyRange range : scope.sourceRanges(covered)) {
            KeyRange part = scope.inTarget(range);
            merge.enter(part, new TargetKeys(calls, part));
            for (RequestOp next = merge.next(); next != null; next = merge.next()) {
                long more = Operations.bytes(next);
                if (bytes + more > room && !batch.isEmpty()) {
                    writer.write(batch, syncing);
                    batch = new ArrayList<>();
                    bytes = 0;
                }
                batch.add(next);
                bytes += more;
            }
        }
        if (!batch.isEmpty()) {
            writer.write(batch, syncing);
        }
    }

    void completed(Position position) {
        writer.write(List.of(), writer.current().syncedAt(position));
    }
}
