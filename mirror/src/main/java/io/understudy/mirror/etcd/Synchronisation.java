package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.checkpoint.LaneProgress;
import io.understudy.mirror.etcd.EtcdSinkOptions.SourceReset;
import io.understudy.mirror.etcd.FencedWriter.Fence;
import io.understudy.mirror.etcd.SnapshotCopy.Prune;
import io.understudy.mirror.etcd.SyncWriter.CopyRest;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the target equal to a snapshot, in lanes; meanwhile the checkpoint is {@code syncing}.
 *
 * <p>The first transaction puts the checkpoint and the keys of all lanes, including those of an earlier run, which
 * fences delayed writes. The last one deletes the lanes' keys, puts the checkpoint {@code synced} and records it as
 * {@link ReservedKeys#resumable}: the target's history lacks deletions that the snapshot covers.
 */
final class Synchronisation implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Synchronisation.class);

    private final String mirror;
    private final MirrorScope scope;
    private final String writerName;
    private final EtcdCluster target;
    private final EtcdSinkOptions options;
    private final TargetCalls calls;
    private final @Nullable TargetCalls source;
    private final FencedWriter writer;
    private final TargetChecks checks;
    private final Homes homes;
    private final TargetLeases leases;
    private final SinkListener listener;
    private @Nullable SnapshotCopy copy;
    /** Compares a history that may differ, in place of the copy. */
    private @Nullable SourceComparison comparison;
    /** Reason why the next snapshot has another history; null if none is known. */
    private @Nullable String sourceReset;
    /** Whether the next snapshot is known to have the mirrored history. */
    private boolean recognised;
    /** Whether the next snapshot is compared before it is written. */
    private boolean comparesFirst;
    /** Whether the comparison looks for another history. */
    private boolean isHistoryUnknown;
    /** The commit that the next complete snapshot replaces; null if there is none. */
    private @Nullable Revision replaced;
    /** Approximate number of keys that the replaced commit deleted; 0 for none. Includes an unfinished snapshot's. */
    private long deletions;

    /** Position of the next snapshot, if a later feed can continue it. */
    private @Nullable Position pin;
    /** The unfinished snapshot of the previous writer. */
    private @Nullable UnfinishedSnapshot unfinished;

    /** @param source null if not readable by key: deletions are then counted during the copy */
    Synchronisation(
            String mirror,
            MirrorScope scope,
            String writerName,
            EtcdCluster target,
            EtcdSinkOptions options,
            TargetCalls calls,
            @Nullable TargetCalls source,
            FencedWriter writer,
            TargetChecks checks,
            Homes homes,
            TargetLeases leases,
            SinkListener listener) {
        this.mirror = mirror;
        this.scope = scope;
        this.writerName = writerName;
        this.target = target;
        this.options = options;
        this.calls = calls;
        this.source = source;
        this.writer = writer;
        this.checks = checks;
        this.homes = homes;
        this.leases = leases;
        this.listener = listener;
    }

    void started(ClusterId cluster, Revision revision) {
        close();
        checks.requireAnotherCluster(cluster);
        Checkpoint before = writer.found();
        if (before == null) {
            checks.requireNoOtherMirror();
            homes.settle(cluster);
            before = Checkpoint.first(cluster, scope, writerName, Instant.now());
            writer.beginEpoch(before, rangeRecord());
        }
        if (before.revision().equals(Revision.ZERO)) {
            // Of two that begin at the same time, one at least sees the other, before either has written data; and sees
            // it again when it is started again.
            checks.requireNoOtherMirror();
        }
        boolean mayReset = options.onSourceReset() == SourceReset.RESYNC;
        if (!mayReset) {
            checks.requireSource(before, cluster);
        }
        CopyRest rest = new CopyRest(pin, List.of(KeyRange.all()));
        pin = null;
        String reset = reset(before, cluster, revision);
        if (reset != null) {
            // A commit of one history allows no deletions by another.
            replaced = null;
            deletions = 0;
        }
        isHistoryUnknown = reset == null && !recognised && !mayReset;
        recognised = false;
        boolean compares = isHistoryUnknown || (reset == null && comparesFirst);
        comparesFirst = false;
        if (compares && isComplete(before)) {
            String cause = isHistoryUnknown ? "intermediate history is compacted" : "target may have rejected a commit";
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", cause)
                    .log("comparing before resync");
            comparison = compareTo(before);
        } else if (reset == null) {
            copy = begin(before.in(CheckpointState.SYNCING), rest, revision);
        } else if (mayReset) {
            LOG.atWarn()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", reset)
                    .log("resyncing with the new source history");
            copy = begin(before.inAnotherHistory(cluster, revision), rest, revision);
            sourceReset = null;
        } else {
            LOG.atWarn()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", reset)
                    .log("comparing with the new source history");
            sourceReset = reset;
            comparison = compareTo(before);
        }
    }

    /**
     * Returns the snapshot that the previous writer left unfinished. Null if a new one is needed. Call it after that
     * writer is fenced off.
     */
    @Nullable UnfinishedSnapshot unfinished(Checkpoint taken) {
        if (taken.state() != CheckpointState.SYNCING) {
            return null;
        }
        List<UnfinishedSnapshot> ofLanes = new ArrayList<>();
        TargetKeys lanes = new TargetKeys(calls, ReservedKeys.lanes(mirror));
        while (lanes.hasNext()) {
            ByteString stored = lanes.next().getValue();
            deletions = LaneProgress.deletions(stored);
            Optional<UnfinishedSnapshot> left = LaneProgress.decode(stored, taken.source(), terms());
            boolean isOther = left.isEmpty()
                    || ofLanes.stream()
                            .anyMatch(of -> !of.pin().equals(left.get().pin()));
            if (isOther) {
                return null;
            }
            ofLanes.add(left.get());
        }
        // Each lane stored what was left when it wrote last: what one no longer lists is copied.
        unfinished = ofLanes.stream()
                .reduce((one, other) -> new UnfinishedSnapshot(one.pin(), common(one.rest(), other.rest())))
                .orElse(null);
        return unfinished;
    }

    private static List<KeyRange> common(List<KeyRange> some, List<KeyRange> others) {
        return some.stream()
                .flatMap(range -> others.stream().filter(range::intersects).map(range::intersection))
                .toList();
    }

    /** Returns the options under which a copied part is valid. */
    private String terms() {
        return options.onForeignKeys() + (leases.areKept() ? " leased" : "");
    }

    /** Records that a later feed can continue the next snapshot. */
    void pinned(Position at) {
        pin = at;
    }

    /** Continues the unfinished snapshot. */
    void resumed(Position at) {
        UnfinishedSnapshot left = unfinished;
        Checkpoint before = writer.current();
        if (left == null || !left.pin().equals(at)) {
            throw new IllegalStateException("mirror " + mirror + " has no unfinished snapshot at " + at);
        }
        unfinished = null;
        if (before.revision().equals(Revision.ZERO)) {
            checks.requireNoOtherMirror();
        }
        copy = begin(before, new CopyRest(at, left.rest()), null);
    }

    /** Records that the next snapshot has the mirrored history, so no comparison is needed. */
    void historyRecognised() {
        recognised = true;
    }

    /** Compares the next snapshot before it is written, whatever its history. */
    void compareFirst() {
        comparesFirst = true;
    }

    /** Records that the next snapshot replaces a commit: its deletions are not limited. */
    void commitReplaced(Revision revision) {
        replaced = revision;
        LOG.atInfo()
                .addKeyValue("mirror", mirror)
                .addKeyValue("revision", revision)
                .log("commit too large; copying its effects by a snapshot");
    }

    /** Records that the next snapshot has another history than the mirrored one. */
    void sourceReset(String why) {
        sourceReset = why;
    }

    void page(KeyRange covered, List<KeyValue> entries) {
        if (comparison != null) {
            comparison.page(covered, entries);
        } else {
            copy().page(covered, entries);
        }
    }

    /**
     * @throws SinkException.Refused the snapshot has another history, and nothing was written; reports the differences
     * @throws SinkException.Compared the history appears to be the same; the next snapshot is copied
     */
    void completed(Position position) {
        if (comparison != null) {
            String reset = sourceReset == null && isHistoryUnknown ? comparison.contradiction() : sourceReset;
            if (reset != null) {
                throw comparison.result(reset);
            }
            throw new SinkException.Compared("source history continues from the mirrored revision; resync follows");
        }
        copy().complete();
        // False if compacted meanwhile: then again, at a later checkpoint.
        boolean unused = !leases.areKept()
                || leases.restore(position, copy().leased(), operations -> writer.write(operations, syncing()));
        long deleted = copy().deleted();
        if (deleted > 0) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("keys", deleted)
                    .log("deleted keys that are not in the source");
        }
        close();
        List<RequestOp> ended = new ArrayList<>(IntStream.range(0, options.lanes())
                .mapToObj(lane -> EtcdMessages.delete(SyncWriter.key(mirror, lane)))
                .toList());
        // As a failback of an earlier release left it.
        ended.add(EtcdMessages.delete(ReservedKeys.of(mirror, "compared")));
        if (options.onForeignKeys() == ForeignKeys.DELETE) {
            ended.add(EtcdMessages.delete(ReservedKeys.keptForeign(mirror)));
        }
        replaced = null;
        deletions = 0;
        Checkpoint synced = syncing().syncedAt(position);
        ended.add(resumable(synced));
        writer.writeOwn(ended, synced);
    }

    /**
     * Whether the feed reads marks as it did at the checkpoint. If not, a commit of the source has another digest, so that
     * the history cannot be recognised by the last one.
     */
    boolean readsSameRange() {
        return has(ReservedKeys.unmarked(mirror)) != scope.readsMarks(options.marked());
    }

    /** Returns the operation that records which range the feed reads. */
    RequestOp rangeRecord() {
        ByteString key = ReservedKeys.unmarked(mirror);
        return scope.readsMarks(options.marked()) ? EtcdMessages.delete(key) : EtcdMessages.put(key, ByteString.EMPTY);
    }

    /**
     * Records {@code taken} as the first resumable checkpoint, unless one of its source is recorded. It is missing
     * after a switchover, or for a mirror of an earlier release, which joined deletions with puts.
     */
    List<RequestOp> missingRecord(Checkpoint taken) {
        TargetKeys found = new TargetKeys(calls, KeyRange.single(ReservedKeys.resumable(mirror)));
        boolean isRecorded = found.hasNext() && isRecord(found.next().getValue(), taken.source());
        return isRecorded || taken.state() == CheckpointState.SYNCING ? List.of() : List.of(resumable(taken));
    }

    private static boolean isRecord(ByteString stored, ClusterId source) {
        try {
            return CheckpointCodec.decode("", stored).source().equals(source);
        } catch (CorruptCheckpointException e) {
            return false;
        }
    }

    private RequestOp resumable(Checkpoint from) {
        return EtcdMessages.put(ReservedKeys.resumable(mirror), CheckpointCodec.encode(from));
    }

    private Checkpoint syncing() {
        return writer.current().marked(writer.current().path(), Instant.now());
    }

    /**
     * Makes a complete target {@code syncing} while keys with leases are restored.
     *
     * @param stored with the mark of the transaction, which the lane's key has as well
     * @return operations by which a later writer compares at the checkpoint's revision, if this one ends before
     */
    List<RequestOp> restoring(Checkpoint stored) {
        Position at = stored.resumeAt();
        if (at == null || at.anchor() == null) {
            return List.of();
        }
        UnfinishedSnapshot all = new UnfinishedSnapshot(at, List.of(KeyRange.all()));
        return List.of(EtcdMessages.put(
                SyncWriter.key(mirror, 0),
                LaneProgress.first(stored, 0, terms(), all, 0).encoded()));
    }

    /** Returns operations that mark the target as complete again. */
    List<RequestOp> restored() {
        return List.of(EtcdMessages.delete(SyncWriter.key(mirror, 0)));
    }

    /** Ends the running copy or comparison. */
    @Override
    public void close() {
        if (copy != null) {
            copy.close();
            copy = null;
        }
        comparison = null;
    }

    private SnapshotCopy copy() {
        if (copy == null) {
            throw new IllegalStateException("mirror " + mirror + " received a page before its snapshot started");
        }
        return copy;
    }

    /** Returns why a snapshot has another history than the checkpoint; null if nothing indicates that. */
    private @Nullable String reset(Checkpoint before, ClusterId cluster, Revision revision) {
        if (sourceReset != null) {
            return sourceReset;
        }
        if (!before.source().equals(cluster)) {
            return "source cluster ID changed from " + before.source() + " to " + cluster;
        }
        return revision.isBefore(before.revision())
                ? "source cluster " + cluster + " is at revision " + revision + ", behind the mirrored revision "
                        + before.revision() + ": it was restored from a backup or wiped"
                : null;
    }

    /** Whether the target equals the source at the checkpoint's revision, apart from later writes. */
    private static boolean isComplete(Checkpoint found) {
        return found.state() != CheckpointState.SYNCING && found.revision().isAfter(Revision.ZERO);
    }

    private SourceComparison compareTo(Checkpoint before) {
        return new SourceComparison(
                scope,
                options.onForeignKeys(),
                leases.areKept(),
                writer.createRevision(),
                calls,
                new SyncWriter(
                        mirror,
                        calls,
                        options,
                        writer.fence(),
                        listener,
                        LaneProgress.first(before, 0, terms(), null, 0),
                        new CopyRest(null, List.of()),
                        0),
                checks.count(),
                before.revision());
    }

    /** @param unchecked revision of the snapshot; null if the previous writer counted its deletions before it began */
    private SnapshotCopy begin(Checkpoint found, CopyRest rest, @Nullable Revision unchecked) {
        long held = checks.count();
        boolean isFirst = found.revision().equals(Revision.ZERO);
        boolean isLimited = replaced == null && (!isFirst || options.limitsFirst()) && options.limitsPrune();
        ByteString kept = ReservedKeys.keptForeign(mirror);
        // Later all that the source lacks has been mirrored, if none were found the first time.
        ForeignKeys policy = !isFirst && options.onForeignKeys() == ForeignKeys.FAIL && !has(kept)
                ? ForeignKeys.DELETE
                : options.onForeignKeys();
        if (isLimited && held > 0 && unchecked != null) {
            requirePrunable(new Prune(mirror, held, options, deletions), policy, unchecked);
        }
        if (replaced != null && source != null && unchecked != null) {
            // For a later writer, which has to finish what this one began.
            deletions = Math.max(0, held - TargetChecks.count(source, scope.sourceRanges(), unchecked));
        }
        homes.settle(found.source());
        Checkpoint syncing = found.marked(homes.path(found.source()), Instant.now());
        List<LaneProgress> firsts = IntStream.range(0, options.lanes())
                .mapToObj(lane -> LaneProgress.first(syncing, lane, terms(), rest.after(null), deletions))
                .toList();
        Set<ByteString> leftOver = new TreeSet<>(KeyRange.KEY_ORDER);
        leftOver.addAll(laneKeys());
        List<RequestOp> operations = new ArrayList<>();
        for (LaneProgress first : firsts) {
            ByteString key = SyncWriter.key(mirror, first.lane());
            operations.add(EtcdMessages.put(key, first.encoded()));
            leftOver.remove(key);
        }
        leftOver.forEach(key -> operations.add(EtcdMessages.delete(key)));
        if (options.onForeignKeys() == ForeignKeys.KEEP) {
            operations.add(EtcdMessages.put(kept, ByteString.EMPTY));
        }
        writer.writeOwn(operations, syncing);
        // Again, since a delayed transaction of an earlier copy may have been applied until it was fenced off.
        boolean intoEmpty = held == 0 && checks.count() == 0;
        Fence fence = writer.fence();
        List<SyncWriter> lanes = firsts.stream()
                .map(first -> new SyncWriter(
                        mirror,
                        new TargetCalls(target, listener),
                        options,
                        fence,
                        listener,
                        first,
                        rest,
                        writer.modRevision()))
                .toList();
        LOG.atInfo()
                .addKeyValue("mirror", mirror)
                .addKeyValue("lanes", lanes.size())
                .addKeyValue("target_keys", held)
                .addKeyValue("first", isFirst)
                .log("sync started");
        return new SnapshotCopy(
                scope,
                policy,
                writer.createRevision(),
                intoEmpty,
                isLimited ? new Prune(mirror, held, options, deletions) : null,
                leases,
                Lanes.start(mirror, lanes));
    }

    /** Rejects excess deletions before the first write, so that the target can take over. */
    private void requirePrunable(Prune prune, ForeignKeys policy, Revision snapshot) {
        TargetCalls from = source;
        if (from != null) {
            long foreignBefore = writer.createRevision();
            prune.addSurplus(
                    scope,
                    from,
                    snapshot,
                    calls,
                    found -> policy == ForeignKeys.DELETE || found.getCreateRevision() >= foreignBefore);
            var unused = prune.keys();
        }
    }

    private boolean has(ByteString key) {
        return new TargetKeys(calls, KeyRange.single(key)).hasNext();
    }

    /** Returns the existing keys of lanes. */
    private List<ByteString> laneKeys() {
        List<ByteString> keys = new ArrayList<>();
        new TargetKeys(calls, ReservedKeys.lanes(mirror)).forEachRemaining(found -> keys.add(found.getKey()));
        return keys;
    }
}
