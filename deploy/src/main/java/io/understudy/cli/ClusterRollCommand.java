package io.understudy.cli;

import io.understudy.cluster.goal.Roll;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Refusal;
import io.understudy.etcd.EtcdVersion;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster roll}: every member's process anew. */
@Command(
        name = "roll",
        description = "Restart or upgrade all members one by one, learners first, the leader last.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterRollCommand implements Callable<Integer> {

    @Option(
            names = "--to-version",
            paramLabel = "VERSION",
            description =
                    "Target version, installed on all machines. Only members that run another version are restarted."
                            + " Without it, a roll that would change a version is refused.")
    private String version;

    @Option(
            names = "--program",
            paramLabel = "DIR",
            description = "Directory with the etcd server of --to-version, for members with process: local. Their"
                    + " configured program stays the old one until then.")
    private Path program;

    @Option(
            names = "--snapshot-to",
            paramLabel = "DIR",
            description = "Directory for the snapshot before an upgrade to another minor version (default:"
                    + " snapshots.directory).")
    private Path snapshots;

    @Option(
            names = "--v2-checked",
            description = "Confirm that etcdutl check v2store found no content of the v2 API. Needed before 3.6 for"
                    + " members that this command cannot check.")
    private boolean v2Checked;

    @Option(
            names = "--raft-snapshots-written",
            description =
                    "Confirm that each member was restarted as 3.6 with --snapshot-count=1 after all ran 3.6. Needed"
                            + " before 3.7 for members that this command cannot start as 3.6.")
    private boolean raftSnapshotsWritten;

    @Option(
            names = "--started-before",
            paramLabel = "TIME",
            description = "Restart only members started before this time, such as 2026-01-31T12:00:00Z (default: now)."
                    + " To resume an interrupted roll, specify its start time.")
    private Instant startedBefore;

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        Instant since = startedBefore == null ? Instant.now() : startedBefore;
        if (version == null) {
            if (program != null) {
                throw new ParameterException(spec.commandLine(), "--program requires --to-version");
            }
            return ClusterChange.run(spec.commandLine(), connection, change, seen -> {
                List<Refusal> exchanged = UpgradeChecks.exchanged(seen.machines(), seen.facts());
                if (!exchanged.isEmpty()) {
                    return facts -> new Plan.Refused(exchanged);
                }
                seen.notes("to resume after an interruption: --started-before " + since);
                return new Roll(since, null);
            });
        }
        EtcdVersion target = EtcdVersion.parse(version);
        if (target.equals(EtcdVersion.UNKNOWN)) {
            throw new ParameterException(
                    spec.commandLine(), "--to-version is " + version + "; allowed: X.Y.Z, such as 3.6.16");
        }
        Optional<Path> directory = Optional.ofNullable(program).map(Path::toAbsolutePath);
        directory.ifPresent(each -> requireVersion(each, target));
        return ClusterChange.run(spec.commandLine(), connection, change, seen -> roll(seen, since, target, directory));
    }

    private void requireVersion(Path directory, EtcdVersion target) {
        EtcdVersion found = UpgradeChecks.versionIn(directory);
        if (found.compareTo(target) != 0) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--program: " + directory.resolve("etcd") + " has version " + found + ", --to-version is "
                            + target);
        }
    }

    private Goal roll(ClusterChange seen, Instant since, EtcdVersion target, Optional<Path> directory) {
        Roll roll = new Roll(
                since,
                target,
                directory.map(each -> each.resolve("etcd")),
                step -> raftSnapshotsWritten || seen.work().hasPerformed(step));
        if (!(roll.plan(seen.facts()) instanceof Plan.Steps) || !changesMinor(seen.facts(), target)) {
            return roll;
        }
        List<Refusal> refusals = new UpgradeChecks(
                        seen.machines(), seen.work()::freeBytes, target, v2Checked, raftSnapshotsWritten)
                .check(seen.facts());
        if (!refusals.isEmpty()) {
            return facts -> new Plan.Refused(refusals);
        }
        seen.saveSnapshotFirst(snapshots);
        directory.ifPresent(each -> seen.notes("afterwards, set machines.*.program to " + each.resolve("etcd")
                + ": supervisors and other commands start the configured program"));
        return roll;
    }

    private static boolean changesMinor(ClusterFacts facts, EtcdVersion target) {
        return facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .anyMatch(answer -> answer.version().minor() != target.minor());
    }
}
