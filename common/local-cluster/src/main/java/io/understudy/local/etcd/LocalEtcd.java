package io.understudy.local.etcd;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerHost;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real etcd cluster on this machine, everything on loopback.
 *
 * <p>Starting again on the same data directory goes on with what is there. Safe for use by several threads, one
 * operation at a time.
 */
public final class LocalEtcd implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LocalEtcd.class);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TOOL_DEADLINE = Duration.ofSeconds(60);
    private static final int LOG_LINES = 15;

    private final String name;
    private final Path directory;
    private final ServerHost host;
    private final EtcdBinaries binaries;
    private final boolean behindProxies;
    private final EtcdArguments arguments;
    private final EtcdApi api = new EtcdApi();
    private final List<EtcdMember> members = new CopyOnWriteArrayList<>();
    private final List<FreePorts> ports = new ArrayList<>();
    private final Membership membership = new Membership(api, members);

    LocalEtcd(
            String name,
            Path directory,
            ServerHost host,
            EtcdBinaries binaries,
            boolean behindProxies,
            EtcdArguments arguments) {
        this.name = name;
        this.directory = directory;
        this.host = host;
        this.binaries = binaries;
        this.behindProxies = behindProxies;
        this.arguments = arguments;
    }

    public static LocalEtcdBuilder builder() {
        return new LocalEtcdBuilder();
    }

    public String name() {
        return name;
    }

    /** All members, voters first as declared, then by age. */
    public List<EtcdMember> members() {
        return List.copyOf(members);
    }

    public List<EtcdMember> voters() {
        return members.stream().filter(member -> !member.isLearner()).toList();
    }

    public List<EtcdMember> learners() {
        return members.stream().filter(EtcdMember::isLearner).toList();
    }

    /** Client URLs of all members, as {@link EtcdMember#clientUrl()}. */
    public List<URI> clientUrls() {
        return members.stream().map(EtcdMember::clientUrl).toList();
    }

    /**
     * Starts all members at once and waits until each serves and knows a leader; learners join after the voters. Undoes
     * itself on failure.
     *
     * @throws IllegalStateException a member ended or is not healthy in time; the message has the end of its log
     */
    public void start() {
        try {
            boolean founded = voters().stream().anyMatch(EtcdMember::hasData);
            List<EtcdMember> first =
                    founded ? members.stream().filter(EtcdMember::hasData).toList() : voters();
            if (!founded) {
                requireNoOldLearners();
            }
            first.forEach(member -> run(member, declaredVoters(), EtcdArguments.ClusterState.NEW));
            first.forEach(this::awaitServing);
            for (EtcdMember member : members) {
                if (!first.contains(member)) {
                    start(member);
                }
            }
            log.info("cluster started name={} members={} leader={}", name, members, leader());
        } catch (RuntimeException e) {
            members.forEach(LocalEtcd::killQuietly);
            throw e;
        }
    }

    private void requireNoOldLearners() {
        for (EtcdMember learner : learners()) {
            if (learner.hasData()) {
                throw new IllegalStateException("learner " + learner.name() + " has data in " + learner.data()
                        + " but no voter of cluster " + name + " has any: it belongs to another cluster;"
                        + " delete the folder");
            }
        }
    }

    /** The voter that leads, waiting until there is one: the one of the highest term that takes itself for it. */
    public EtcdMember leader() {
        return Waiting.until(
                PATIENCE,
                this::findLeader,
                () -> new IllegalStateException("cluster " + name + " has had no leader for " + PATIENCE.toSeconds()
                        + " s; members there: "
                        + members.stream().filter(EtcdMember::isAlive).toList()));
    }

    private Optional<EtcdMember> findLeader() {
        Map<EtcdMember, CompletableFuture<Optional<MemberStatus>>> asked = voters().stream()
                .filter(EtcdMember::answers)
                .collect(Collectors.toMap(member -> member, this::statusOf));
        return asked.entrySet().stream()
                .flatMap(entry -> entry.getValue().join().map(status -> Map.entry(entry.getKey(), status)).stream())
                .max(Comparator.comparingLong(entry -> entry.getValue().raftTerm()))
                .flatMap(latest -> asked.entrySet().stream()
                        .filter(entry -> entry.getValue()
                                .join()
                                .filter(status -> status.leads()
                                        && status.raftTerm()
                                                == latest.getValue().raftTerm())
                                .isPresent())
                        .map(Map.Entry::getKey)
                        .findFirst());
    }

    private CompletableFuture<Optional<MemberStatus>> statusOf(EtcdMember member) {
        return api.status(member.addresses().client())
                .handle((status, failure) -> failure == null ? Optional.of(status) : Optional.empty());
    }

    /** The voters that don't lead, once there is a leader. */
    public List<EtcdMember> followers() {
        EtcdMember leader = leader();
        return voters().stream().filter(member -> member != leader).toList();
    }

    /** Makes the member the leader and waits until it is. */
    public void moveLeader(EtcdMember target) {
        EtcdMember leader = leader();
        if (leader != target) {
            api.moveLeader(leader.addresses().client(), target.id());
            Waiting.until(
                    PATIENCE,
                    () -> findLeader().filter(now -> now == target),
                    () -> new IllegalStateException("leadership did not move to " + target));
        }
    }

    /** Adds a learner, starts it and waits until it serves. */
    public EtcdMember addLearner() {
        return add(true);
    }

    /** Adds a voter, starts it and waits until it serves. */
    public EtcdMember addVoter() {
        return add(false);
    }

    private EtcdMember add(boolean learner) {
        EtcdMember member = declare(learner, null, null);
        try {
            start(member);
            return member;
        } catch (RuntimeException e) {
            killQuietly(member);
            member.closeProxies();
            members.remove(member);
            throw e;
        }
    }

    /** Makes a learner that has caught up a voter. */
    public void promote(EtcdMember learner) {
        api.promoteMember(leader().addresses().client(), learner.id());
        learner.promoted();
    }

    /** Removes a member from the cluster, kills it and deletes its data. */
    public void remove(EtcdMember member) {
        URI other = someVoter(member)
                .orElseThrow(() -> new IllegalStateException("no other voter of cluster " + name + " runs"));
        api.removeMember(other, member.id());
        member.wipe();
        member.closeProxies();
        members.remove(member);
    }

    /**
     * Runs {@code etcdctl} against the voters that run, past any proxy, unless the arguments name endpoints.
     *
     * @return what it printed to standard output
     * @throws io.understudy.local.process.CommandFailedException it failed, or was not done within 60 s
     */
    public String etcdctl(String... commandLine) {
        List<String> line = new ArrayList<>(List.of(binaries.etcdctl().toString()));
        if (Arrays.stream(commandLine).noneMatch(argument -> argument.startsWith("--endpoints"))) {
            line.add("--endpoints="
                    + voters().stream()
                            .filter(EtcdMember::answers)
                            .map(member -> member.directClientUrl().toString())
                            .collect(Collectors.joining(",")));
        }
        line.addAll(List.of(commandLine));
        return Command.of(line).run(TOOL_DEADLINE);
    }

    /** Saves the state of the leader to a file that must not exist. */
    public void snapshot(Path file) {
        etcdctl("--endpoints=" + leader().directClientUrl(), "snapshot", "save", file.toString());
    }

    /**
     * Puts the cluster back to a snapshot and starts it: all members stop, lose their data, and the declared voters
     * begin from the file. Cluster id and member ids of the declared voters stay, as does the raft term, so that to
     * clients it is the same cluster with another history. Learners join anew.
     */
    public void restore(Path file) {
        Path etcdutl = binaries.etcdutl();
        if (etcdutl == null) {
            throw new IllegalStateException("restoring needs etcdutl, which is not beside " + binaries.etcd());
        }
        stop();
        members.forEach(EtcdMember::wipe);
        for (EtcdMember member : voters()) {
            Command.of(List.of(
                            etcdutl.toString(),
                            "snapshot",
                            "restore",
                            file.toString(),
                            "--name=" + member.name(),
                            "--data-dir=" + member.data(),
                            "--initial-cluster=" + declaredVoters(),
                            "--initial-cluster-token=" + arguments.options().token(),
                            "--initial-advertise-peer-urls="
                                    + member.addresses().advertisedPeer()))
                    .run(TOOL_DEADLINE);
        }
        start();
    }

    /** Ends all members in order, at the same time; {@link #start} goes on with their data. */
    public void stop() {
        List<CompletableFuture<Void>> stops = members.stream()
                .filter(EtcdMember::isAlive)
                .map(member -> CompletableFuture.runAsync(member::stop, LocalEtcd::inNewThread))
                .toList();
        CompletableFuture.allOf(stops.toArray(CompletableFuture[]::new)).join();
    }

    private static void inNewThread(Runnable task) {
        new Thread(task, "etcd-stop").start();
    }

    /**
     * Lets nothing pass between the members of the two groups, both ways, until {@link #heal}; clients still reach all
     * of them. What was on its way arrives after healing, as if packets had been lost and sent again.
     *
     * @throws IllegalStateException the cluster is not behind proxies
     */
    public void partition(Set<EtcdMember> one, Set<EtcdMember> other) {
        for (EtcdMember here : one) {
            for (EtcdMember there : other) {
                here.peerProxy().from(there.name()).blackHole();
                there.peerProxy().from(here.name()).blackHole();
            }
        }
        log.info("cluster partitioned name={} one={} other={}", name, one, other);
    }

    /** Parts the member from all others, as {@link #partition}. */
    public void isolate(EtcdMember member) {
        partition(
                Set.of(member),
                members.stream().filter(other -> other != member).collect(Collectors.toSet()));
    }

    /** Ends all faults of the proxies. */
    public void heal() {
        members.forEach(EtcdMember::healProxies);
    }

    /** Undoes all faults: of the proxies, paused members go on, ended ones start; waits until all serve. */
    public void mend() {
        heal();
        members.forEach(EtcdMember::resume);
        members.stream().filter(member -> !member.isAlive()).forEach(EtcdMember::launch);
        members.forEach(this::awaitServing);
    }

    /** Kills what still runs, ends the proxies and frees ports; the data stays. Idempotent. */
    @Override
    public void close() {
        members.forEach(LocalEtcd::killQuietly);
        members.forEach(EtcdMember::closeProxies);
        ports.forEach(FreePorts::close);
    }

    private static void killQuietly(EtcdMember member) {
        if (member.isAlive()) {
            member.kill();
        }
    }

    EtcdApi api() {
        return api;
    }

    EtcdMember declare(boolean learner, @Nullable Integer clientPort, @Nullable Integer peerPort) {
        FreePorts free = FreePorts.take(4);
        ports.add(free);
        String memberName = name + "-" + ports.size();
        int client = clientPort == null ? free.get(0) : clientPort;
        int peer = peerPort == null ? free.get(1) : peerPort;
        MemberProxies proxies =
                behindProxies ? MemberProxies.start(free.get(2), client, free.get(3), peer, this::processIds) : null;
        EtcdMember member = new EtcdMember(
                this,
                memberName,
                MemberAddresses.of(client, peer, proxies),
                proxies,
                directory.resolve(memberName),
                learner);
        members.add(member);
        return member;
    }

    private Map<String, Long> processIds() {
        Map<String, Long> ids = new HashMap<>();
        for (EtcdMember member : members) {
            member.processId().ifPresent(id -> ids.put(member.name(), id));
        }
        return ids;
    }

    void start(EtcdMember member) {
        launch(member);
        awaitServing(member);
    }

    void launch(EtcdMember member) {
        if (member.hasData()) {
            run(member, declaredVoters(), EtcdArguments.ClusterState.EXISTING);
        } else if (voters().equals(List.of(member))) {
            run(member, declaredVoters(), EtcdArguments.ClusterState.NEW);
        } else {
            run(member, membership.join(member, () -> someVoter(member)), EtcdArguments.ClusterState.EXISTING);
        }
    }

    private void run(EtcdMember member, String initialCluster, EtcdArguments.ClusterState state) {
        if (member.isAlive()) {
            throw new IllegalStateException("member " + member + " runs already");
        }
        ServerProcess server = host.prepare(new ServerCommand(
                member.name(),
                binaries.etcd(),
                arguments.of(member, initialCluster, state, member.arguments()),
                Map.of(),
                Folders.create(member.folder()),
                member.log().file()));
        member.runsIn(server);
        server.start();
    }

    private void awaitServing(EtcdMember member) {
        Waiting.until(
                PATIENCE,
                () -> {
                    if (!member.isAlive()) {
                        throw new IllegalStateException("member " + member + " ended with status "
                                + member.process().exitStatus().orElse(-1) + " instead of serving" + endOfLog(member));
                    }
                    return Optional.of(member)
                            .filter(asked ->
                                    api.healthy(asked.addresses().client()).join())
                            .flatMap(asked -> statusOf(asked).join())
                            .filter(status -> status.leaderId() != 0);
                },
                () -> new IllegalStateException("member " + member + " is not healthy after " + PATIENCE.toSeconds()
                        + " s" + endOfLog(member)));
        member.serves(member.status());
    }

    private static String endOfLog(EtcdMember member) {
        return "; the end of " + member.log().file() + ":\n"
                + String.join("\n", member.log().tail(LOG_LINES));
    }

    private Optional<URI> someVoter(EtcdMember except) {
        return voters().stream()
                .filter(member -> member != except && member.answers())
                .map(member -> member.addresses().client())
                .filter(client -> api.healthy(client).join())
                .findFirst();
    }

    private String declaredVoters() {
        return voters().stream()
                .map(member -> member.name() + "=" + member.addresses().advertisedPeer())
                .collect(Collectors.joining(","));
    }

    @Override
    public String toString() {
        return "etcd cluster " + name;
    }
}
