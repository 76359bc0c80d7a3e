package io.understudy.cli;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.ConfiguredMachines;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.PatientObserver;
import io.understudy.cluster.recover.Survey;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.shape.Shape.SupervisorSettings;
import io.understudy.cluster.snapshot.SnapshotTaker;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.cluster.status.ClusterStatus;
import io.understudy.cluster.status.ClusterStatus.Warning;
import io.understudy.cluster.status.DeclaredMembers;
import io.understudy.cluster.supervise.StateClient;
import io.understudy.cluster.supervise.elect.Turn;
import io.understudy.etcd.Alarm;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.mirror.home.MoveAlarms;
import io.understudy.tls.TlsFileException;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * The way to a cluster and to the machines of its members, for one command.
 *
 * <p>Invariant DP17: with authentication, every command works for a user with the role root, and reports what is
 * missing otherwise.
 */
final class ClusterConnection implements AutoCloseable {

    private final ClusterSettings settings;
    private final boolean isConfigured;
    private final EtcdConnections connections;
    private final EtcdObserver observer;
    private final EtcdMembership membership;

    /**
     * Sends nothing yet.
     *
     * @param isConfigured whether there is a configuration file
     */
    ClusterConnection(ClusterSettings settings, boolean isConfigured) {
        MeterRegistry unread = new SimpleMeterRegistry();
        this.settings = settings;
        this.isConfigured = isConfigured;
        this.connections = TlsFileException.at(
                "cluster.tls",
                () -> EtcdConnections.open(
                        settings.cluster(), settings.otherwise().endpoints()));
        this.observer = new EtcdObserver(settings.cluster(), settings.otherwise(), connections, unread);
        this.membership = new EtcdMembership(observer, connections, unread);
    }

    ClusterSettings settings() {
        return settings;
    }

    ClusterObserver observer() {
        return observer;
    }

    /**
     * Returns the survey of a recovery, in which the operator confirms each step.
     *
     * @param operator receives the steps for machines that someone else manages
     */
    Survey survey(Consumer<String> operator) {
        return new Survey(observerOfAll(), machines(operator), settings.machines(), connections);
    }

    /** Observes members at all configured URLs, also those that no member of the endpoints confirms. */
    ClusterObserver observerOfAll() {
        return new PatientObserver(new EtcdObserver(
                settings.cluster(), settings.otherwise().acceptingOneVoter(), connections, new SimpleMeterRegistry()));
    }

    /** Observes the members at these URLs. */
    EtcdObserver observerAt(List<URI> endpoints) {
        return new EtcdObserver(settings.cluster().withEndpoints(endpoints), connections, new SimpleMeterRegistry());
    }

    /** Reads snapshots of members as observed last. */
    SnapshotTaker snapshots() {
        return new SnapshotTaker(observer::endpointOf, connections, SnapshotTool.of(settings.machines()));
    }

    EtcdMembership membership() {
        return membership;
    }

    /** Returns the configured places of members. */
    List<MemberSpec> places() {
        return settings.machines().stream().map(MachineSettings::member).toList();
    }

    /** @param operator receives the instructions for members that are started manually */
    Machines machines(Consumer<String> operator) {
        return ConfiguredMachines.of(
                settings.machines(), () -> EtcdBinaries.find().etcd(), operator, InstantSource.system());
    }

    /**
     * Keeps supervisors and other commands from changing the cluster until it is closed.
     *
     * @param name of the command
     * @param waiting receives what is waited for
     * @throws IllegalStateException another command is changing the cluster, or it cannot be reached
     */
    Turn turn(String name, Consumer<String> waiting) throws InterruptedException {
        String holder = name + ", process " + ProcessHandle.current().pid() + ", since "
                + Instant.now().truncatedTo(ChronoUnit.SECONDS);
        return Turn.take(holder, connections, observer::votingEndpoints, waiting);
    }

    /** Returns the URL of the configured supervisor; empty without a configuration file. */
    Optional<URI> supervisor() {
        SupervisorSettings supervisor = settings.supervisor();
        String scheme = supervisor.security().files() == null ? "http://" : "https://";
        return isConfigured ? Optional.of(URI.create(scheme + supervisor.listen())) : Optional.empty();
    }

    StateClient stateClient(URI url) {
        return new StateClient(
                url, url.getScheme().equals("https") ? settings.cluster().tls() : null);
    }

    /**
     * Returns the name of the active supervisor, as the cluster stores it.
     *
     * @throws IllegalStateException it cannot be read
     */
    Optional<String> activeSupervisor() throws InterruptedException {
        return Turn.activeSupervisor(connections, observer::votingEndpoints);
    }

    /** Reads a member's hash, see {@link Hashes#read}. */
    Hashes.Hash hash(MemberId member, Revision revision) throws ExecutionException, InterruptedException {
        Endpoint endpoint = observer.endpointOf(member)
                .orElseThrow(() -> new ExecutionException(new IllegalStateException("no response")));
        return Hashes.read(connections, endpoint, revision);
    }

    /** Reads the alarms of moves, see {@link MoveAlarms#read}. */
    Map<MemberId, String> alarmsOfMoves() throws InterruptedException {
        return MoveAlarms.read(connections, observer.votingEndpoints());
    }

    /** Observes the cluster once. */
    ClusterStatus status(Duration timeout, ClusterFlags.Supervisors supervisors) throws InterruptedException {
        ClusterFacts facts = new PatientObserver(observer).observe(timeout);
        return ClusterStatus.of(
                facts,
                Optional.of(new DeclaredMembers(settings.shape(), places()))
                        .filter(unused -> settings.isShapeDeclared()),
                moves(facts),
                supervisors.views(this));
    }

    private List<Warning> moves(ClusterFacts facts) throws InterruptedException {
        List<Alarm> corrupt = facts.raised().stream()
                .filter(alarm -> alarm.kind().equals("CORRUPT"))
                .toList();
        if (corrupt.isEmpty()) {
            return List.of();
        }
        try {
            Map<MemberId, String> moves = alarmsOfMoves();
            return corrupt.stream()
                    .flatMap(alarm -> Optional.ofNullable(moves.get(alarm.member())).stream())
                    .map(by -> new Warning(
                            "alarm-of-move",
                            "CORRUPT was raised by " + by
                                    + " to reject client writes; complete or undo that command (understudy mirror"
                                    + " status)"))
                    .toList();
        } catch (IllegalStateException e) {
            return List.of(new Warning("alarm-of-move", String.valueOf(e.getMessage())));
        }
    }

    @Override
    public void close() {
        connections.close();
    }
}
