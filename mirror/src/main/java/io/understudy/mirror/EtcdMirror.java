package io.understudy.mirror;

import io.etcd.jetcd.api.Compare;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedKind;
import io.understudy.mirror.active.ActiveLease;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.auth.AuthCopy;
import io.understudy.mirror.auth.AuthMode;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.etcd.EtcdSink;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.mirror.etcd.KeyObservation;
import io.understudy.mirror.etcd.UpstreamMirrors;
import io.understudy.mirror.lease.KeptLeases;
import io.understudy.mirror.lease.LeaseKeeper;
import io.understudy.mirror.lease.LeaseKeeper.LeaseMetrics;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.pipeline.Conflict;
import io.understudy.mirror.pipeline.MirrorPlan;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.revisions.TargetCompaction;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.mirror.takeover.FormerPrimary;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverException;
import io.understudy.mirror.verify.BackgroundVerification;
import io.understudy.mirror.verify.ForeignRevisions;
import io.understudy.mirror.verify.Repair;
import io.understudy.tls.TlsFileException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Assembles a mirror into etcd. */
final class EtcdMirror {

    private final MirrorSettings.Mirror mirror;
    private final MirrorSettings.Target.Etcd etcd;
    private final String writer;
    private final MirrorSource source;
    private final EtcdCluster target;
    private final MeterRegistry meters;
    /** Null if leases are not copied. */
    private final @Nullable LeaseKeeper leases;

    private final Set<String> feeding;
    /** State of the target; null until both clusters were found to be the primary. */
    private volatile @Nullable FormerPrimary former;

    private final ForeignRevisions foreign = new ForeignRevisions();
    private final AtomicReference<@Nullable EtcdSink> writing = new AtomicReference<>();

    /**
     * @param label names connections in metrics and logs
     * @param feeding names of mirrors in this process that bring its keys to its source
     * @param opened receives resources to be closed
     */
    EtcdMirror(
            String label,
            MirrorSettings.Mirror mirror,
            MirrorSettings.Target.Etcd etcd,
            String writer,
            MirrorSource source,
            Set<String> feeding,
            MeterRegistry meters,
            LeaseMetrics leases,
            Consumer<AutoCloseable> opened) {
        this.mirror = mirror;
        this.etcd = etcd;
        this.writer = writer;
        this.source = source;
        this.meters = meters;
        this.target = connect(label + "-target", opened);
        this.leases = keeper(leases, opened);
        this.feeding = Set.copyOf(feeding);
    }

    private @Nullable LeaseKeeper keeper(LeaseMetrics metrics, Consumer<AutoCloseable> opened) {
        if (etcd.options().leases() == LeaseMode.DROP) {
            return null;
        }
        LeaseKeeper keeper =
                LeaseKeeper.start(mirror.name(), writer, target, etcd.options().maxTxnOps(), metrics);
        opened.accept(keeper);
        return keeper;
    }

    private EtcdCluster connect(String name, Consumer<AutoCloseable> opened) {
        EtcdCluster connected = TlsFileException.at(
                "mirrors." + mirror.name() + ".target.etcd.tls",
                () -> EtcdCluster.connect(etcd.cluster().withName(name), ReservedKeys.RANGE, meters));
        opened.accept(connected);
        return connected;
    }

    /** Starts a candidate for the active role. */
    MirrorPlan plan(Consumer<AutoCloseable> opened) {
        ActiveRole role = ActiveLease.start(mirror.name(), writer, target, etcd.activeTtl(), meters);
        opened.accept(role);
        return new MirrorPlan(
                source.range(),
                // Far behind, only that replays each commit.
                etcd.options().history() == TargetHistory.EVERY_COMMIT ? FeedKind.HISTORY : FeedKind.STATE,
                mirror.source().shown(),
                source.feeds(),
                source.head(),
                source.cluster() != null,
                source::outage,
                () -> source.count().apply(source.range()),
                etcd.shown(),
                role,
                this::closeFormer,
                this::sink);
    }

    /** @param synced whether this process mirrors, and the target is whole */
    MirrorBackgroundTasks upkeep(BooleanSupplier synced) {
        return new MirrorBackgroundTasks(
                mirror.name(),
                verification(),
                auth(synced),
                new TargetCompaction(mirror.name(), target, etcd.compactAfter()),
                new RevisionMap(new CheckpointHistory(mirror.name(), target)),
                target,
                () -> synced.getAsBoolean() ? List.of() : warnings(),
                source.cluster() == null ? null : TakeOver.readiness(mirror, source.cluster(), target),
                synced);
    }

    /** Closes the former primary. On the pipeline's thread. */
    private Optional<Conflict> closeFormer() {
        EtcdCluster from = source.cluster();
        if (from == null) {
            return Optional.empty();
        }
        FormerPrimary present = former;
        FormerPrimary closing = present == null ? TakeOver.former(mirror, from, target) : present;
        former = closing;
        try {
            return closing.close();
        } catch (TakeOverException e) {
            if (e.getCause() instanceof CallFailedException failed && !failed.isFinal()) {
                throw new SinkException.Unavailable(String.valueOf(e.getMessage()), e);
            }
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }

    private List<String> warnings() {
        FormerPrimary present = former;
        return present == null ? List.of() : present.warnings();
    }

    private @Nullable BackgroundVerification verification() {
        EtcdCluster cluster = source.cluster();
        if (cluster == null
                || etcd.verify().keysPerSecond() == 0
                || !(mirror.source() instanceof MirrorSettings.Source.Etcd from)) {
            return null;
        }
        Repair repair = keys -> {
            EtcdSink sink = writing.get();
            if (sink == null) {
                return null;
            }
            KeyObservation observed = sink.observe(keys);
            return operations -> sink.repair(observed, operations);
        };
        return new BackgroundVerification(
                MirrorInspector.sides(mirror, from, etcd, cluster, target), etcd.verify(), foreign, repair, meters);
    }

    private @Nullable AuthCopy auth(BooleanSupplier synced) {
        EtcdCluster cluster = source.cluster();
        if (cluster == null || etcd.auth().mode() == AuthMode.NONE) {
            return null;
        }
        return new AuthCopy(mirror.name(), etcd.auth(), cluster, target, synced, this::epoch, meters);
    }

    private Optional<Compare> epoch() {
        EtcdSink sink = writing.get();
        return sink == null ? Optional.empty() : sink.epochIfBegun();
    }

    private Sink sink(SinkListener listener) {
        EtcdCluster from = source.cluster();
        if (from != null) {
            UpstreamMirrors.requireBegun(mirror.name(), from, target, feeding, listener);
        }
        boolean marked = !(mirror.source() instanceof MirrorSettings.Source.Etcd read) || read.marked();
        EtcdSink sink = new EtcdSink(
                mirror.name(),
                mirror.scope(),
                writer,
                from,
                target,
                etcd.options().withMarked(marked),
                leases(from, listener),
                foreign::between,
                listener);
        writing.set(sink);
        return sink;
    }

    private TargetLeases leases(@Nullable EtcdCluster from, SinkListener listener) {
        if (etcd.options().leases() == LeaseMode.DROP) {
            KeptLeases.requireNone(mirror.name(), target, listener);
            return TargetLeases.DROPPED;
        }
        if (from == null || leases == null) {
            throw new IllegalArgumentException("mirror " + mirror.name() + " has leases: ttl, but "
                    + mirror.source().shown()
                    + " does not provide the state of leases; set leases: drop");
        }
        return new KeptLeases(leases, mirror.scope(), from, listener);
    }
}
