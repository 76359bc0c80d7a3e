package io.understudy.mirror.takeover;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.verify.Sides;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Connects to both clusters of a configured mirror, to report and move the primary role.
 *
 * <p>Invariant M40: after a move in either direction the mirror runs from the new primary, and both clusters become equal.
 */
public final class TakeOver implements AutoCloseable {

    /** Shows what is done. */
    @FunctionalInterface
    public interface Steps {

        void begin(String step);

        /**
         * How far the step is that began last.
         *
         * @param total 0 if it is not known
         */
        default void progress(long done, long total) {}
    }

    private static final Duration RESPONSE = Duration.ofSeconds(5);

    private final MirrorSettings.Mirror mirror;
    private final MirrorSettings.Source.Etcd source;
    private final MirrorSettings.Target.Etcd target;
    private final EtcdCluster sourceCluster;
    private final EtcdCluster targetCluster;
    private final Set<String> sourceExempt;
    private final Set<String> targetExempt;
    private final Duration patience;

    /**
     * Begins to connect.
     *
     * @param sourceUser of the command; null for the mirror's user
     * @param targetUser likewise
     * @param patience how long either cluster may take to respond
     * @throws TakeOverException the mirror is not one from etcd to etcd
     */
    public TakeOver(
            MirrorSettings.Mirror mirror,
            @Nullable Credentials sourceUser,
            @Nullable Credentials targetUser,
            Duration patience) {
        this(
                mirror,
                source(mirror),
                target(mirror),
                EtcdCluster.connect(
                        as(source(mirror).cluster(), sourceUser).withName("source"),
                        mirror.scope().feedRange(false),
                        new SimpleMeterRegistry()),
                EtcdCluster.connect(
                        as(target(mirror).cluster(), targetUser).withName("target"),
                        ReservedKeys.RANGE,
                        new SimpleMeterRegistry()),
                exempt(sourceUser, source(mirror).cluster()),
                exempt(targetUser, target(mirror).cluster()),
                patience);
    }

    private TakeOver(
            MirrorSettings.Mirror mirror,
            MirrorSettings.Source.Etcd source,
            MirrorSettings.Target.Etcd target,
            EtcdCluster sourceCluster,
            EtcdCluster targetCluster,
            Set<String> sourceExempt,
            Set<String> targetExempt,
            Duration patience) {
        this.mirror = mirror;
        this.source = source;
        this.target = target;
        this.sourceCluster = sourceCluster;
        this.targetCluster = targetCluster;
        this.sourceExempt = sourceExempt;
        this.targetExempt = targetExempt;
        this.patience = patience;
    }

    /**
     * What closes the mirror's target if it returns after a failover.
     *
     * @param source stays the caller's to close, as does {@code target}
     */
    public static FormerPrimary former(MirrorSettings.Mirror mirror, EtcdCluster source, EtcdCluster target) {
        return new FormerPrimary(
                "etcd " + source.settings().endpoints(),
                "etcd " + target.settings().endpoints(),
                running(mirror, source, target).direction(true, step -> {}));
    }

    /** Checks repeatedly whether both clusters permit a take-over to the mirror's users; they stay the caller's to close. */
    public static ReadinessCheck readiness(MirrorSettings.Mirror mirror, EtcdCluster source, EtcdCluster target) {
        TakeOver clusters = running(mirror, source, target);
        return new ReadinessCheck(
                mirror.name(), () -> Readiness.of(clusters.direction(false, step -> {})), System::nanoTime);
    }

    /** With the connections of a running mirror. User root, which etcd requires, may write. */
    private static TakeOver running(MirrorSettings.Mirror mirror, EtcdCluster source, EtcdCluster target) {
        Credentials root = new Credentials("root", "");
        return new TakeOver(
                mirror,
                source(mirror),
                target(mirror),
                source,
                target,
                exempt(root, source(mirror).cluster()),
                exempt(root, target(mirror).cluster()),
                RESPONSE);
    }

    private static TakeOverException notEtcd(MirrorSettings.Mirror mirror) {
        return new TakeOverException("mirror " + mirror.name()
                + " has Kafka at one side; the primary role moves between etcd clusters only");
    }

    private static MirrorSettings.Source.Etcd source(MirrorSettings.Mirror mirror) {
        if (mirror.source() instanceof MirrorSettings.Source.Etcd etcd) {
            return etcd;
        }
        throw notEtcd(mirror);
    }

    private static MirrorSettings.Target.Etcd target(MirrorSettings.Mirror mirror) {
        if (mirror.target() instanceof MirrorSettings.Target.Etcd etcd) {
            return etcd;
        }
        throw notEtcd(mirror);
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

    /** Returns everything that prevents a move, found with the mirror's own users. Changes nothing. */
    public List<String> problems() {
        Direction forth = direction(false, step -> {});
        List<String> problems = new ArrayList<>(problems(forth.recordsFrom(), forth.closingFrom()));
        problems.addAll(problems(forth.recordsTo(), forth.closingTo()));
        return problems;
    }

    private static List<String> problems(Records records, Closing closing) {
        try {
            return Readiness.problems(records, closing).all();
        } catch (TakeOverException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    /** Moves the role to the mirror's target. */
    public Switchover switchover(TakeOverOptions options, Steps steps) {
        return new Switchover(direction(false, steps), options, steps);
    }

    /** Moves the role back to the mirror's source. */
    public Switchover failback(TakeOverOptions options, Steps steps) {
        return new Switchover(direction(true, steps), options, steps);
    }

    /** Moves the role to the mirror's target without the source, or to the source without the target. */
    public Failover failover(boolean toSource, TakeOverOptions options, Steps steps) {
        return new Failover(direction(toSource, steps), options, steps);
    }

    /** Returns a rejoin of the side that holds the role with the lower epoch. */
    public Rejoin rejoin(TakeOverOptions options, Steps steps) {
        Direction forth = direction(false, steps);
        boolean isSourceNewer =
                forth.recordsFrom().read().epoch() > forth.recordsTo().read().epoch();
        return rejoin(!isSourceNewer, options, steps);
    }

    /** Of the source, or of the target, to a primary that the operator chose. */
    public Rejoin rejoin(boolean isTargetPrimary, TakeOverOptions options, Steps steps) {
        return new Rejoin(direction(!isTargetPrimary, steps), options, steps);
    }

    /** Returns a release of the side that is closed. */
    public Rejoin release(boolean ofTarget, TakeOverOptions options) {
        return new Rejoin(direction(ofTarget, step -> {}), options, step -> {});
    }

    private Direction direction(boolean back, Steps steps) {
        MirrorScope scope = back ? mirror.scope().reversed() : mirror.scope();
        Lock lock = new Lock(process());
        TakeOverCalls sources = new PatientCalls(sourceCluster, null, patience, lock);
        TakeOverCalls targets = new PatientCalls(targetCluster, null, patience, lock);
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
                mirror.name(),
                sources,
                mirror.scope().sourceRanges(),
                sourceExempt,
                source.cluster().login());
        Closing atTarget = new Closing(
                mirror.name(),
                targets,
                mirror.scope().targetRanges(),
                targetExempt,
                target.cluster().login());
        TakeOverCalls first = back ? targets : sources;
        TakeOverCalls second = back ? sources : targets;
        return new Direction(
                mirror.name(),
                scope,
                first,
                second,
                back ? atTarget : atSource,
                back ? atSource : atTarget,
                new EtcdComparer(sides, source.marked(), first, second, patience, steps),
                leases,
                lock);
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
