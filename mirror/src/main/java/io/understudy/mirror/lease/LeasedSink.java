package io.understudy.mirror.lease;

import io.etcd.jetcd.api.Compare;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedEndedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.call.Repeated;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A sink for etcd that copies the leases of keys. Before the feed's first commit it restores keys that expired with
 * leases.
 */
public final class LeasedSink implements Sink {

    private final MirrorScope scope;
    private final KeptLeases leases;
    private final BooleanSupplier restore;
    private final LeaseKeeper keeper;
    private final Sink sink;
    /** Whether every key that should have a lease is known to have it. */
    private boolean whole;

    private LeasedSink(MirrorScope scope, KeptLeases leases, BooleanSupplier restore, LeaseKeeper keeper, Sink sink) {
        this.scope = scope;
        this.leases = leases;
        this.restore = restore;
        this.keeper = keeper;
        this.sink = sink;
    }

    /**
     * Creates a sink that writes with leases. The caller closes the cluster.
     *
     * @param keeper keeps the target's leases alive, also after the sink is closed
     * @param sinks creates the writing sink, which calls the leases for each put
     * @param epoch holds until another writer takes the mirror over, once that sink writes
     * @param restore calls {@link TargetLeases#restore} between two commits of that sink; false if the target is not
     *     equal
     */
    public static <S extends Sink> LeasedSink over(
            LeaseKeeper keeper,
            MirrorScope scope,
            EtcdCluster source,
            SinkListener listener,
            Function<TargetLeases, S> sinks,
            Function<S, Compare> epoch,
            Predicate<S> restore) {
        ConfirmedRevision head = new ConfirmedRevision(
                new ClusterCalls(source, Duty.READ_INDEX, source.settings().requestTimeout()),
                scope.sourceRanges().get(0).etcdKey());
        KeptLeases leases = new KeptLeases(
                keeper.mirror(), scope, source, head, keeper.cluster(), keeper.maxTxnOps(), keeper.metrics(), listener);
        S sink = sinks.apply(leases);
        leases.in(() -> epoch.apply(sink));
        return new LeasedSink(scope, leases, () -> restore.test(sink), keeper, sink);
    }

    /**
     * Rejects kept leases before a sink that drops leases is opened.
     *
     * @throws SinkException.Refused the target has leases kept by this mirror, which would delete keys on expiry
     */
    public static void requireNoneKept(String mirror, EtcdCluster target, SinkListener listener) {
        LeaseRegister register = new LeaseRegister(
                mirror, new ClusterCalls(target, Duty.WRITE, target.settings().requestTimeout()));
        new Repeated(listener).until("read of the lease register", () -> {
            if (!register.ids().isEmpty()) {
                throw new SinkException.Refused("mirror " + mirror + " has leases in the target, but leases is drop:"
                        + " their keys would be deleted on expiry. Set leases to ttl, or delete the checkpoint and "
                        + register.shownKeys() + " to start over");
            }
            if (register.isWhole()) {
                register.setWhole(false, List.of());
            }
            return true;
        });
    }

    @Override
    public @Nullable FeedStart open() {
        FeedStart start = sink.open();
        whole = leases.begin();
        keeper.attach(leases, sink::complete);
        if (start instanceof Position position) {
            leases.of(position.cluster());
            if (!whole) {
                leases.setWhole(false);
            }
        }
        return start;
    }

    @Override
    public void sourceReset(FeedEndedException why) throws FeedEndedException {
        sink.sourceReset(why);
    }

    @Override
    public void historyRecognised() {
        sink.historyRecognised();
    }

    @Override
    public void commitReplaced(Revision revision) {
        sink.commitReplaced(revision);
    }

    @Override
    public void snapshotPinned(Position pin) {
        sink.snapshotPinned(pin);
    }

    @Override
    public void snapshotResumed(Position pin) {
        snapshot(pin.cluster(), () -> sink.snapshotResumed(pin));
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        snapshot(cluster, () -> sink.snapshotStarted(cluster, revision));
    }

    private void snapshot(ClusterId cluster, Runnable begin) {
        leases.of(cluster);
        begin.run();
        leases.snapshotFollows();
        // Before anything of it is written; an epoch to write in begins with it.
        whole = false;
        leases.setWhole(false);
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        leases.requireNoneLost();
        entries.stream()
                .filter(entry -> entry.lease() != 0 && scope.contains(entry.key()))
                .forEach(entry -> leases.expectInSnapshot(entry.lease()));
        sink.snapshotPage(covered, entries);
    }

    @Override
    public void snapshotCompleted(Position position) {
        sink.snapshotCompleted(position);
        restore();
    }

    @Override
    public void commit(Commit commit, Position position) {
        leases.requireNoneLost();
        restore();
        commit.changes().stream()
                .filter(change -> scope.contains(change.key()))
                .mapToLong(change ->
                        change instanceof Change.Put put ? put.keyValue().lease() : 0)
                .filter(lease -> lease != 0)
                .distinct()
                .forEach(leases::expect);
        sink.commit(commit, position);
    }

    @Override
    public void progress(Position position) {
        leases.requireNoneLost();
        restore();
        sink.progress(position);
    }

    @Override
    public Duration pause() {
        return sink.pause();
    }

    @Override
    public void caughtUp() {
        leases.requireNoneLost();
        sink.caughtUp();
    }

    @Override
    public void settle() {
        leases.requireNoneLost();
        sink.settle();
    }

    @Override
    public @Nullable Checkpoint checkpoint() {
        return sink.checkpoint();
    }

    @Override
    public Revision complete() {
        return sink.complete();
    }

    /** Leases remain, and are kept alive. */
    @Override
    public void close() {
        keeper.detach(leases);
        sink.close();
        leases.close();
    }

    /**
     * Restores leased keys before the first feed event, which proves an unchanged source history. While the checkpoint
     * is torn before a commit, that commit comes first.
     */
    private void restore() {
        if (whole) {
            return;
        }
        sink.settle();
        Checkpoint checkpoint = sink.checkpoint();
        if (checkpoint == null || checkpoint.state() != CheckpointState.SYNCED) {
            return;
        }
        whole = restore.getAsBoolean();
        if (whole) {
            leases.forgetMissing();
            leases.setWhole(true);
        }
    }
}
