package io.understudy.local.etcd;

import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerHost;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Starts members, each in the way that its data and the cluster's state call for. */
final class MemberStarter {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int LOG_LINES = 15;

    private final Roster roster;
    private final EtcdApi api;
    private final MemberRegistration membership;
    private final ServerHost host;
    private final Path program;
    private final EtcdArguments arguments;

    MemberStarter(Roster roster, EtcdApi api, ServerHost host, Path program, EtcdArguments arguments) {
        this.roster = roster;
        this.api = api;
        this.membership = new MemberRegistration(api, roster);
        this.host = host;
        this.program = program;
        this.arguments = arguments;
    }

    /** Starts members with data together, or the voters if none has any. The others follow one by one. */
    void startAll() {
        List<EtcdMember> members = roster.members();
        List<EtcdMember> first = members.stream().filter(EtcdMember::hasData).toList();
        if (roster.voters().stream().noneMatch(EtcdMember::hasData)) {
            requireNoData(roster.learners());
            first = roster.voters();
        }
        first.forEach(member -> run(member, roster.initialCluster(), EtcdArguments.ClusterState.NEW));
        first.forEach(this::awaitServing);
        members.stream().filter(member -> !member.isAlive()).forEach(this::start);
    }

    private static void requireNoData(List<EtcdMember> learners) {
        for (EtcdMember learner : learners) {
            if (learner.hasData()) {
                throw new IllegalStateException("learner " + learner + " has data in " + learner.data()
                        + ", but no voting member has: the data belongs to another cluster; delete the directory");
            }
        }
    }

    void start(EtcdMember member) {
        launch(member);
        awaitServing(member);
    }

    /** Starts it without waiting until it serves; one without data joins the cluster first. */
    void launch(EtcdMember member) {
        if (member.hasData()) {
            run(member, roster.initialCluster(), EtcdArguments.ClusterState.EXISTING);
        } else if (roster.voters().equals(List.of(member))) {
            run(member, roster.initialCluster(), EtcdArguments.ClusterState.NEW);
        } else {
            run(member, membership.join(member), EtcdArguments.ClusterState.EXISTING);
        }
    }

    void join(EtcdMember member, String initialCluster) {
        run(member, initialCluster, EtcdArguments.ClusterState.EXISTING);
    }

    private void run(EtcdMember member, String initialCluster, EtcdArguments.ClusterState state) {
        if (member.isAlive()) {
            throw new IllegalStateException("member " + member + " is already running");
        }
        FreePorts.requireFree(member.addresses().client().getPort(), "member " + member + " for clients");
        FreePorts.requireFree(member.addresses().peer().getPort(), "member " + member + " for peers");
        ServerProcess server = host.prepare(new ServerCommand(
                member.name(),
                program,
                arguments.of(member, initialCluster, state, member.arguments()),
                Map.of(),
                Folders.create(member.folder()),
                member.log().file()));
        member.runsIn(server);
        server.start();
    }

    /** Waits until the member serves, reaches the quorum and has a leader. */
    void awaitServing(EtcdMember member) {
        member.serves(Waiting.until(
                PATIENCE,
                () -> serving(member),
                () -> new IllegalStateException("member " + member + " is not healthy after " + PATIENCE.toSeconds()
                        + " s" + endOfLog(member))));
    }

    private Optional<MemberStatus> serving(EtcdMember member) {
        if (!member.isAlive()) {
            throw new IllegalStateException("member " + member + " ended with status "
                    + member.process().exitStatus().orElse(-1) + " before it was ready" + endOfLog(member));
        }
        return api.healthy(member.addresses().client()).join()
                ? roster.status(member).join().filter(status -> status.leaderId() != 0)
                : Optional.empty();
    }

    private static String endOfLog(EtcdMember member) {
        return "; last lines of " + member.log().file() + ":\n"
                + String.join("\n", member.log().tail(LOG_LINES));
    }

    /** Makes a running cluster expect a member that has no data yet. */
    private static final class MemberRegistration {

        /** Error of etcd while its members have been connected for less than five seconds. */
        private static final String NOT_CONNECTED_LONG_ENOUGH = "etcdserver: unhealthy cluster";

        /**
         * Error of etcd for an addition in the second of the removed member's addition. An ID is a hash of peer URLs
         * and that second ({@code membership/member.go}), and removed IDs are never reused.
         */
        private static final String SAME_ID_AS_THE_REMOVED = "etcdserver: member not found";

        private static final Duration PATIENCE = Duration.ofSeconds(60);

        private final EtcdApi api;
        private final Roster roster;

        MemberRegistration(EtcdApi api, Roster roster) {
            this.api = api;
            this.roster = roster;
        }

        /**
         * Adds the member to the cluster, after removing its earlier entry. Each round starts from the cluster's member
         * list, so a request with an unknown outcome is never sent twice. Only errors known to have had no effect are
         * retried.
         *
         * @return the initial cluster for the newcomer's command line
         */
        String join(EtcdMember newcomer) {
            return Waiting.until(
                    PATIENCE,
                    () -> roster.healthyVoter(newcomer).flatMap(member -> step(newcomer, member)),
                    () -> new IllegalStateException("member " + newcomer.name() + " did not join within "
                            + PATIENCE.toSeconds() + " s: the cluster is unhealthy or has no quorum"));
        }

        private Optional<String> step(EtcdMember newcomer, URI member) {
            List<EtcdApi.Listed> listed = api.members(member);
            Optional<EtcdApi.Listed> itself = listed.stream()
                    .filter(entry -> isAt(entry, newcomer.addresses().advertisedPeer()))
                    .findFirst();
            try {
                if (itself.isEmpty()) {
                    api.addMember(member, newcomer.addresses().advertisedPeer(), newcomer.isLearner());
                    return Optional.empty();
                }
                if (itself.get().wasStarted()) {
                    api.removeMember(member, itself.get().id());
                    return Optional.empty();
                }
                return Optional.of(listed.stream()
                        .map(entry -> nameOf(entry) + "=" + String.join(",", entry.peerUrls()))
                        .collect(Collectors.joining(",")));
            } catch (EtcdRequestException e) {
                if (e.reason().equals(NOT_CONNECTED_LONG_ENOUGH) || e.reason().equals(SAME_ID_AS_THE_REMOVED)) {
                    return Optional.empty();
                }
                throw e;
            }
        }

        private String nameOf(EtcdApi.Listed entry) {
            return roster.members().stream()
                    .filter(member -> isAt(entry, member.addresses().advertisedPeer()))
                    .map(EtcdMember::name)
                    .findFirst()
                    .orElseGet(() -> entry.wasStarted() ? entry.name() : "member-" + Long.toHexString(entry.id()));
        }

        private static boolean isAt(EtcdApi.Listed entry, URI peer) {
            return entry.peerUrls().contains(peer.toString());
        }
    }
}
