package io.understudy.cli;

import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.RemovedFlags;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.etcd.EtcdVersion;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.local.process.Folders;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Checks the machines before a change of the version. Members that start as configured need the program of the new
 * version. With another minor version, it must have all configured flags. An upgrade requires free disk space, to 3.6 no
 * v2 content, and the old program for the restart as the present version.
 *
 * @param machines as configured
 * @param freeBytes free bytes on the disk of a member; empty on another machine
 * @param target version of the members afterwards
 * @param isProgramGiven whether local members start with another program than the configured one
 * @param isV2Checked whether the operator confirms that no member has v2 content
 * @param isRestarted whether the operator confirms the restart of each member as its present version
 */
record UpgradeChecks(
        List<MachineSettings> machines,
        Function<MemberFacts, OptionalLong> freeBytes,
        EtcdVersion target,
        boolean isProgramGiven,
        boolean isV2Checked,
        boolean isRestarted) {

    private static final Duration VERSION_DEADLINE = Duration.ofSeconds(20);
    private static final Duration V2_DEADLINE = Duration.ofMinutes(10);

    /** Both errors of {@code etcdutl check v2store}: of a snapshot, and of the write-ahead log. */
    private static final Pattern V2_CONTENT = Pattern.compile("detected .*custom .*content");

    /**
     * Whether a member has another minor version. One that does not respond may have an earlier one until the data of the
     * others have the target's: etcd raises the cluster version when every member has reported it.
     */
    static boolean areNeeded(ClusterFacts facts, EtcdVersion target) {
        boolean isOneSilent = facts.members().stream().anyMatch(member -> member.hasStarted() && isUnknown(member));
        return facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .anyMatch(answer -> answer.version().minor() != target.minor()
                        || (isOneSilent
                                && isEarlier(EtcdVersion.parse(answer.storage().version()), target)));
    }

    private static boolean isEarlier(EtcdVersion version, EtcdVersion target) {
        return !version.equals(EtcdVersion.UNKNOWN) && version.minor() < target.minor();
    }

    /** Returns all reasons against the change. Members that do not respond are changed, too. */
    List<Refusal> check(ClusterFacts facts) {
        List<Refusal> refusals = new ArrayList<>(isProgramGiven ? List.of() : otherPrograms(facts));
        if (!areNeeded(facts, target)) {
            return refusals;
        }
        List<MemberFacts> members = facts.members().stream()
                .filter(member -> member.hasStarted()
                        && (isUnknown(member) || version(member).minor() != target.minor()))
                .toList();
        boolean lowers = members.stream().anyMatch(member -> version(member).minor() > target.minor());
        boolean isLowered = lowers
                && facts.members().stream()
                        .flatMap(member -> member.answer().stream())
                        .filter(answer -> answer.version().reportsStorageVersion())
                        .allMatch(answer -> answer.storage().version().equals(target.ofCluster()));
        long databaseBytes = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .mapToLong(MemberAnswer::databaseBytes)
                .max()
                .orElse(0);
        boolean checksV2 = target.minor() == 6 && !lowers && !isV2Checked;
        Optional<Path> v2Tool = checksV2 ? v2Tool() : Optional.empty();
        for (MemberFacts member : members) {
            Optional<MachineSettings> machine = machines.stream()
                    .filter(each -> each.name().equals(member.name()))
                    .findFirst();
            machine.flatMap(this::flags).ifPresent(refusals::add);
            if (!isLowered) {
                oldProgram(member, machine, lowers).ifPresent(refusals::add);
            }
            if (!lowers) {
                space(member, databaseBytes).ifPresent(refusals::add);
                machine.filter(each -> each.process() != ProcessKind.MANUAL)
                        .flatMap(this::laterData)
                        .ifPresent(refusals::add);
            }
            if (checksV2) {
                v2Content(member, new DataOwner(facts.cluster(), member.id()), machine, v2Tool)
                        .ifPresent(refusals::add);
            }
        }
        return refusals;
    }

    /**
     * Returns configured programs of another version than the target. A member would start as that version, or be stopped
     * for nothing. A program that does not run is reported with the first step.
     */
    private List<Refusal> otherPrograms(ClusterFacts facts) {
        List<Refusal> refusals = new ArrayList<>();
        for (MachineSettings machine : machines) {
            boolean isChanged = facts.named(machine.name())
                    .filter(member -> version(member).compareTo(target) != 0)
                    .isPresent();
            EtcdVersion next = isChanged ? configured(machine) : EtcdVersion.UNKNOWN;
            if (!next.equals(EtcdVersion.UNKNOWN) && next.compareTo(target) != 0) {
                refusals.add(new Refusal(
                        "program-version",
                        "the configured program of " + machine.name() + " has version " + next + ", --to-version is "
                                + target,
                        "Specify the directory of etcd " + target + " with --program, or install it as machines."
                                + machine.name() + ".program"));
            }
        }
        return refusals;
    }

    private Optional<Refusal> flags(MachineSettings machine) {
        List<String> removed = RemovedFlags.in(machine.arguments(), target);
        return removed.isEmpty()
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "flags-known",
                        "etcd " + target + " does not have these arguments of " + machine.name() + ": "
                                + String.join(", ", removed),
                        "Change machines." + machine.name() + ".arguments"));
    }

    private Optional<Refusal> space(MemberFacts member, long databaseBytes) {
        long required = member.answer().map(MemberAnswer::databaseBytes).orElse(databaseBytes);
        OptionalLong free = freeBytes.apply(member);
        return free.isEmpty() || free.getAsLong() >= required
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "free-space",
                        "the disk of " + member.label() + " has " + free.getAsLong() + " bytes free, its database has "
                                + required,
                        "Free as much space as the database takes"));
    }

    /** 3.5 reports no storage version, and may have data that were restored from a later snapshot. */
    private Optional<Refusal> laterData(MachineSettings machine) {
        try {
            EtcdVersion storage = EtcdVersion.parse(
                    SnapshotTool.storageVersion(machine.dataDirectory().resolve("member/snap/db")));
            return target.supportsData(storage)
                    ? Optional.empty()
                    : Optional.of(new Refusal(
                            "data-supported",
                            "the data of " + machine.name() + " have storage version " + storage + ", with which etcd "
                                    + target + " does not start",
                            "Restore a snapshot as a new cluster of etcd " + storage.major() + "." + storage.minor()));
        } catch (IOException e) {
            // No data, or being written at this moment.
            return Optional.empty();
        }
    }

    /** etcd 3.6 does not start with content of the v2 API (etcd#20870, #21849, #21850). */
    private static Optional<Refusal> v2Content(
            MemberFacts member, DataOwner owner, Optional<MachineSettings> machine, Optional<Path> tool) {
        String confirm = "run etcdutl check v2store --data-dir of the newest 3.5 on its machine while " + member.label()
                + " is stopped, and confirm the result with --v2-checked";
        if (machine.isEmpty() || machine.get().process() == ProcessKind.MANUAL) {
            return Optional.of(new Refusal(
                    "no-v2-content",
                    "whether " + member.label() + " has content of the v2 API, with which etcd 3.6 does not start, is"
                            + " unknown: it runs on a machine that is not managed here",
                    confirm));
        }
        Path data = machine.get().dataDirectory();
        // etcdutl is content with a directory that has no log.
        Optional<DataOwner> found = new DataDirectory(data).owner();
        if (!found.equals(Optional.of(owner))) {
            return Optional.of(new Refusal(
                    "no-v2-content",
                    data + " has " + found.map(other -> "data of " + other).orElse("no readable data")
                            + ", not those of "
                            + member.label()
                            + ", to be searched for content of the v2 API, with which etcd 3.6 does not"
                            + " start",
                    "Change machines." + member.label() + ".dataDirectory"));
        }
        if (tool.isEmpty()) {
            return Optional.of(new Refusal(
                    "no-v2-content",
                    "no etcdutl of 3.5 with the subcommand \"check v2store\" is on PATH or beside the configured program"
                            + ", to find content of the v2 API, with which etcd 3.6 does not start",
                    "Put the etcdutl of the newest 3.5 on PATH, or " + confirm));
        }
        try {
            Path links = Files.createTempDirectory("understudy-v2-");
            try {
                // etcdutl deletes the file of a defragmentation and renames unreadable snapshots
                // (api/snap/snapshotter.go).
                link(data.resolve("member/wal"), links.resolve("member/wal"), ".wal");
                link(data.resolve("member/snap"), links.resolve("member/snap"), ".snap");
                var unused = Command.of(List.of(tool.get().toString(), "check", "v2store", "--data-dir=" + links))
                        .run(V2_DEADLINE);
                return Optional.empty();
            } finally {
                Folders.delete(links);
            }
        } catch (IOException e) {
            return Optional.of(v2Refusal(member.label(), "cannot link to the data in " + data + ": " + e, confirm));
        } catch (CommandFailedException e) {
            return Optional.of(v2Refusal(member.label(), String.valueOf(e.getMessage()), confirm));
        }
    }

    private static void link(Path from, Path to, String suffix) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from.toAbsolutePath())) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(suffix)).toList()) {
                Files.createSymbolicLink(to.resolve(file.getFileName()), file);
            }
        }
    }

    /** Returns the refusal of a failed check, which may not have read the data. */
    static Refusal v2Refusal(String member, String failure, String confirm) {
        return V2_CONTENT.matcher(failure).find()
                ? new Refusal(
                        "no-v2-content",
                        "etcdutl check v2store reports for " + member + ": " + failure,
                        "Remove the content of the v2 API, then restart the member so that it writes a raft snapshot")
                : new Refusal(
                        "no-v2-content",
                        "whether " + member + " has content of the v2 API, with which etcd 3.6 does not start, is"
                                + " unknown: " + failure,
                        "Correct that and repeat the command, or " + confirm);
    }

    private Optional<Path> v2Tool() {
        Stream<Path> beside = machines.stream()
                .flatMap(machine -> machine.program().stream())
                .map(server -> server.resolveSibling("etcdutl"));
        Stream<Path> onPath = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, "etcdutl"));
        return Stream.concat(beside, onPath)
                .filter(Files::isExecutable)
                .filter(tool ->
                        version(List.of(tool.toString(), "version")).ofCluster().equals("3.5.0"))
                .filter(UpgradeChecks::hasV2Check)
                .findFirst();
    }

    private static boolean hasV2Check(Path tool) {
        try {
            return Command.of(List.of(tool.toString(), "check", "v2store", "--help"))
                    .run(VERSION_DEADLINE)
                    .contains("--data-dir");
        } catch (CommandFailedException e) {
            return false;
        }
    }

    /**
     * Requires the old program for the restart before an upgrade, or its confirmation. So it does for a member of unknown
     * version: the new one may not read its data, unless a downgrade has lowered them.
     */
    private Optional<Refusal> oldProgram(MemberFacts member, Optional<MachineSettings> machine, boolean lowers) {
        EtcdVersion running = version(member);
        if (isRestarted || (!isUnknown(member) && running.minor() >= target.minor())) {
            return Optional.empty();
        }
        EtcdVersion configured = machine.map(UpgradeChecks::configured).orElse(EtcdVersion.UNKNOWN);
        if (isUnknown(member)) {
            return !configured.equals(EtcdVersion.UNKNOWN) && configured.minor() != target.minor()
                    ? Optional.empty()
                    : Optional.of(new Refusal(
                            "version-known",
                            member.label() + " does not respond, and etcd " + target
                                    + " may not be able to read its data: its version is unknown",
                            "Start it first with its present program"
                                    + (lowers
                                            ? ""
                                            : ", or confirm with --restarted that its last restart was the one before the"
                                                    + " upgrade")));
        }
        return configured.compareTo(running) == 0
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "restarted",
                        member.label() + " must be restarted as " + running
                                + (target.minor() == 6
                                        ? " first: etcd 3.6 may start members as learners, or end with \"too many learner"
                                                + " members\", if one was promoted before 3.5.20"
                                        : " with --snapshot-count=1 first: etcd 3.7 does not start with entries of 3.5 in"
                                                + " its write-ahead log"),
                        "Restart it so when all members run " + running + ", and confirm with --restarted"
                                + (configured.equals(EtcdVersion.UNKNOWN)
                                        ? ""
                                        : "; or keep " + running + " as its configured program, which is " + configured
                                                + ", and specify the new one with --program")));
    }

    /**
     * Returns restarts with the configured programs that change the version. For a member that does not respond, only a
     * change of the minor version counts. Programs of other machines are unknown.
     */
    static List<Refusal> exchanged(List<MachineSettings> machines, ClusterFacts facts) {
        EtcdVersion oldest = facts.members().stream()
                .map(UpgradeChecks::version)
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .min(Comparator.naturalOrder())
                .orElse(EtcdVersion.UNKNOWN);
        List<Refusal> refusals = new ArrayList<>();
        for (MachineSettings machine : machines) {
            Optional<EtcdVersion> running = facts.named(machine.name()).map(UpgradeChecks::version);
            boolean isSilent = running.equals(Optional.of(EtcdVersion.UNKNOWN));
            EtcdVersion next = running.isEmpty() ? EtcdVersion.UNKNOWN : configured(machine);
            if (!next.equals(EtcdVersion.UNKNOWN)
                    && (isSilent ? next.minor() != oldest.minor() : next.compareTo(running.orElseThrow()) != 0)) {
                refusals.add(new Refusal(
                        "version-unchanged",
                        machine.name()
                                + (isSilent
                                        ? " does not respond, the others run " + oldest
                                        : " runs " + running.orElseThrow())
                                + ", and its configured program is " + next,
                        "Specify the target version, which is checked (--to-version " + next + ")"));
            }
        }
        return refusals;
    }

    private static EtcdVersion configured(MachineSettings machine) {
        return machine.process() == ProcessKind.LOCAL
                ? versionOf(
                        machine.program().orElseGet(() -> EtcdBinaries.find().etcd()))
                : EtcdVersion.UNKNOWN;
    }

    /** Returns the version of a server; {@link EtcdVersion#UNKNOWN} if it does not run. */
    static EtcdVersion versionOf(Path server) {
        return version(List.of(server.toString(), "--version"));
    }

    private static EtcdVersion version(List<String> line) {
        try {
            return EtcdVersion.in(Command.of(line).run(VERSION_DEADLINE));
        } catch (CommandFailedException e) {
            return EtcdVersion.UNKNOWN;
        }
    }

    private static boolean isUnknown(MemberFacts member) {
        return version(member).equals(EtcdVersion.UNKNOWN);
    }

    private static EtcdVersion version(MemberFacts member) {
        return member.answer().map(MemberAnswer::version).orElse(EtcdVersion.UNKNOWN);
    }
}
