package io.understudy.cli;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.PatientObserver;
import io.understudy.cluster.observe.PeerPort;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Projection;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.Runner;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.SnapshotDirectory;
import io.understudy.cluster.status.DeclaredMembers;
import io.understudy.cluster.supervise.elect.Turn;
import io.understudy.etcd.EtcdErrors;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;

/** Runs a cluster change: shows the plan, confirms it if required, and executes its steps. */
class ClusterChange implements AutoCloseable {

    private static final int LOOKS = 4;
    private static final Duration PROBE = Duration.ofSeconds(5);
    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);
    private static final Runner.Permission UNPLANNED =
            new Runner.Permission(Optional.of("the state of the cluster has changed; run the command again"), false);

    private final ClusterFlags.Change flags;
    private final ClusterConnection cluster;
    private final ClusterFacts facts;
    private final StepWork work;
    /** Directory of a snapshot before the first step. */
    private Optional<SnapshotDirectory> snapshotFirst = Optional.empty();

    ClusterChange(ClusterFlags.Change flags, ClusterConnection cluster, ClusterFacts facts, StepWork work) {
        this.flags = flags;
        this.cluster = cluster;
        this.facts = facts;
        this.work = work;
    }

    /** Observes the cluster, derives a goal, and performs its steps. Returns the exit status. */
    static int run(ClusterFlags.Change flags, Function<ClusterChange, Goal> goal) throws InterruptedException {
        // The terminal is for what is planned and done.
        LogFile.use(LogFile.temporary());
        ClusterConnection cluster = flags.connect();
        StepWork work = new StepWork(
                cluster.membership(), cluster.machines(flags::note), flags.learnerLimit(cluster.settings()));
        try (ClusterChange change = new ClusterChange(flags, cluster, look(cluster, flags), work)) {
            return change.reach(goal.apply(change));
        }
    }

    /** Retries once if no member responds, as during an election. */
    private static ClusterFacts look(ClusterConnection cluster, ClusterFlags.Change flags) throws InterruptedException {
        PatientObserver observer = new PatientObserver(cluster.observer());
        Duration timeout = flags.patience().look();
        try {
            return observer.observe(timeout);
        } catch (UnobservableException e) {
            return observer.observe(timeout);
        }
    }

    int reach(Goal goal) throws InterruptedException {
        try (ChangeText text = new ChangeText(flags)) {
            Plan plan = goal.plan(facts);
            if (plan instanceof Plan.Done done) {
                text.nothingToDo(done.why());
                return ExitCode.OK;
            }
            if (plan instanceof Plan.Refused refused) {
                if (!flags.isDryRun && Runner.isAwaited(refused.refusals())) {
                    return ended(text, run(goal, List.of(), text, (step, seen) -> UNPLANNED));
                }
                text.refusals(refused.refusals());
                return ExitCode.SOFTWARE;
            }
            List<Plan.Planned> steps = ((Plan.Steps) plan).steps();
            List<Refusal> obstacles = obstacles(steps);
            if (obstacles.isEmpty()) {
                obstacles = unreachable(steps);
            }
            if (!obstacles.isEmpty()) {
                text.refusals(obstacles);
                return ExitCode.SOFTWARE;
            }
            List<Refusal> acting = flags.takeOver.isConfirmed ? flags.takeOver.acting(cluster, flags::note) : List.of();
            if (!acting.isEmpty()) {
                text.refusals(acting);
                return ExitCode.SOFTWARE;
            }
            snapshotFirst.ifPresent(directory -> flags.note("before step 1: save a snapshot in " + directory.path()));
            text.plan(facts.quorum(), steps, flags.isDryRun);
            if (flags.isDryRun) {
                return ExitCode.OK;
            }
            text.confirm(steps);
            snapshotFirst.ifPresent(directory -> flags.note("saved "
                    + Foreground.interruptible(() -> cluster.snapshots().take(facts, directory, Instant.now()))
                            .file()
                            .path()));
            // Without a quorum no lease is granted, and only starts of members are planned. An alarm prevents a lease
            // too.
            boolean isHarmless = !facts.alarms().isEmpty()
                    && steps.stream().map(Plan.Planned::step).allMatch(TurnPermit::isHarmless);
            boolean needsTurn =
                    !flags.takeOver.isConfirmed && !isHarmless && facts.verdict() == ClusterFacts.Verdict.HELD;
            try (TurnPermit turn = new TurnPermit(this::turn)) {
                if (needsTurn) {
                    turn.take();
                }
                return ended(text, run(goal, steps, text, turn));
            }
        }
    }

    /**
     * Returns what obstructs the steps. The place of a removed member and the slot of a learner are free afterwards, and a
     * downgrade lowers the cluster version.
     */
    List<Refusal> obstacles(List<Plan.Planned> steps) {
        Set<Refusal> found = new LinkedHashSet<>();
        ClusterFacts then = facts;
        for (Plan.Planned each : steps) {
            work.obstacle(each.step(), then).ifPresent(found::add);
            then = each.step() instanceof Step.Remove
                            || each.step() instanceof Step.Promote
                            || each.step() instanceof Step.Downgrade
                    ? Projection.after(then, each.step())
                    : then;
        }
        return List.copyOf(found);
    }

    /**
     * Returns new peer URLs with an unreachable host, and URLs of members to start here that are not of this machine, or
     * in use. No host is probed if no peer URL responds to this machine, as outside the network of the peers.
     */
    private List<Refusal> unreachable(List<Plan.Planned> steps) {
        List<Refusal> found = new ArrayList<>();
        for (Plan.Planned each : steps) {
            machines().stream()
                    .filter(machine -> isStartedAt(machine.member(), each.step()))
                    .forEach(machine -> {
                        found.addAll(ListenChecks.foreignUrls(machine));
                        // One that is healthy listens where it is listed, and not yet at its new URLs.
                        each.step()
                                .subject()
                                .flatMap(facts::member)
                                .filter(MemberFacts::isHealthy)
                                .ifPresent(member -> found.addAll(ListenChecks.usedPorts(machine, member)));
                    });
        }
        if (!found.isEmpty()
                || flags.isPeerProbeSkipped
                || facts.members().stream()
                        .noneMatch(member -> member.process().servesPeers().orElse(false))) {
            return found;
        }
        Map<URI, CompletableFuture<Optional<String>>> probes = new LinkedHashMap<>();
        for (Plan.Planned each : steps) {
            if (each.step() instanceof Step.AddLearner add) {
                add.member().peerUrls().forEach(url -> probes.put(url, PeerPort.unreachable(url, PROBE)));
            } else if (each.step() instanceof Step.UpdatePeerUrls update) {
                update.peerUrls().forEach(url -> probes.put(url, PeerPort.unreachable(url, PROBE)));
            }
        }
        probes.forEach((url, probe) -> {
            if (!probe.isDone()) {
                flags.note("probing peer URL " + url);
            }
            probe.join()
                    .ifPresent(why -> found.add(new Refusal(
                            "peer-host-reachable",
                            "the host of peer URL " + url + " is not reachable: " + why,
                            "Correct the peer URL, or start its host; the member need not run. Before its container starts:"
                                    + " --skip-peer-probe")));
        });
        return found;
    }

    private static boolean isStartedAt(MemberSpec place, Step step) {
        return (step instanceof Step.AddLearner add && add.member().equals(place))
                || (step instanceof Step.Restart restart && restart.member().equals(place))
                || (step instanceof Step.Migrate migrate && migrate.to().equals(place));
    }

    private Turn turn() throws InterruptedException {
        return cluster.turn(flags.command().getCommandSpec().qualifiedName(), flags::note);
    }

    private Outcome run(Goal goal, List<Plan.Planned> steps, ChangeText text, Runner.Permit permit)
            throws InterruptedException {
        Runner runner = new Runner(observer(), work, flags.patience(), text, permit);
        return Foreground.interruptible(() -> {
            try {
                return runner.run(goal, steps);
            } catch (InterruptedException e) {
                return runner.abort();
            }
        });
    }

    ClusterObserver observer() {
        return new PatientObserver(cluster.observer());
    }

    private static int ended(ChangeText text, Outcome outcome) {
        return text.outcome(outcome) ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    StepWork work() {
        return work;
    }

    /** Returns the hashes of the healthy voting members. */
    Hashes<MemberId> hashes(Revision revision) {
        Map<MemberId, Hashes.Hash> found = new HashMap<>();
        for (MemberFacts voter : facts.healthyVoters()) {
            try {
                found.put(voter.id(), cluster.hash(voter.id(), revision));
            } catch (ExecutionException e) {
                notes("no hash of " + voter.label() + ": " + EtcdErrors.text(e.getCause() == null ? e : e.getCause()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while reading hashes", e);
            }
        }
        return new Hashes<>(found);
    }

    /** Returns the commands that raised a CORRUPT alarm, by the member of the alarm. */
    Map<MemberId, String> alarmsOfMoves() {
        try {
            return cluster.alarmsOfMoves();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading the records of moves", e);
        }
    }

    boolean isTakenOver() {
        return flags.takeOver.isConfirmed || flags.isDryRun;
    }

    /** Returns the configured machines. */
    List<MachineSettings> machines() {
        return cluster.settings().machines();
    }

    /**
     * Saves a snapshot before the first step.
     *
     * @param directory null for the configured one
     */
    void saveSnapshotFirst(@Nullable Path directory) {
        snapshotFirst = Optional.of(new SnapshotDirectory(Optional.ofNullable(directory)
                .or(() -> cluster.settings().snapshots().directory())
                .orElseThrow(() -> flags.usageError(
                        "a snapshot is saved before an upgrade to another minor version: specify --snapshot-to, or"
                                + " snapshots.directory in the configuration"))));
    }

    ParameterException usageError(String message) {
        return flags.usageError(message);
    }

    void notes(String what) {
        flags.note(what);
    }

    boolean isDryRun() {
        return flags.isDryRun;
    }

    ClusterFacts facts() {
        return facts;
    }

    /**
     * Returns a member by name or ID; empty if there is none.
     *
     * @throws ParameterException several have that name
     */
    Optional<MemberId> find(String nameOrId) {
        List<String> ids = facts.members().stream()
                .filter(member -> member.name().equals(nameOrId))
                .map(member -> member.id().toString())
                .toList();
        if (ids.size() > 1) {
            throw flags.usageError(
                    ids.size() + " members have the name " + nameOrId + "; specify an ID: " + String.join(", ", ids));
        }
        return facts.named(nameOrId).map(MemberFacts::id).or(() -> facts.members().stream()
                .map(MemberFacts::id)
                .filter(id -> id.toString().equals(nameOrId))
                .findFirst());
    }

    /** Whether no observation of several finds the member healthy: a short delay is no loss. */
    boolean isLost(MemberId member) {
        try {
            for (int look = 1; !isHealthy(member, look == 1 ? facts : look(cluster, flags)); look++) {
                if (look == LOOKS) {
                    return true;
                }
                TimeUnit.MILLISECONDS.sleep(BETWEEN_LOOKS.toMillis());
            }
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading the state of the cluster", e);
        }
    }

    private static boolean isHealthy(MemberId member, ClusterFacts seen) {
        return seen.member(member).filter(MemberFacts::isHealthy).isPresent();
    }

    /** @throws ParameterException there is none */
    MemberFacts member(String nameOrId) {
        return find(nameOrId).flatMap(facts::member).orElseThrow(() -> unknown(nameOrId));
    }

    ParameterException unknown(String nameOrId) {
        return flags.usageError("no member has the name or ID " + nameOrId + "; members: "
                + String.join(
                        ", ", facts.members().stream().map(MemberFacts::label).toList()));
    }

    /** Whether voting members exceed the declared number, as while a healthy one is replaced. */
    boolean hasExtraVoter() {
        int voters = facts.voters().size();
        return cluster.settings().isShapeDeclared()
                && !places().isEmpty()
                && voters % 2 == 0
                && voters > cluster.settings().shape().voters();
    }

    /** Whether a voting member is missing, as after removal of a failed one. Without a declaration, by an even number. */
    boolean lacksVoter() {
        int voters = facts.voters().size();
        return voters % 2 == 0
                && (!cluster.settings().isShapeDeclared()
                        || voters < cluster.settings().shape().voters());
    }

    /** Whether learners exceed the declared number, as while one is replaced. */
    boolean hasExtraLearner() {
        ClusterSettings settings = cluster.settings();
        return settings.isShapeDeclared()
                && facts.learners().size() > settings.shape().learners();
    }

    /** Whether a declared learner is missing, as after removal of a failed one. */
    boolean lacksLearner() {
        ClusterSettings settings = cluster.settings();
        return settings.isShapeDeclared()
                && facts.learners().size() < settings.shape().learners();
    }

    /** Whether it is no declared read replica. */
    boolean mayVote(String name) {
        return cluster.settings().shape().mayPromote(name);
    }

    /**
     * Returns the declared voting members that have machines.
     *
     * @param least without a declaration
     */
    int declaredVoters(int least) {
        ClusterSettings settings = cluster.settings();
        int declared = new DeclaredMembers(settings.shape(), places()).voters();
        if (settings.isShapeDeclared()) {
            return declared;
        }
        return lacksVoter() && !places().isEmpty() ? Math.max(declared, least) : least;
    }

    /** Returns whether a configured member was removed: it has a place but is not listed. */
    boolean isRemoved(String name) {
        return find(name).isEmpty()
                && cluster.places().stream().anyMatch(place -> place.name().equals(name));
    }

    /** Returns the place of a member: by the flags, else as configured or listed. */
    MemberSpec place(String name, List<URI> peerUrls, List<URI> clientUrls) {
        Optional<MemberSpec> configured = cluster.places().stream()
                .filter(place -> place.name().equals(name))
                .findFirst();
        configured.ifPresent(as -> {
            requireConfigured("peerUrls", name, peerUrls, as.peerUrls());
            requireConfigured("clientUrls", name, clientUrls, as.clientUrls());
        });
        Optional<MemberFacts> known = facts.named(name);
        return new MemberSpec(
                name,
                or(peerUrls, configured.map(MemberSpec::peerUrls), known.map(MemberFacts::peerUrls)),
                or(clientUrls, configured.map(MemberSpec::clientUrls), known.map(MemberFacts::clientUrls)));
    }

    /** Rejects URLs that differ from the configured ones, with which the process is started. */
    private void requireConfigured(String key, String name, List<URI> given, List<URI> configured) {
        if (!given.isEmpty() && !Set.copyOf(given).equals(Set.copyOf(configured))) {
            throw flags.usageError("machines." + name + "." + key + " is " + configured
                    + " in the configuration, the flag has " + given + "; change the configuration and omit the flag");
        }
    }

    /** Returns the places of voting members. */
    List<MemberSpec> votingPlaces() {
        return cluster.settings().votingMachines().stream()
                .map(MachineSettings::member)
                .toList();
    }

    List<MemberSpec> places() {
        return cluster.places();
    }

    private static List<URI> or(List<URI> given, Optional<List<URI>> configured, Optional<List<URI>> known) {
        return given.isEmpty() ? configured.or(() -> known).orElse(List.of()) : given;
    }

    @Override
    public void close() {
        cluster.close();
    }
}
