package io.understudy.cluster.recover;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.LocalControl;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.OwnMachines;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.snapshot.Restore;
import io.understudy.cluster.snapshot.SnapshotDirectory;
import io.understudy.cluster.snapshot.SnapshotTaker;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates a new cluster from a learner of one that lost all voting members. The learner keeps running, and its data is
 * only read: a restarted learner without a leader serves nothing.
 *
 * <p>Invariant DP30: the last copy of the data is neither stopped nor written to before its replacement is verified.
 *
 * @param etcd the server for machines that name none
 * @param snapshots where the learner's snapshot and the older ones are
 * @param shape of the new cluster; machines of read replicas are used last
 * @param patience how long a member may take to serve
 */
public record LearnerRestore(
        Survey survey,
        Operator operator,
        Supplier<SnapshotTool> tool,
        Supplier<Path> etcd,
        Optional<SnapshotDirectory> snapshots,
        Shape shape,
        Duration patience) {

    private static final Logger LOG = LoggerFactory.getLogger(LearnerRestore.class);

    private static final int DIGEST_BYTES = 32;

    /** @param hasDigest whether the file ends with its digest, as snapshots do */
    private record Source(Path database, boolean hasDigest) {}

    /**
     * Restores, if the operator confirms.
     *
     * @param from the names that the operator gave; empty for none
     * @param remains with responses of learners
     * @return whether it is done
     * @throws RecoveryException no learner has anything, or a step failed
     */
    boolean run(Set<String> from, List<Remains> remains) {
        Remains learner = Remains.mostComplete(remains.stream()
                        .filter(each -> from.isEmpty() || from.contains(each.name()))
                        .filter(each -> each.isLearner() && each.hasLog())
                        .toList())
                .orElseThrow(() -> new RecoveryException(nothingLeft(), null));
        List<Remains> targets = remains.stream()
                .filter(each -> !each.name().equals(learner.name()))
                // Another learner that serves is not stopped: it cannot serve again without a leader.
                .filter(each -> !(each.isLearner() && each.answer().isPresent()))
                .sorted(Comparator.comparing((Remains each) -> !shape.mayPromote(each.name()))
                        .thenComparing(each -> !each.isGone() && !each.isEmpty()))
                .limit(shape.voters())
                .toList();
        if (targets.size() < shape.voters()) {
            throw new RecoveryException(
                    "shape.voters is " + shape.voters() + ", and only " + targets.size()
                            + " machines are configured besides " + learner.name() + ": configure more",
                    null);
        }
        List<String> unknown = remains.stream()
                .filter(each -> !each.name().equals(learner.name()) && !each.isGone() && !each.isEmpty())
                .map(each -> each.name() + " " + each.state())
                .toList();
        if (from.isEmpty() && !unknown.isEmpty()) {
            throw new RecoveryException(
                    "cannot determine whether learner " + learner.name() + " has the most recent data: it "
                            + learner.state() + "; " + String.join("; ", unknown) + ". Choose it with --from "
                            + learner.name(),
                    null);
        }
        targets.forEach(each -> requireFree(each.machine(), learner));
        targets.forEach(each -> survey.requireStartable(each.machine()));
        targets.forEach(each -> survey.requireReplaceable(each.machine()));
        requireRoom(learner, targets);
        SnapshotTool restoring = tool.get().requireBump();
        operator.print("recovering from learner " + learner.name() + ": it " + learner.state());
        operator.print("acknowledged writes that it had not received are lost; the revision becomes the time in"
                + " microseconds, so that watchers resynchronize");
        List<String> names = targets.stream().map(Remains::name).toList();
        if (!operator.confirms("create a new cluster of " + String.join(", ", names) + " from the data of "
                + learner.name() + "; all old voting members are lost for good, and fenced")) {
            return false;
        }
        survey.requireUnchanged(remains);
        LOG.atWarn()
                .addKeyValue("from", learner.name())
                .addKeyValue("log", learner.last())
                .log("restore from a learner started");
        Source source = source(learner);
        long revision = restoring.contents(source.database()).revision();
        List<MachineSettings> machines = targets.stream().map(Remains::machine).toList();
        Machines control = survey.control();
        machines.forEach(machine -> control.retire(machine.member()));
        Restore restore = new Restore(restoring, control, operator::print);
        String token = "recovered-" + Instant.now().getEpochSecond();
        long bump = Restore.bump(revision, Instant.now());
        if (source.hasDigest()) {
            restore.restore(source.database(), machines, token, OptionalLong.of(bump));
        } else {
            restore.restoreDatabase(source.database(), machines, token, OptionalLong.of(bump));
        }
        machines.forEach(machine -> control.start(machine.member()));
        operator.print("a new cluster serves the data of revision " + revision + "; "
                + survey.verify(machines, revision + bump, patience));
        finish(learner);
        return true;
    }

    /** Whether a restore from it was interrupted: the working copy exists until the end. */
    static boolean isUnfinished(Remains learner) {
        return learner.machine().process() != ProcessKind.MANUAL && Files.exists(workingCopy(learner.machine()));
    }

    /** Returns the learner of an interrupted restore; none if another member may have more by now. */
    static Set<String> unfinished(List<Remains> remains) {
        return remains.stream()
                .filter(learner -> learner.isLearner()
                        && isUnfinished(learner)
                        && remains.stream()
                                .filter(each -> !each.name().equals(learner.name()))
                                .allMatch(each -> each.isGone() || each.isEmpty() || isOfAnotherCluster(each, learner)))
                .map(Remains::name)
                .collect(Collectors.toSet());
    }

    private static boolean isOfAnotherCluster(Remains one, Remains other) {
        return one.stored().isPresent()
                && other.stored().isPresent()
                && one.stored().get().log().cluster()
                        != other.stored().get().log().cluster();
    }

    /** Ends a restore, also an interrupted one, after the new cluster was verified. */
    void finish(Remains learner) {
        if (operator.confirms("stop " + learner.name() + ", a learner of the old cluster, and set its data aside")) {
            survey.control().retire(learner.machine().member());
            operator.print("next: understudy cluster add " + learner.name() + " --promote never");
        } else {
            operator.print(learner.name() + " still runs as a learner of the old cluster");
        }
        // Last, as the next run finds an interrupted restore by it.
        Folders.delete(workingCopy(learner.machine()));
        LOG.atInfo().addKeyValue("from", learner.name()).log("recovery completed");
    }

    /** The process of a target is stopped, unless it is of another cluster. */
    private void requireFree(MachineSettings target, Remains learner) {
        Optional<DataOwner> owner = survey.control().owner(target.member());
        Optional<Long> cluster = learner.stored()
                .map(data -> data.log().cluster())
                .or(() -> survey.status(learner.machine())
                        .map(status -> status.getHeader().getClusterId()));
        boolean isOwn = owner.isPresent()
                && cluster.filter(id -> id == owner.get().cluster().value()).isPresent();
        if (isOwn) {
            survey.requireControl(target);
        } else {
            survey.requireFree(target);
        }
    }

    /**
     * Requires room for the learner's snapshot or copy, and for each target's database. Called before the first target
     * is set aside.
     */
    private void requireRoom(Remains learner, List<Remains> targets) {
        Path source = learner.machine().dataDirectory();
        long bytes = learner.hasData().orElse(false)
                ? new DataDirectory(source).size()
                : survey.status(learner.machine())
                        .map(StatusResponse::getDbSize)
                        .orElse(0L);
        Map<Path, Long> needed = targets.stream()
                .map(Remains::machine)
                .filter(machine -> machine.process() != ProcessKind.MANUAL)
                .collect(Collectors.toMap(MachineSettings::dataDirectory, machine -> bytes));
        needed.put(snapshots.map(SnapshotDirectory::path).orElse(source), bytes);
        Survey.requireRoom("the data of the new cluster", needed);
    }

    private String nothingLeft() {
        String all = snapshots
                .map(SnapshotDirectory::list)
                .flatMap(files -> files.stream().findFirst())
                .map(newest -> "Restore the newest snapshot, taken " + newest.taken()
                        + ": understudy cluster restore --snapshot " + newest.path())
                .orElse("Restore a snapshot: understudy cluster restore --snapshot FILE");
        return "no member to recover from: no member responds, and no data of one is accessible. " + all
                + ". If a mirror's target is more recent, move the primary there: understudy mirror failover, which with"
                + " --dry-run names the revision and time of its data";
    }

    private Source source(Remains learner) {
        MachineSettings machine = learner.machine();
        Path parent = machine.dataDirectory().resolveSibling(".").normalize();
        Optional<StatusResponse> status = survey.status(machine);
        Optional<Source> saved = status.map(found -> {
            SnapshotTaker.Taken taken = new SnapshotTaker(
                            member -> Optional.of(Survey.endpoint(machine)), survey.connections(), tool.get())
                    .takeFromLearner(
                            learner.name(),
                            Survey.endpoint(machine),
                            snapshots.orElseGet(() -> new SnapshotDirectory(parent)),
                            Instant.now());
            operator.print("saved a snapshot of " + learner.name() + " at revision "
                    + taken.contents().revision() + ": " + taken.file().path());
            return new Source(taken.file().path(), true);
        });
        Optional<Stored> stored = learner.stored();
        if (stored.isEmpty()) {
            operator.print("the log of " + learner.name()
                    + " is not readable from this machine; entries that it had not" + " applied are lost");
            return saved.orElseThrow(() -> new RecoveryException(learner.name() + " does not respond", null));
        }
        try {
            Path copy = workingCopy(machine);
            if (Files.exists(copy)) {
                // The process of an interrupted run may apply entries there.
                LocalControl.lasting(etcd).stop(machine.withMember(machine.member(), copy));
                Folders.delete(copy);
            }
            return applied(learner, saved, stored.get(), copy);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot copy the data of " + learner.name(), e);
        }
    }

    /** Returns the directory in which etcd applies the log; the original data stays. */
    static Path workingCopy(MachineSettings learner) {
        return learner.dataDirectory().resolveSibling(learner.dataDirectory().getFileName() + ".recovery");
    }

    /** Returns the source with all entries of the learner's log applied. They are applied by etcd itself, to a copy. */
    private Source applied(Remains learner, Optional<Source> saved, Stored stored, Path copy) throws IOException {
        Path original = learner.machine().dataDirectory().resolve("member");
        Path database = copy.resolve("member/snap/db");
        copy(original.resolve("wal"), copy.resolve("member/wal"), ".wal");
        copy(original.resolve("snap"), copy.resolve("member/snap"), ".snap");
        Files.copy(saved.map(Source::database).orElse(original.resolve("snap/db")), database);
        if (saved.isPresent()) {
            try (FileChannel channel = FileChannel.open(database, StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() - DIGEST_BYTES);
            }
        }
        long applied = Stored.Database.read(database).applied();
        long last = stored.log().last().index();
        if (applied >= last) {
            operator.print("it has applied all entries of its log");
            return saved.orElse(new Source(database, false));
        }
        operator.print("its log has " + (last - applied) + " more entries, which are applied to a copy in " + copy);
        stored.log().commitAll(copy.resolve("member/wal"));
        long now = apply(learner.machine(), copy, last);
        List<String> left = stored.log().tail().stream()
                .filter(entry ->
                        entry.at().index() > now && !entry.description().isEmpty())
                .map(entry -> "    index " + entry.at().index() + ": " + entry.description())
                .toList();
        if (!left.isEmpty() || now < stored.log().committed()) {
            operator.print("entries up to index " + now + " are applied; these are not, and are lost:");
            left.forEach(operator::print);
            if (!operator.confirms("continue without the entries after index " + now)) {
                throw new RecoveryException("entries after index " + now + " are not applied; see " + copy, null);
            }
        }
        return new Source(database, false);
    }

    private static void copy(Path from, Path to, String suffix) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(suffix)).toList()) {
                Files.copy(file, to.resolve(file.getFileName().toString()));
            }
        }
    }

    /** Returns the index up to which etcd applied the copy's log. */
    private long apply(MachineSettings learner, Path copy, long last) throws IOException {
        Path database = copy.resolve("member/snap/db");
        try (FreePorts ports = FreePorts.take(2)) {
            MachineSettings machine = learner.withMember(
                    new MemberSpec(
                            learner.name(),
                            List.of(URI.create("http://127.0.0.1:" + ports.get(0))),
                            List.of(URI.create("http://127.0.0.1:" + ports.get(1)))),
                    copy);
            OwnMachines scratch = OwnMachines.local(
                    List.of(machine), new LocalControl(new LocalProcesses(), etcd), InstantSource.system());
            try {
                scratch.start(machine.member());
                long end = System.nanoTime() + patience.toNanos() / 2;
                var unused = Waiting.until(
                        patience,
                        () -> appliedIn(database) >= last
                                        || System.nanoTime() > end
                                        || !scratch.isRunning(machine.member()).orElse(false)
                                ? Optional.of(true)
                                : Optional.empty(),
                        () -> new RecoveryException("interrupted while entries were applied", null));
            } finally {
                // It writes what it has applied when it ends.
                scratch.stop(machine.member());
            }
        }
        return Stored.Database.read(database).applied();
    }

    /** A database that is written at the same time may be unreadable for a moment. */
    private static long appliedIn(Path database) {
        try {
            return Stored.Database.read(database).applied();
        } catch (IOException e) {
            return 0;
        }
    }
}
