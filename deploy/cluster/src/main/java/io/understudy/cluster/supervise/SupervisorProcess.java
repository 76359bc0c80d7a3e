package io.understudy.cluster.supervise;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.understudy.cluster.machine.BoundedMachines;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.metrics.ClusterMeter;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.shape.Shape.SupervisorSettings;
import io.understudy.cluster.snapshot.PeriodicSnapshots;
import io.understudy.cluster.snapshot.SnapshotSettings;
import io.understudy.cluster.snapshot.SnapshotTaker;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.cluster.supervise.elect.Candidacy;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.config.ProcessName;
import io.understudy.etcd.Alarm;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.vocabulary.ElectionState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A supervisor with everything it needs, until it is closed. The cluster need not be there when it starts. */
public final class SupervisorProcess implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SupervisorProcess.class);

    /** Missed observations after which the process is unhealthy. */
    private static final int LATE = 10;

    /** A machine that takes longer does not hold up the observations. */
    private static final Duration ORDER = Duration.ofSeconds(2);

    private final Supervisor supervisor;
    private final StateServer server;
    /** Open resources, the last first. */
    private final Deque<AutoCloseable> open;

    private SupervisorProcess(Supervisor supervisor, StateServer server, Deque<AutoCloseable> open) {
        this.supervisor = supervisor;
        this.server = server;
        this.open = open;
    }

    /**
     * Starts everything, or nothing.
     *
     * @param machines where members run or may run
     * @throws IOException the address can't be listened at; the message names it
     */
    public static SupervisorProcess start(ClusterSettings configured, Machines machines) throws IOException {
        return start(configured, machines, false);
    }

    /**
     * Starts everything, or nothing.
     *
     * @param isLimitConfirmed whether members that are not visible here have the configured limit of learners
     */
    public static SupervisorProcess start(ClusterSettings configured, Machines machines, boolean isLimitConfirmed)
            throws IOException {
        EtcdSettings cluster = configured.cluster();
        SupervisorSettings settings = configured.supervisor();
        Deque<AutoCloseable> open = new ArrayDeque<>();
        try {
            ProcessMetrics metrics =
                    opened(open, new ProcessMetrics("supervisor", ProcessMetrics.versionOf(SupervisorProcess.class)));
            EtcdConnections connections = opened(
                    open, EtcdConnections.open(cluster, configured.otherwise().endpoints()));
            Duration stale = settings.pace().multipliedBy(LATE);
            EtcdObserver observer = new EtcdObserver(cluster, configured.otherwise(), connections, metrics.registry());
            Candidacy candidacy = opened(
                    open,
                    Candidacy.start(
                            ProcessName.unique(),
                            connections,
                            observer::votingEndpoints,
                            settings.lease(),
                            stale.plus(settings.lease())));
            // Closed before the candidacy: no other supervisor acts while an order is under way.
            BoundedMachines bounded = opened(open, new BoundedMachines(machines, ORDER));
            Supervisor supervisor = opened(
                    open,
                    new Supervisor(
                            observer,
                            new StepWork(
                                    new EtcdMembership(observer, connections, metrics.registry()),
                                    bounded,
                                    new StepWork.LearnerLimit(configured.maxLearners(), isLimitConfirmed)),
                            bounded,
                            candidacy,
                            configured.shape(),
                            configured.limits(),
                            settings,
                            new Journal(metrics.registry()),
                            snapshots(open, configured, observer, connections, metrics.registry())));
            SupervisorMeters.register(supervisor, bounded, metrics.registry());
            StateServer server = opened(
                    open,
                    new StateServer(
                            settings.listen().socketAddress(),
                            settings.security().server(metrics.registry()),
                            supervisor,
                            metrics,
                            stale));
            supervisor.start();
            LOG.atInfo()
                    .addKeyValue("supervisor", candidacy.name())
                    .addKeyValue("listen", settings.listen())
                    .addKeyValue("voters", configured.shape().voters())
                    .log("supervisor started");
            return new SupervisorProcess(supervisor, server, open);
        } catch (IOException | RuntimeException e) {
            close(open);
            throw e;
        }
    }

    private static Consumer<ClusterFacts> snapshots(
            Deque<AutoCloseable> open,
            ClusterSettings configured,
            EtcdObserver observer,
            EtcdConnections connections,
            MeterRegistry meters) {
        SnapshotSettings settings = configured.snapshots();
        if (settings.directory().isEmpty()) {
            return facts -> {};
        }
        SnapshotTaker taker =
                new SnapshotTaker(observer::endpointOf, connections, SnapshotTool.of(configured.machines()));
        return opened(open, new PeriodicSnapshots(settings, taker, meters))::tick;
    }

    private static <T extends AutoCloseable> T opened(Deque<AutoCloseable> open, T part) {
        open.push(part);
        return part;
    }

    public SupervisorState state() {
        return supervisor.state();
    }

    /** The port at which state and metrics are served. */
    public int port() {
        return server.port();
    }

    /** Finishes the step under way, lets another supervisor act, and closes all connections. Idempotent. */
    @Override
    public synchronized void close() {
        close(open);
    }

    private static void close(Deque<AutoCloseable> open) {
        while (!open.isEmpty()) {
            AutoCloseable next = open.pop();
            try {
                next.close();
            } catch (Exception e) {
                LOG.atWarn().addKeyValue("part", next).setCause(e).log("close failed");
            }
        }
    }

    /** The meters of a supervisor: its last observation and its election state. */
    static final class SupervisorMeters {

        private static final String OTHER = "other";
        private static final List<String> ALARMS = List.of("NOSPACE", "CORRUPT", OTHER);

        private SupervisorMeters() {}

        static void register(Supervisor supervisor, Machines machines, MeterRegistry meters) {
            look(meters, supervisor, ClusterMeter.VOTERS, facts -> facts.quorum()
                    .voters());
            look(meters, supervisor, ClusterMeter.VOTERS_HEALTHY, facts -> facts.quorum()
                    .healthy());
            look(meters, supervisor, ClusterMeter.LEARNERS, facts -> facts.learners()
                    .size());
            look(meters, supervisor, ClusterMeter.LEARNERS_LAG, SupervisorMeters::learnersLag);
            ClusterMeter.LEARNERS_RECEIVED
                    .gauge(machines, SupervisorMeters::received)
                    .register(meters);
            look(meters, supervisor, ClusterMeter.TOLERANCE, SupervisorMeters::tolerance);
            look(meters, supervisor, ClusterMeter.MEMBERS_DIFFERING, facts -> facts.divergence()
                    .members()
                    .size());
            for (String kind : ALARMS) {
                look(meters, supervisor, ClusterMeter.ALARMS, Tags.of("kind", kind), facts -> facts.raised().stream()
                        .map(Alarm::kind)
                        .filter(each -> kind.equals(ALARMS.contains(each) ? each : OTHER))
                        .count());
            }
            look(meters, supervisor, ClusterMeter.DATABASE_FILL, facts -> facts.members().stream()
                    .flatMap(member -> member.databaseFill().stream())
                    .max(Double::compare)
                    .orElse(Double.NaN));
            gauge(
                    meters,
                    supervisor,
                    ClusterMeter.SETTLED,
                    Tags.empty(),
                    state -> truth(state.last()
                            .filter(event -> event.decision() instanceof Decision.Settled)
                            .isPresent()));
            gauge(
                    meters,
                    supervisor,
                    ClusterMeter.SUPERVISOR_ACTIVE,
                    Tags.empty(),
                    state -> truth(state.standing() instanceof ElectionState.Active));
            gauge(
                    meters,
                    supervisor,
                    ClusterMeter.SUPERVISOR_PAUSED,
                    Tags.empty(),
                    state -> truth(state.paused().isPresent()));
        }

        /** A quorum of which too few members respond to this supervisor has an unknown tolerance. */
        private static double tolerance(ClusterFacts facts) {
            return facts.quorum().isHeld() || facts.verdict() != ClusterFacts.Verdict.HELD
                    ? facts.quorum().tolerance()
                    : Double.NaN;
        }

        private static double learnersLag(ClusterFacts facts) {
            long first = revisions(facts.members().stream().filter(MemberFacts::isVoter))
                    .max()
                    .orElse(0);
            long last = revisions(facts.learners().stream()).min().orElse(first);
            return Math.max(0, first - last);
        }

        private static double received(Machines machines) {
            return machines.places().stream()
                    .map(machines::received)
                    .flatMapToLong(OptionalLong::stream)
                    .sum();
        }

        private static LongStream revisions(Stream<MemberFacts> members) {
            return members.flatMap(member -> member.answer().stream())
                    .mapToLong(answer -> answer.revision().value());
        }

        private static void look(
                MeterRegistry meters, Supervisor supervisor, ClusterMeter meter, ToDoubleFunction<ClusterFacts> value) {
            look(meters, supervisor, meter, Tags.empty(), value);
        }

        private static void look(
                MeterRegistry meters,
                Supervisor supervisor,
                ClusterMeter meter,
                Tags tags,
                ToDoubleFunction<ClusterFacts> value) {
            gauge(
                    meters,
                    supervisor,
                    meter,
                    tags,
                    state -> state.facts().isPresent()
                            ? value.applyAsDouble(state.facts().get())
                            : Double.NaN);
        }

        private static void gauge(
                MeterRegistry meters,
                Supervisor supervisor,
                ClusterMeter meter,
                Tags tags,
                ToDoubleFunction<SupervisorState> value) {
            meter.gauge(supervisor, known -> value.applyAsDouble(known.state()))
                    .tags(tags)
                    .register(meters);
        }

        private static double truth(boolean is) {
            return is ? 1 : 0;
        }
    }
}
