package io.understudy.cluster.recover;

import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MemberRemoveRequest;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.MethodDescriptor;
import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.PeerPort;
import io.understudy.cluster.run.LogExplanation;
import io.understudy.cluster.snapshot.Restore;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.Role;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the remains of a cluster: responding members, and all data on this machine.
 *
 * @param machines of the members
 * @param connections closed by the caller
 * @param patience maximum time for responses
 */
public record Survey(
        ClusterObserver observer,
        Machines control,
        List<MachineSettings> machines,
        EtcdConnections connections,
        Duration patience) {

    private static final Logger LOG = LoggerFactory.getLogger(Survey.class);

    private static final Duration LOOK = Duration.ofSeconds(3);

    /**
     * A result, or the cause why there is none.
     *
     * @param failure empty with a result
     */
    private record Attempt<T>(Optional<T> value, String failure) {

        static <T> Attempt<T> of(T value) {
            return new Attempt<>(Optional.of(value), "");
        }

        static <T> Attempt<T> failed(String failure) {
            return new Attempt<>(Optional.empty(), failure);
        }
    }

    public Survey {
        machines = List.copyOf(machines);
    }

    public Survey(
            ClusterObserver observer, Machines control, List<MachineSettings> machines, EtcdConnections connections) {
        this(observer, control, machines, connections, LOOK);
    }

    /**
     * Observes the cluster; empty if no voting member responds.
     *
     * @throws RecoveryException members of another cluster respond
     */
    Optional<ClusterFacts> look() {
        try {
            return Optional.of(observed());
        } catch (UnobservableException e) {
            return Optional.empty();
        }
    }

    /**
     * Returns why no voting member responds; empty if one does.
     *
     * @throws RecoveryException an endpoint rejects the requests, so there may be a quorum
     */
    String silence() {
        try {
            var unused = observed();
            return "";
        } catch (UnobservableException e) {
            if (e.isRejection()) {
                throw new RecoveryException("cannot determine whether the quorum is lost: " + e.getMessage(), e);
            }
            return String.valueOf(e.getMessage());
        }
    }

    private ClusterFacts observed() {
        try {
            ClusterFacts facts = observer.observe(patience);
            requireOwn(facts.cluster());
            return facts;
        } catch (UnobservableException e) {
            if (e.isContradiction()) {
                throw new RecoveryException(
                        e.getMessage() + ". Correct cluster.endpoints and machines.*.clientUrls, or stop the others",
                        e);
            }
            throw e;
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Rejects a cluster other than that of the data on this machine. */
    private void requireOwn(ClusterId cluster) {
        Map<String, ClusterId> owners = new TreeMap<>();
        machines.forEach(machine ->
                control.owner(machine.member()).ifPresent(owner -> owners.put(machine.name(), owner.cluster())));
        if (!owners.isEmpty() && !owners.containsValue(cluster)) {
            throw new RecoveryException(
                    "members of cluster " + cluster + " respond, and the data on this machine is of another cluster: "
                            + owners + ". Correct cluster.endpoints and machines.*.clientUrls, or stop those members",
                    null);
        }
    }

    List<Remains> remains(Optional<ClusterFacts> facts) {
        return machines.stream().map(machine -> remains(machine, facts)).toList();
    }

    private Remains remains(MachineSettings machine, Optional<ClusterFacts> facts) {
        Optional<MemberFacts> member = facts.flatMap(seen -> seen.of(machine.member()));
        // A directory in use is of a running member, whatever started it.
        Optional<Boolean> isRunning =
                control.isRunning(machine.member()).map(running -> control.isInUse(machine.member()));
        Optional<Boolean> hasData = Optional.empty();
        Optional<Stored> stored = Optional.empty();
        String trouble = "";
        if (machine.process() != ProcessKind.MANUAL) {
            hasData = new DataDirectory(machine.dataDirectory()).seesMember();
            trouble = hasData.isPresent() ? "" : unseen(machine.dataDirectory());
            try {
                stored = hasData.orElse(false) ? Optional.of(Stored.read(machine.dataDirectory())) : stored;
            } catch (IOException e) {
                trouble = String.valueOf(e.getMessage());
            }
        }
        return new Remains(
                machine,
                member.map(MemberFacts::role).or(stored(stored)),
                member.flatMap(MemberFacts::answer),
                isRunning,
                hasData,
                stored,
                trouble);
    }

    /**
     * Requires disk space before any effect.
     *
     * @param what needs it
     * @param needed bytes by directory, which need not exist
     */
    static void requireRoom(String what, Map<Path, Long> needed) {
        try {
            Map<FileStore, Long> sums = new HashMap<>();
            for (Map.Entry<Path, Long> each : needed.entrySet()) {
                sums.merge(DataDirectory.store(each.getKey()), each.getValue(), Long::sum);
            }
            for (Map.Entry<FileStore, Long> each : sums.entrySet()) {
                long free = each.getKey().getUsableSpace();
                if (free < each.getValue()) {
                    throw new RecoveryException(
                            what + " need " + each.getValue() + " bytes; " + each.getKey() + " has " + free
                                    + " bytes left: free disk space, nothing was changed",
                            null);
                }
            }
        } catch (IOException e) {
            throw new RecoveryException("cannot read the free disk space of " + needed.keySet(), e);
        }
    }

    /** Requires that no process uses the data but the one that the machine's settings control. */
    void requireControl(MachineSettings machine) {
        if (!control.isRunning(machine.member()).orElse(false)) {
            requireFree(machine);
        }
    }

    void requireFree(MachineSettings machine) {
        if (control.isInUse(machine.member())) {
            throw new RecoveryException(
                    "a process uses " + machine.dataDirectory()
                            + control.owner(machine.member())
                                    .map(owner -> ", of " + owner)
                                    .orElse("")
                            + ": stop it, or correct dataDirectory and process of machines." + machine.name(),
                    null);
        }
    }

    /** Requires that the member's data can be set aside. */
    void requireReplaceable(MachineSettings machine) {
        Restore.mountPoint(machine).ifPresent(why -> {
            throw new RecoveryException(why + "; nothing was changed", null);
        });
    }

    /** Requires that the member can start with its data, not with that of another directory. */
    void requireStartable(MachineSettings machine) {
        control.programFailure(machine.member(), UnaryOperator.identity()).ifPresent(why -> {
            throw new RecoveryException(machine.name() + " could not start: " + why + "; nothing was changed", null);
        });
    }

    private static String unseen(Path directory) {
        return directory + " may have data: access is denied, or the path is not mounted or empty (if the data is lost,"
                + " name the members to recover from with --from)";
    }

    private static Supplier<Optional<Role>> stored(Optional<Stored> stored) {
        return () -> stored.flatMap(data -> data.isVoter()
                ? Optional.of(Role.VOTER)
                : data.isLearner() ? Optional.of(Role.LEARNER) : Optional.empty());
    }

    /** Returns the member's status by its own client port. Learners without a leader still serve it. */
    Optional<StatusResponse> status(MachineSettings machine) {
        return statusOf(machine).value();
    }

    private Attempt<StatusResponse> statusOf(MachineSettings machine) {
        return call(connections.call(
                endpoint(machine), MaintenanceGrpc.getStatusMethod(), StatusRequest.getDefaultInstance(), patience));
    }

    /** Returns the remains with responses of learners, which without voting members are in no observation. */
    List<Remains> remainsWithLearners(Optional<ClusterFacts> facts) {
        return remains(facts).stream().map(this::withStatus).toList();
    }

    private Remains withStatus(Remains each) {
        return each.answer().isPresent()
                ? each
                : status(each.machine())
                        .filter(StatusResponse::getIsLearner)
                        .map(status -> new Remains(
                                each.machine(),
                                Optional.of(Role.LEARNER),
                                Optional.of(MemberAnswer.of(status, false)),
                                each.isRunning(),
                                each.hasData(),
                                each.stored(),
                                each.trouble()))
                        .orElse(each);
    }

    /**
     * Requires that no member or data has returned, such as while a confirmation was awaited.
     *
     * @param before the remains that the operator was shown
     * @throws RecoveryException a member or data has returned, or there is a quorum
     */
    void requireUnchanged(List<Remains> before) {
        Optional<ClusterFacts> facts = look();
        List<String> changes = Stream.concat(
                        facts.filter(seen -> seen.quorum().isHeld()).map(seen -> "there is a quorum").stream(),
                        remainsWithLearners(facts).stream()
                                .filter(each -> before.stream()
                                        .anyMatch(other ->
                                                other.name().equals(each.name()) && each.hasReturnedSince(other)))
                                .map(each -> each.name() + " " + each.state()))
                .toList();
        if (!changes.isEmpty()) {
            throw new RecoveryException(
                    "the state has changed before the confirmation: " + String.join("; ", changes)
                            + ". Nothing was changed; run the command again",
                    null);
        }
    }

    /**
     * Compares members by their hashes at one revision.
     *
     * @param least minimum revision
     * @return a description of the comparison
     * @throws RecoveryException members differ, lack revisions, or do not respond
     */
    String verify(List<MachineSettings> members, long least, Duration deadline) {
        String names =
                String.join(", ", members.stream().map(MachineSettings::name).toList());
        Revision revision = new Revision(members.stream()
                .map(machine -> await(machine, "does not serve", deadline, this::statusOf))
                .mapToLong(status -> status.getHeader().getRevision())
                .max()
                .orElse(0L));
        if (revision.value() < least) {
            throw new RecoveryException(
                    names + " serve revision " + revision + ", not the expected revision " + least
                            + ". The old data is kept beside the data directories",
                    null);
        }
        Hashes<String> hashes = new Hashes<>(members.stream()
                .collect(Collectors.toMap(
                        MachineSettings::name,
                        machine -> await(
                                machine,
                                "gives no hash of revision " + revision,
                                deadline,
                                each -> hash(each, revision)))));
        if (hashes.areComparable() && !hashes.areEqual()) {
            throw new RecoveryException(
                    names + " differ at revision " + revision + ". The old data is kept beside the data directories",
                    null);
        }
        return "verified: revision " + revision + (hashes.areComparable() ? ", equal hashes of " : ", present at ")
                + names;
    }

    private <T> T await(
            MachineSettings machine,
            String otherwise,
            Duration deadline,
            Function<MachineSettings, Attempt<T>> request) {
        AtomicReference<String> failure = new AtomicReference<>("");
        return Waiting.until(
                deadline,
                () -> {
                    Attempt<T> attempt = request.apply(machine);
                    failure.set(attempt.failure());
                    return attempt.value();
                },
                () -> new RecoveryException(
                        machine.name() + " " + otherwise + " after " + deadline.toSeconds() + " s: " + failure.get()
                                + "; see its log"
                                + LogExplanation.ofExited(List.of(machine.member()), control),
                        null));
    }

    /** See {@link Membership#appendEntry}. */
    void appendEntry(ClusterFacts facts) {
        propose(facts, MaintenanceGrpc.getAlarmMethod(), EtcdMembership.ENTRY);
    }

    /** Removes a member; whether it succeeded is observed. */
    void remove(MemberId member, ClusterFacts facts) {
        propose(
                facts,
                ClusterGrpc.getMemberRemoveMethod(),
                MemberRemoveRequest.newBuilder().setID(member.value()).build());
    }

    /** Sends it to the leader, or else to any healthy voting member, which forwards it. */
    private <Q, A> void propose(ClusterFacts facts, MethodDescriptor<Q, A> method, Q request) {
        Stream.concat(facts.leader().stream(), facts.healthyVoters().stream())
                .flatMap(member ->
                        machines.stream().filter(machine -> machine.name().equals(member.name())))
                .findFirst()
                .map(machine -> call(connections.call(endpoint(machine), method, request, patience)))
                .filter(attempt -> attempt.value().isEmpty())
                .ifPresent(attempt -> LOG.atInfo()
                        .addKeyValue("method", method.getBareMethodName())
                        .addKeyValue("cause", attempt.failure())
                        .log("proposal failed"));
    }

    private Attempt<Hashes.Hash> hash(MachineSettings machine, Revision revision) {
        try {
            return Attempt.of(Hashes.read(connections, endpoint(machine), revision));
        } catch (ExecutionException e) {
            return failed(e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Whether the member serves peers, which it does without a leader, too. */
    boolean servesPeers(MachineSettings machine) {
        return call(PeerPort.answers(connections, machine.member().peerUrls().get(0), patience))
                .value()
                .orElse(false);
    }

    /** Returns the directories with data from before the recovery, or from earlier ones. */
    public List<Path> kept() {
        return machines.stream()
                .filter(machine -> machine.process() != ProcessKind.MANUAL)
                .filter(machine -> Files.isDirectory(machine.dataDirectory().resolveSibling(".")))
                .flatMap(machine -> Stream.concat(
                        new DataDirectory(machine.dataDirectory()).earlier().stream(),
                        // Of an interrupted run.
                        Stream.of(LearnerRestore.workingCopy(machine), Restore.part(machine.dataDirectory()))
                                .filter(Files::exists)))
                .toList();
    }

    static Endpoint endpoint(MachineSettings machine) {
        return Endpoint.of(machine.member().clientUrls().get(0));
    }

    private static <T> Attempt<T> call(CompletableFuture<T> answer) {
        try {
            return Attempt.of(answer.get());
        } catch (ExecutionException e) {
            return failed(e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static <T> Attempt<T> failed(ExecutionException e) {
        return Attempt.failed(EtcdErrors.text(e.getCause() == null ? e : e.getCause()));
    }

    private static RecoveryException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new RecoveryException("interrupted while reading the state of the cluster", e);
    }
}
