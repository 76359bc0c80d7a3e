package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedEndedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.etcd.EtcdSinkOptions.SourceReset;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.ForeignWriteHint;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a range of another etcd cluster equal to the source's. Each target transaction applies one or more consecutive
 * source commits together with the checkpoint.
 *
 * <p>Taking over raises the epoch in the checkpoint, which fences off pending writes of an earlier writer. A snapshot
 * is merged: only differences are written, and keys that the source lacks are deleted. Meanwhile the checkpoint is
 * {@code syncing}, and a later writer copies only the rest, unless the snapshot's revision is compacted. A commit too
 * large for one transaction is written in parts. Until the last part the checkpoint is {@code torn}, and after a crash
 * the feed delivers the commit again.
 *
 * <p>{@link TargetLeases} handles leases; keys deleted by an expired source lease are deleted like any other.
 *
 * <p>Invariant M1: at a checkpoint in state synced, the target's range holds exactly the source's keys and values at
 * its revision, whatever fails.
 *
 * <p>Invariant M5: a crash after any write loses and repeats nothing.
 */
public final class EtcdSink implements Sink {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdSink.class);

    private static final int TAKE_OVER_ATTEMPTS = 5;

    private static final Duration SOURCE_PATIENCE = Duration.ofSeconds(2);

    private final String mirror;
    private final String writerName;
    private final @Nullable EtcdCluster source;
    private final EtcdSinkOptions options;
    private final TargetCalls calls;
    private final FencedWriter writer;
    private final TargetChecks checks;
    private final Synchronisation synchronisation;
    private final Homes homes;
    private final TailWriter tail;
    private final MirrorScope scope;
    private final TargetLeases leases;
    /** Whether every key that should have a lease is known to have it. */
    private boolean whole;

    /** Creates a sink without leases, hints of foreign writes, and a record at the source. */
    public EtcdSink(
            String mirror,
            MirrorScope scope,
            String writerName,
            EtcdCluster target,
            EtcdSinkOptions options,
            SinkListener listener) {
        this(mirror, scope, writerName, null, target, options, TargetLeases.DROPPED, ForeignWriteHint.NONE, listener);
    }

    /**
     * @param source closed by the caller; null if not an etcd cluster
     * @param target closed by the caller
     * @param writerName unique per writer, see {@link Checkpoint#writer}
     */
    public EtcdSink(
            String mirror,
            MirrorScope scope,
            String writerName,
            @Nullable EtcdCluster source,
            EtcdCluster target,
            EtcdSinkOptions options,
            TargetLeases leases,
            ForeignWriteHint hint,
            SinkListener listener) {
        this.mirror = mirror;
        this.writerName = writerName;
        this.source = source;
        this.options = options;
        this.scope = scope;
        this.leases = leases;
        this.calls = TargetCalls.ofWriter(target, listener);
        this.writer = new FencedWriter(calls, mirror, options, listener);
        this.checks = new TargetChecks(mirror, scope, calls, writer);
        TargetCalls sourceCalls = source == null ? null : TargetCalls.ofSource(source, listener);
        HomeKeys atSource = sourceCalls == null ? null : new HomeKeys(sourceCalls, "source", mirror);
        // By its own calls: it is read on the feed's thread while another thread may write.
        HomeKeys atTarget = new HomeKeys(new TargetCalls(target, listener), "target", mirror);
        this.homes = new Homes(mirror, scope, atSource, atTarget);
        this.synchronisation = new Synchronisation(
                mirror,
                scope,
                writerName,
                target,
                options,
                calls,
                sourceCalls,
                writer,
                checks,
                homes,
                leases,
                listener);
        this.tail = new TailWriter(mirror, scope, writer, leases, options.history(), hint, listener);
    }

    @Override
    public @Nullable FeedStart open() {
        FeedStart start = takeOver();
        if (start instanceof Position position) {
            leases.of(position.cluster());
        }
        whole = leases.attach(writer::epoch, tail::complete);
        if (start instanceof Position && !whole) {
            leases.setWhole(false);
        }
        return start;
    }

    private @Nullable FeedStart takeOver() {
        SinkException.@Nullable Fenced lost = null;
        for (int attempt = 0; attempt < TAKE_OVER_ATTEMPTS; attempt++) {
            // Before the primary record: a move of the primary changes the epoch.
            Checkpoint found = writer.read();
            requireOurs(found);
            if (found == null) {
                return null;
            }
            if (!writer.raiseEpoch(found.takenOverBy(writerName))) {
                continue;
            }
            boolean sameRange = synchronisation.readsSameRange();
            Checkpoint read = writer.read();
            if (read == null) {
                throw new SinkException.Refused("checkpoint of mirror " + mirror + " was deleted during the take-over");
            }
            Checkpoint taken = (sameRange ? read : read.withoutAnchor()).takenOverBy(writerName);
            List<RequestOp> own = new ArrayList<>(synchronisation.missingRecord(taken));
            if (!sameRange) {
                own.add(synchronisation.rangeRecord());
            }
            try {
                writer.writeOwn(own, taken);
            } catch (SinkException.Fenced e) {
                // A writer of an earlier release, which does not compare the epoch: look again.
                lost = e;
                continue;
            }
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("epoch", taken.epoch())
                    .addKeyValue("state", taken.state().word())
                    .addKeyValue("revision", taken.revision())
                    .addKeyValue("from", found.writer())
                    .log("mirror taken over");
            tail.begin(taken);
            Position resumeAt = taken.resumeAt();
            UnfinishedSnapshot unfinished = synchronisation.unfinished(taken);
            return resumeAt == null && sameRange ? unfinished : resumeAt;
        }
        throw new SinkException.Fenced("mirror " + mirror + " could not be taken over in " + TAKE_OVER_ATTEMPTS
                + " attempts: another process is writing. Last failure: "
                + (lost == null ? "" : lost.getMessage()));
    }

    private void requireOurs(@Nullable Checkpoint found) {
        try {
            homes.requireElsewhere();
            if (found != null) {
                checks.requireOurs(found);
            } else if (options.onForeignKeys() == ForeignKeys.FAIL) {
                checks.requireNoForeignKeys();
            }
        } catch (SinkException e) {
            // Reported instead: mirroring a cluster onto itself causes other, misleading errors.
            sourceId().ifPresent(checks::requireAnotherCluster);
            throw e;
        }
    }

    /** Returns the source's cluster ID; empty if it is not known soon. */
    private Optional<ClusterId> sourceId() {
        if (source == null) {
            return Optional.empty();
        }
        ClusterId known = source.view().clusterId();
        if (known != null) {
            return Optional.of(known);
        }
        try {
            return Optional.of(source.readIndex(SOURCE_PATIENCE)
                    .get(SOURCE_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                    .clusterId());
        } catch (ExecutionException | TimeoutException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    @Override
    public void sourceReset(FeedEndedException why) throws FeedEndedException {
        boolean isOurCluster = why instanceof FeedEndedException.AnotherHistory;
        if (!isOurCluster && options.onSourceReset() == SourceReset.STOP) {
            throw why;
        }
        synchronisation.sourceReset(String.valueOf(why.getMessage()));
    }

    @Override
    public void historyRecognised() {
        synchronisation.historyRecognised();
    }

    @Override
    public void compareFirst() {
        synchronisation.compareFirst();
    }

    @Override
    public void commitReplaced(Revision revision) {
        synchronisation.commitReplaced(revision);
    }

    @Override
    public void snapshotPinned(Position pin) {
        synchronisation.pinned(pin);
    }

    @Override
    public void snapshotResumed(Position pin) {
        snapshot(pin.cluster(), () -> synchronisation.resumed(pin));
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        snapshot(cluster, () -> synchronisation.started(cluster, revision));
    }

    private void snapshot(ClusterId cluster, Runnable begin) {
        leases.of(cluster);
        tail.end();
        begin.run();
        leases.snapshotFollows();
        // Before anything of it is written; an epoch to write in begins with it.
        whole = !leases.areKept();
        leases.setWhole(false);
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        leases.requireNoneLost();
        if (leases.areKept()) {
            entries.stream()
                    .filter(entry -> entry.lease() != 0 && scope.contains(entry.key()))
                    .forEach(entry -> leases.expectInSnapshot(entry.lease()));
        }
        synchronisation.page(covered, entries);
    }

    @Override
    public void snapshotCompleted(Position position) {
        synchronisation.completed(position);
        tail.begin(writer.current());
        restoreLeases();
    }

    @Override
    public void commit(Commit commit, Position position) {
        leases.requireNoneLost();
        restoreLeases();
        if (leases.areKept()) {
            commit.changes().stream()
                    .filter(change -> scope.contains(change.key()))
                    .mapToLong(change ->
                            change instanceof Change.Put put ? put.keyValue().lease() : 0)
                    .filter(lease -> lease != 0)
                    .distinct()
                    .forEach(leases::expect);
        }
        homes.settle(position.cluster());
        tail.commit(commit, position);
    }

    @Override
    public void progress(Position position) {
        leases.requireNoneLost();
        restoreLeases();
        homes.settle(position.cluster());
        tail.progress(position);
    }

    @Override
    public Duration pause() {
        return tail.pause();
    }

    @Override
    public void caughtUp() {
        leases.requireNoneLost();
        tail.caughtUp();
    }

    @Override
    public void settle() {
        leases.requireNoneLost();
        tail.settle();
    }

    @Override
    public @Nullable Checkpoint checkpoint() {
        return writer.found();
    }

    @Override
    public Revision complete() {
        return tail.complete();
    }

    /**
     * Returns a compare for other transactions, valid until another writer takes over the mirror; empty before this sink
     * does. Any thread.
     */
    public Optional<Compare> epochIfBegun() {
        return writer.epochIfBegun();
    }

    /**
     * Restores keys with leases before the first feed event, which proves an unchanged source history. The checkpoint is
     * {@code syncing} meanwhile. While it is torn before a commit, that commit comes first.
     */
    private void restoreLeases() {
        if (whole) {
            return;
        }
        tail.settle();
        Checkpoint stored = checkpoint();
        if (stored == null || stored.state() != CheckpointState.SYNCED) {
            return;
        }
        // The mark names the primary, which no event has settled yet.
        homes.settle(stored.source());
        whole = tail.restoreLeases(homes.path(stored.source()), synchronisation);
        if (whole) {
            leases.setWhole(true);
        }
    }

    /** Observes commits to target keys and ends the previous observation. Any thread. */
    public KeyObservation observe(Collection<ByteString> keys) {
        return tail.observe(keys);
    }

    /**
     * Restores keys that another writer changed, with this mirror's fence and mark. It skips keys that a commit has
     * changed since {@code observed} began. Any thread; returns when done.
     *
     * @param operations by key: nested transactions that compare what they restore, since commits may come first
     * @return false while a snapshot, or a commit in parts, is written
     * @throws SinkException the sink cannot continue
     */
    public boolean repair(KeyObservation observed, Map<ByteString, RequestOp> operations) {
        return tail.repair(observed, operations, homes.path(writer.current().source()));
    }

    @Override
    public void close() {
        leases.detach();
        try (calls;
                leases) {
            tail.close();
            synchronisation.close();
        }
    }
}
