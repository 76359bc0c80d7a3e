package io.understudy.mirror.takeover;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.verify.Sides;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The two clusters of a configured mirror, connected, and what can be done about their primary.
 *
 * <p>Invariant M40: after a move in either direction the mirror runs from the new primary, and both clusters become equal.
 */
public final class TakeOver implements AutoCloseable {

    private final MirrorSettings.Mirror mirror;
    private final MirrorSettings.Source.Etcd source;
    private final MirrorSettings.Target.Etcd target;
    private final EtcdCluster sourceCluster;
    private final EtcdCluster targetCluster;
    private final @Nullable Credentials sourceUser;
    private final @Nullable Credentials targetUser;
    private final Duration patience;
    private final LongConsumer progress;

    /**
     * Begins to connect.
     *
     * @param sourceUser of the command; null for the mirror's user
     * @param targetUser likewise
     * @param patience how long either cluster may take to respond
     * @param progress given the number of keys that were compared
     * @throws TakeOverException the mirror is not one from etcd to etcd
     */
    public TakeOver(
            MirrorSettings.Mirror mirror,
            @Nullable Credentials sourceUser,
            @Nullable Credentials targetUser,
            Duration patience,
            LongConsumer progress) {
        if (!(mirror.source() instanceof MirrorSettings.Source.Etcd from)
                || !(mirror.target() instanceof MirrorSettings.Target.Etcd to)) {
            throw new TakeOverException("mirror " + mirror.name()
                    + " has Kafka at one side; the primary role moves between" + " etcd clusters only");
        }
        this.mirror = mirror;
        this.source = from;
        this.target = to;
        this.sourceUser = sourceUser;
        this.targetUser = targetUser;
        this.patience = patience;
        this.progress = progress;
        MeterRegistry meters = new SimpleMeterRegistry();
        this.sourceCluster = EtcdCluster.connect(
                as(from.cluster(), sourceUser).withName("source"),
                mirror.scope().feedRange(false),
                meters);
        this.targetCluster =
                EtcdCluster.connect(as(to.cluster(), targetUser).withName("target"), ReservedKeys.RANGE, meters);
    }

    private static EtcdSettings as(EtcdSettings settings, @Nullable Credentials user) {
        return user == null
                ? settings
                : new EtcdSettings(
                        settings.name(),
                        settings.endpoints(),
                        settings.discovery(),
                        settings.probeInterval(),
                        settings.requestTimeout(),
                        settings.tls(),
                        user);
    }

    /** The mirror's source; closed with this. */
    public EtcdCluster sourceCluster() {
        return sourceCluster;
    }

    /** Moves the role to the mirror's target. */
    public Switchover switchover(TakeOverOptions options, Consumer<String> steps) {
        return new Switchover(direction(false), options, process(), lease -> keeper(targetCluster, lease), steps);
    }

    /** Moves the role back to the mirror's source. */
    public Switchover failback(TakeOverOptions options, Consumer<String> steps) {
        return new Switchover(direction(true), options, process(), lease -> keeper(sourceCluster, lease), steps);
    }

    /** Moves the role to the mirror's target without the source. */
    public Failover failover(TakeOverOptions options, Consumer<String> steps) {
        return new Failover(direction(false), options, process(), lease -> keeper(targetCluster, lease), steps);
    }

    /** Of the side that does not know that it has lost the role. */
    public Failover rejoin(TakeOverOptions options, Consumer<String> steps) {
        boolean isSourceNewer = direction(false).recordsFrom().read().epoch()
                > direction(false).recordsTo().read().epoch();
        EtcdCluster newer = isSourceNewer ? sourceCluster : targetCluster;
        return new Failover(direction(isSourceNewer), options, process(), lease -> keeper(newer, lease), steps);
    }

    /** Of the side that is closed, of which the other may be lost. */
    public String release(boolean ofTarget) {
        return new Failover(direction(ofTarget), TakeOverOptions.DEFAULTS, process(), lease -> () -> {}, step -> {})
                .release();
    }

    private Direction direction(boolean back) {
        MirrorScope scope = back ? mirror.scope().reversed() : mirror.scope();
        Calls sources = new PatientCalls(sourceCluster, null, patience);
        Calls targets = new PatientCalls(targetCluster, null, patience);
        EtcdCluster from = back ? targetCluster : sourceCluster;
        EtcdCluster to = back ? sourceCluster : targetCluster;
        boolean leases = target.options().leases() == LeaseMode.TTL;
        Sides sides = new Sides(
                mirror.name(),
                scope,
                from,
                to,
                source.feed(),
                leases,
                !back && target.options().onForeignKeys() == ForeignKeys.KEEP);
        Closing atSource = new Closing(
                sources,
                mirror.scope().sourceRanges(),
                exempt(sourceUser, source.cluster()),
                source.cluster().login());
        Closing atTarget = new Closing(
                targets,
                mirror.scope().targetRanges(),
                exempt(targetUser, target.cluster()),
                target.cluster().login());
        Calls first = back ? targets : sources;
        Calls second = back ? sources : targets;
        return new Direction(
                mirror.name(),
                scope,
                first,
                second,
                back ? atTarget : atSource,
                back ? atSource : atTarget,
                new EtcdComparer(sides, first, second, patience, progress),
                leases);
    }

    private static Set<String> exempt(@Nullable Credentials user, EtcdSettings cluster) {
        Set<String> exempt = new HashSet<>();
        if (user != null) {
            exempt.add(user.user());
        }
        Credentials login = cluster.login();
        if (login != null) {
            exempt.add(login.user());
        }
        return exempt;
    }

    /** Keeps the lock of a command alive, on a thread of its own. */
    private static Runnable keeper(EtcdCluster cluster, long lease) {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread daemon = new Thread(work, "takeover-lock");
            daemon.setDaemon(true);
            return daemon;
        });
        Duration interval = Records.LOCK_TTL.dividedBy(4);
        Calls calls = new PatientCalls(cluster, null, interval);
        var unused = thread.scheduleWithFixedDelay(
                () -> {
                    try {
                        var unusedAlive = calls.keepAlive(List.of(lease));
                    } catch (TakeOverException e) {
                        // The next attempt comes soon.
                    }
                },
                interval.toMillis(),
                interval.toMillis(),
                TimeUnit.MILLISECONDS);
        return () -> {
            var unusedTasks = thread.shutdownNow();
        };
    }

    private static String process() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            host = "unknown host";
        }
        return "host " + host + ", pid " + ProcessHandle.current().pid();
    }

    @Override
    public void close() {
        sourceCluster.close();
        targetCluster.close();
    }
}
