package io.understudy.cli;

import io.understudy.cluster.goal.MemberGoals.CancelDowngrade;
import io.understudy.cluster.goal.MemberGoals.ChangeClientUrls;
import io.understudy.cluster.goal.MemberGoals.ChangePeerUrls;
import io.understudy.cluster.goal.MemberGoals.MoveLeadership;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.status.ClusterStatus;
import io.understudy.cluster.status.StatusJson;
import io.understudy.cluster.status.StatusText;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code understudy cluster}: one method per sub-command. */
@Command(
        name = "cluster",
        description = "Inspect an etcd cluster and change its membership step by step.",
        subcommands = {SnapshotCommand.class, SuperviseCommand.class})
final class ClusterCommand {

    enum Promote {
        AUTO,
        NEVER;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** URLs of a new member. */
    static class Urls {

        @Option(
                names = "--peer-urls",
                split = ",",
                paramLabel = "URL",
                description = "Peer URLs of the new member (default: from the configuration).")
        List<URI> peer = List.of();

        @Option(
                names = "--client-urls",
                split = ",",
                paramLabel = "URL",
                description = "Client URLs of the new member (default: from the configuration).")
        List<URI> client = List.of();
    }

    @Command(
            name = "status",
            description = {
                "Show member health, remaining fault tolerance, and decisions of supervisors.",
                "Queries every member directly and changes nothing. With --config, compares the members with the declared shape."
            },
            exitCodeList = {
                "0:all members are healthy and as declared, and no alarm is active",
                "1:a member is unhealthy or missing, an alarm is active, or no member responds",
                "2:usage error"
            })
    int status(@Mixin ClusterFlags.Observed flags, @Mixin ClusterFlags.Supervisors supervisors)
            throws InterruptedException {
        ClusterStatus status;
        try (ClusterConnection cluster = flags.connect()) {
            status = cluster.status(flags.timeout, supervisors);
        }
        flags.lines(flags.isJson() ? List.of(StatusJson.of(status)) : StatusText.of(status));
        return status.isHealthy() && status.isAsDeclared() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    @Command(
            name = "create",
            description = {
                "Create a cluster: start its first member on a configured machine.",
                "Checks data directory, ports, URLs and program first. If it fails or is interrupted, it stops the member and"
                        + " deletes the files that it made. Add the other members with \"understudy cluster add\"."
            },
            exitCodeList = {"0:the new cluster serves", "1:refused or failed", "2:usage error"})
    int create(@Mixin ClusterCreate create) {
        return create.run() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    @Command(name = "add", description = "Add a member as a learner and promote it once it is in sync.")
    int add(
            @Parameters(paramLabel = "NAME", description = "Name of the new member.") String name,
            @Mixin Urls urls,
            @Option(
                            names = "--promote",
                            paramLabel = "auto|never",
                            description =
                                    "auto: promote once in sync; never: keep it a learner (default: auto; never for shape.readReplicas).")
                    @Nullable Promote promote,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> ClusterGoals.add(seen, seen.place(name, urls.peer, urls.client), promote));
    }

    @Command(name = "promote", description = "Promote a learner to voting member once it is in sync.")
    int promote(
            @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.") String member,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> ClusterGoals.promote(seen, member));
    }

    @Command(name = "remove", description = "Remove a member permanently. Moves leadership first if it is the leader.")
    int remove(
            @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.") String member,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> ClusterGoals.remove(seen, member));
    }

    @Command(
            name = "demote",
            description =
                    "Make a voting member a learner: remove it, keep its data aside, and join it again. Its ID changes.")
    int demote(
            @Parameters(paramLabel = "MEMBER", description = "Name or ID of the voting member.") String member,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> ClusterGoals.demote(seen, member));
    }

    /** A member and its successor. */
    static final class Replacement extends Urls {

        @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member to replace.")
        String member;

        @Option(
                names = "--with",
                required = true,
                paramLabel = "NAME",
                description = "Name of the replacement: a new member or a standby learner.")
        String successor;

        @Option(
                names = "--migrate-data",
                description =
                        "Move the data directory to the replacement instead of sending a snapshot. The member ID is kept.")
        boolean isMigrated;
    }

    @Command(name = "replace", description = "Replace a member. A failed member is removed first, a healthy one last.")
    int replace(@Mixin Replacement replacement, @Mixin ClusterFlags.Change change) throws InterruptedException {
        return change.run(seen -> ClusterGoals.replace(seen, replacement));
    }

    @Command(name = "scale", description = "Scale to N voting members, one at a time (odd recommended).")
    int scale(
            @Parameters(paramLabel = "N", converter = Converters.Count.class, description = "Number of voting members.")
                    int voters,
            @Option(
                            names = "--member",
                            paramLabel = "NAME=PEERURL",
                            description =
                                    "Name and peer URL of a new member, in addition to configured machines. Repeatable.")
                    @Nullable Map<String, URI> members,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> ClusterGoals.scale(seen, voters, members == null ? Map.of() : members));
    }

    /** Flags of an upgrade. */
    static final class Version {

        @Option(
                names = "--to-version",
                paramLabel = "VERSION",
                description =
                        "Target version, installed on all machines. Only members that run another version are restarted."
                                + " Without it, a roll that would change a version is refused.")
        @Nullable String version;

        @Option(
                names = "--program",
                paramLabel = "DIR",
                description = "Directory with the etcd server of --to-version, for members with process: local. Their"
                        + " configured program stays the old one until then.")
        @Nullable Path program;

        @Option(
                names = "--snapshot-to",
                paramLabel = "DIR",
                description = "Directory for the snapshot before an upgrade to another minor version (default:"
                        + " snapshots.directory).")
        @Nullable Path snapshots;
    }

    static final class Upgrade {

        @Mixin
        Version to;

        @Option(
                names = "--v2-checked",
                description = "Confirm that etcdutl check v2store found no content of the v2 API. Needed before 3.6 for"
                        + " members that this command cannot check.")
        boolean isV2Checked;

        @Option(
                names = "--restarted",
                description =
                        "Confirm that each member was restarted once as its present version when all ran it; before 3.7"
                                + " with --snapshot-count=1. Needed before 3.6 and 3.7 for members that this command"
                                + " cannot start as their present version.")
        boolean isRestarted;

        @Option(
                names = "--started-before",
                paramLabel = "TIME",
                description =
                        "Restart only members started before this time, such as 2026-01-31T12:00:00Z (default: now)."
                                + " To resume an interrupted roll, specify its start time.")
        private @Nullable Instant startedBefore;

        Instant since() {
            return startedBefore == null ? Instant.now() : startedBefore;
        }
    }

    @Command(name = "roll", description = "Restart or upgrade all members one by one, learners first, the leader last.")
    int roll(@Mixin Upgrade upgrade, @Mixin ClusterFlags.Change change) throws InterruptedException {
        return change.run(ClusterGoals.roll(upgrade, change));
    }

    @Command(
            name = "downgrade",
            description =
                    "Restart all members as the minor version before theirs, one by one, learners first, the leader last.",
            footer = "Enables the downgrade, waits until the data of all members have the storage version, then rolls.")
    int downgrade(
            @Mixin Version to,
            @Option(
                            names = "--cancel",
                            description = "Cancel the downgrade. Then upgrade the members that run the earlier version"
                                    + " (understudy cluster roll).")
                    boolean isCancelled,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        if (isCancelled == (to.version != null)) {
            throw change.usageError("specify either --to-version or --cancel");
        }
        return change.run(isCancelled ? seen -> new CancelDowngrade() : ClusterGoals.downgrade(to, change));
    }

    @Command(name = "move-leader", description = "Move leadership to another voting member.")
    int moveLeader(
            @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.") String member,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> new MoveLeadership(seen.member(member).id()));
    }

    @Command(name = "update-peer-urls", description = "Update a member's peer URLs and restart it.")
    int updatePeerUrls(
            @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.") String member,
            @Option(
                            names = "--peer-urls",
                            split = ",",
                            paramLabel = "URL",
                            description = "New peer URLs (default: from the configuration).")
                    @Nullable List<URI> peerUrls,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> {
            MemberFacts found = seen.member(member);
            return new ChangePeerUrls(
                    found.id(), seen.place(found.label(), peerUrls == null ? List.of() : peerUrls, List.of()));
        });
    }

    @Command(name = "update-client-urls", description = "Update a member's client URLs and restart it.")
    int updateClientUrls(
            @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.") String member,
            @Option(
                            names = "--client-urls",
                            split = ",",
                            paramLabel = "URL",
                            description = "New client URLs (default: from the configuration).")
                    @Nullable List<URI> clientUrls,
            @Mixin ClusterFlags.Change change)
            throws InterruptedException {
        return change.run(seen -> {
            MemberFacts found = seen.member(member);
            return new ChangeClientUrls(
                    found.id(), seen.place(found.label(), List.of(), clientUrls == null ? List.of() : clientUrls));
        });
    }

    @Command(
            name = "restore",
            description = {
                "Create a cluster from a snapshot.",
                "Restores data directories for shape.voters machines, then starts them. Fails if a data directory is not empty or a"
                        + " cluster responds at the endpoints."
            },
            exitCodeList = {"0:the new cluster serves", "1:failed", "2:usage error"})
    void restore(@Mixin ClusterRestore restore) {
        restore.run();
    }

    @Command(
            name = "repair",
            description = {
                "Start stopped members of this machine, and repair NOSPACE and CORRUPT alarms.",
                "NOSPACE: compacts, defragments one member at a time (learners first, the leader last), disarms. The compaction"
                        + " ends all watches that are behind: their clients must read the keys again.",
                "CORRUPT: removes a voting member that differs in its hash from a majority, whichever the alarm names, disarms, and"
                        + " adds a member on a configured machine. Leaves an alarm alone that a switchover raised.",
                "Stop all supervisors first: under an alarm they cannot be paused."
            },
            exitCodeList = {"0:done, or no repair needed", "1:refused or failed", "2:usage error, or not confirmed"})
    int repair(@Mixin ClusterFlags.Change change) throws InterruptedException {
        return change.run(ClusterGoals::repair);
    }

    @Command(
            name = "recover",
            description = {
                "Recover a cluster after quorum loss, from all members that still have data.",
                "Starts stopped members with their data first. If there is still no quorum for 30 s, starts lost voting members without data under their old names, as many as the quorum lacks: the most complete survivor is elected, and its whole log is kept. Then the other lost members join again.",
                "If only a learner is left, creates a new cluster from its data. Stops if another member may have more recent data; then specify --from.",
                "Each step needs confirmation: lost members must be lost for good, and fenced. Writes that only they had are lost. Keeps every data directory. Run it again after an interruption.",
                "Stop all supervisors first: without a quorum they cannot be paused."
            },
            exitCodeList = {"0:the cluster has a quorum", "1:the cluster has no quorum", "2:usage error"})
    int recover(@Mixin ClusterRecovery recovery) {
        return recovery.run() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
