package io.understudy.local.etcd;

import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalServers;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real etcd cluster on this machine, everything on loopback.
 *
 * <p>A restart on the same data directory continues with its data. Safe for use by several threads, one operation at a
 * time.
 */
public final class LocalEtcd implements LocalServers {

    private static final Logger LOG = LoggerFactory.getLogger(LocalEtcd.class);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String name;
    private final String token;
    private final Path directory;
    private final boolean behindProxies;
    private final boolean secured;
    private final EtcdApi api;
    private final Roster roster;
    private final MemberStarter starter;
    private final EtcdTools tools;
    private final List<FreePorts> ports = new ArrayList<>();
    private Map<ServerProcess, Boolean> learnersAtStart = Map.of();

    LocalEtcd(
            String name,
            String token,
            Path directory,
            boolean behindProxies,
            boolean secured,
            EtcdApi api,
            Roster roster,
            MemberStarter starter,
            EtcdTools tools) {
        this.name = name;
        this.token = token;
        this.directory = directory;
        this.behindProxies = behindProxies;
        this.secured = secured;
        this.api = api;
        this.roster = roster;
        this.starter = starter;
        this.tools = tools;
    }

    public static LocalEtcdBuilder builder() {
        return new LocalEtcdBuilder();
    }

    public String name() {
        return name;
    }

    /** All members in the order of their declaration. */
    public List<EtcdMember> members() {
        return roster.members();
    }

    public List<EtcdMember> voters() {
        return roster.voters();
    }

    public List<EtcdMember> learners() {
        return roster.learners();
    }

    /** Client URLs of all members, as {@link EtcdMember#clientUrl()}. */
    public List<URI> clientUrls() {
        return members().stream().map(EtcdMember::clientUrl).toList();
    }

    /**
     * Starts all members at once and waits until each serves and has a leader. The first time, learners join after the
     * voters. On failure, all members are killed.
     *
     * @throws IllegalStateException a port is in use, or a member ended or is not healthy in time; the message names
     *     it, with the end of its log
     */
    @Override
    public void start() {
        try {
            starter.startAll();
            learnersAtStart = learnersNow();
            LOG.atInfo()
                    .addKeyValue("name", name)
                    .addKeyValue("members", members())
                    .addKeyValue("leader", leader())
                    .log("cluster started");
        } catch (RuntimeException e) {
            members().forEach(LocalEtcd::killIfAlive);
            throw e;
        }
    }

    /** The leader: the voter that reports itself as such in the highest term. Waits until there is one. */
    public EtcdMember leader() {
        return Waiting.until(
                PATIENCE,
                roster::leader,
                () -> new IllegalStateException("cluster " + name + " had no leader for " + PATIENCE.toSeconds()
                        + " s; running members: "
                        + members().stream().filter(EtcdMember::isAlive).toList()));
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
                    () -> roster.leader().filter(now -> now == target),
                    () -> new IllegalStateException("leadership of cluster " + name + " did not move to " + target));
        }
    }

    /** Adds a voter, starts it and waits until it serves. A later object on the same data does not include it. */
    public EtcdMember addVoter() {
        return add(false);
    }

    /** Declares a member that callers add to the cluster and start with {@link EtcdMember#join}. */
    public EtcdMember declareNewcomer() {
        return declare(true, null, null);
    }

    private EtcdMember add(boolean learner) {
        EtcdMember member = declare(learner, null, null);
        try {
            member.start();
            return member;
        } catch (RuntimeException e) {
            forget(member);
            throw e;
        }
    }

    /** Promotes a learner that has caught up. */
    public void promote(EtcdMember learner) {
        api.promoteMember(leader().addresses().client(), learner.id());
        learner.promoted();
    }

    /** Removes a member from the cluster, kills it and deletes its data. */
    public void remove(EtcdMember member) {
        URI other = roster.healthyVoter(member)
                .orElseThrow(() -> new IllegalStateException(
                        "cannot remove " + member + ": cluster " + name + " has no other healthy voting member"));
        api.removeMember(other, member.id());
        forget(member);
        member.wipe();
    }

    private void forget(EtcdMember member) {
        killIfAlive(member);
        member.closeProxies();
        roster.remove(member);
    }

    /**
     * Enables authentication with that password for {@code root}. This object then makes its requests as root. Create
     * users and roles by {@link #etcdctl} with {@code --user root:…}.
     */
    public void enableAuthentication(String rootPassword) {
        api.enableAuthentication(leader().addresses().client(), rootPassword);
        authenticateAs(rootPassword);
    }

    /** Makes requests as root from now on, where authentication is enabled. */
    void authenticateAs(String rootPassword) {
        api.authenticateAs(rootPassword, () -> voters().stream()
                .filter(EtcdMember::answers)
                .map(voter -> voter.addresses().client())
                .toList());
    }

    /**
     * Runs {@code etcdctl} against the voters that run, past any proxy, unless the arguments name endpoints.
     *
     * @return what it printed to standard output
     * @throws io.understudy.local.process.CommandFailedException it failed, or was not done within 60 s
     */
    public String etcdctl(String... commandLine) {
        return tools.etcdctl(voters(), commandLine);
    }

    /** Saves the state of the leader to a file that must not exist. */
    public void snapshot(Path file) {
        tools.etcdctl(List.of(leader()), "snapshot", "save", file.toString());
    }

    /**
     * Restores the cluster from a snapshot and starts it. All members are killed and lose their data, and the voters
     * start from the file. The cluster ID is the same if the voters are those declared, and so are the IDs of members
     * never wiped: to clients it is the same cluster with another history. Learners rejoin; etcd takes 7 s longer for a
     * member that starts from its leader's snapshot.
     */
    public void restore(Path file) {
        members().forEach(EtcdMember::wipe);
        onAll(voters(), member -> tools.restore(file, member, roster.initialCluster(), token));
        start();
        LOG.atInfo().addKeyValue("name", name).addKeyValue("snapshot", file).log("cluster restored");
    }

    /** Ends all members in order, at the same time; {@link #start} continues with their data. */
    public void stop() {
        onAll(members().stream().filter(EtcdMember::isAlive).toList(), EtcdMember::stop);
    }

    private static void onAll(List<EtcdMember> members, Consumer<EtcdMember> work) {
        CompletableFuture<?>[] all = members.stream()
                .map(member -> CompletableFuture.runAsync(
                        () -> work.accept(member), task -> new Thread(task, "etcd-" + member.name()).start()))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(all).join();
    }

    /**
     * Drops all traffic between the two groups until {@link #heal}. Clients still reach all members. Data in flight
     * arrives after healing, as if packets had been lost and sent again.
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
        LOG.atInfo()
                .addKeyValue("name", name)
                .addKeyValue("one", one)
                .addKeyValue("other", other)
                .log("cluster partitioned");
    }

    /** Partitions the member from all others, as {@link #partition}. */
    public void isolate(EtcdMember member) {
        partition(
                Set.of(member),
                members().stream().filter(other -> other != member).collect(Collectors.toSet()));
    }

    /** Ends all faults of the proxies. */
    public void heal() {
        members().forEach(EtcdMember::healProxies);
    }

    /** Ends all faults: heals proxies, resumes paused members, starts ended ones. Waits until all serve. */
    @Override
    public void mend() {
        heal();
        members().forEach(EtcdMember::resume);
        members().stream().filter(member -> !member.isAlive()).forEach(EtcdMember::launch);
        members().forEach(starter::awaitServing);
    }

    /**
     * Deletes all keys and leases. False if members were restarted, added, removed or promoted, or have users, roles or
     * alarms. Revision and compaction stay.
     */
    @Override
    public boolean reset() {
        boolean same = members().stream().allMatch(EtcdMember::isAlive)
                && learnersNow().equals(learnersAtStart);
        if (!same || !api.deleteAll(leader().addresses().client())) {
            return false;
        }
        awaitApplied();
        return true;
    }

    /**
     * Waits until every running member has applied what any of them has applied now. A response proves that only of the
     * member that sent it.
     */
    public void awaitApplied() {
        List<EtcdMember> running =
                members().stream().filter(EtcdMember::isAlive).toList();
        long applied = running.stream()
                .mapToLong(member -> member.status().raftAppliedIndex())
                .max()
                .orElse(0);
        running.forEach(member -> Waiting.until(
                PATIENCE,
                () -> Optional.of(member.status()).filter(status -> status.raftAppliedIndex() >= applied),
                () -> new IllegalStateException(member + " has not applied index " + applied)));
    }

    private Map<ServerProcess, Boolean> learnersNow() {
        return members().stream().collect(Collectors.toMap(EtcdMember::process, EtcdMember::isLearner));
    }

    @Override
    public Map<String, ServerLog> logs() {
        Map<String, ServerLog> logs = new LinkedHashMap<>();
        members().forEach(member -> logs.put(member.name(), member.log()));
        return logs;
    }

    /** Kills what still runs, ends the proxies and frees ports; the data stays. Idempotent. */
    @Override
    public void close() {
        members().forEach(LocalEtcd::killIfAlive);
        members().forEach(EtcdMember::closeProxies);
        ports.forEach(FreePorts::close);
    }

    private static void killIfAlive(EtcdMember member) {
        if (member.isAlive()) {
            member.kill();
        }
    }

    /** Adds a member that neither runs nor is part of the cluster yet. */
    EtcdMember declare(boolean learner, @Nullable Integer clientPort, @Nullable Integer peerPort) {
        FreePorts free = FreePorts.take(4);
        ports.add(free);
        String memberName = name + "-" + ports.size();
        int client = clientPort == null ? free.get(0) : clientPort;
        int peer = peerPort == null ? free.get(1) : peerPort;
        MemberProxies proxies =
                behindProxies ? MemberProxies.start(free.get(2), client, free.get(3), peer, roster::processIds) : null;
        EtcdMember member = new EtcdMember(
                memberName,
                MemberAddresses.of(secured, client, peer, proxies),
                proxies,
                directory.resolve(memberName),
                learner,
                starter,
                api);
        roster.add(member);
        return member;
    }

    @Override
    public String toString() {
        return "etcd cluster " + name;
    }
}
