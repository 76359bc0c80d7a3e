package io.understudy.cluster.snapshot;

import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.DirectoryLock;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.EtcdVersion;
import io.understudy.local.process.Command;
import io.understudy.local.process.Folders;
import io.understudy.vocabulary.Counted;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes the data of a new cluster from a snapshot. Nothing that exists is written to: each data directory has its name
 * once it is whole, and the owner of the empty directory that it replaces, or else its parent's.
 */
public final class Restore {

    /** Exceeds the lead of any client over the data. */
    private static final long LEAST_BUMP = 1_000_000_000;

    private final SnapshotTool tool;
    private final Machines control;
    private final Consumer<String> progress;

    /** @param progress receives what was done, and instructions for members' operators, a line at a time */
    public Restore(SnapshotTool tool, Machines control, Consumer<String> progress) {
        this.tool = tool;
        this.control = control;
        this.progress = progress;
    }

    /**
     * Makes all members' data. The members are not started.
     *
     * @param machines all of the new cluster's voters
     * @param token distinguishes the new cluster from the one that the snapshot is of
     * @param bump by how much revisions are moved ahead; 0 for not at all, empty for {@link #bump}
     * @throws SnapshotException the snapshot is damaged, a member runs or could not start with it, there is data already,
     *     or a directory cannot be made; no data of this call is left then
     * @throws IllegalStateException another command restores, starts or stops one of the members
     */
    public void restore(Path snapshot, List<MachineSettings> machines, String token, OptionalLong bump) {
        restore(snapshot, tool::verify, machines, token, bump, true);
    }

    /** Does the same from a member's copied database, see {@link #restore(Path, List, String, OptionalLong)}. */
    public void restoreDatabase(Path database, List<MachineSettings> machines, String token, OptionalLong bump) {
        restore(database, tool::contents, machines, token, bump, false);
    }

    /**
     * Returns an increase to a revision that no client has seen: the time in microseconds. A cluster restored before, from
     * any snapshot, is behind it unless it had a million changes per second. It stays below 2^53 until the year 2255. With
     * a clock behind the data, the revision still increases, by {@link #LEAST_BUMP}; only a cluster restored before from
     * a newer snapshot may then be ahead.
     */
    public static long bump(long revision, Instant now) {
        return Math.max(LEAST_BUMP, ChronoUnit.MICROS.between(Instant.EPOCH, now) - revision);
    }

    private void restore(
            Path snapshot,
            Function<Path, SnapshotTool.Contents> check,
            List<MachineSettings> machines,
            String token,
            OptionalLong bump,
            boolean hasDigest) {
        machines.forEach(this::requireNothingThere);
        SnapshotTool.Contents contents = check.apply(snapshot);
        machines.forEach(machine -> requireReadable(snapshot, EtcdVersion.parse(contents.version()), machine));
        progress.accept("snapshot " + snapshot + " is intact: revision " + contents.revision() + ", "
                + Counted.of(contents.keys(), "key"));
        Founding cluster = new Founding(
                machines.stream().map(MachineSettings::member).toList(),
                token,
                bump.orElseGet(() -> bump(contents.revision(), Instant.now())),
                hasDigest);
        if (cluster.bump() > 0) {
            var unused = tool.requireBump();
        }
        locked(machines, () -> {
            // Another command may have restored or started them since.
            machines.forEach(this::requireNothingThere);
            List<Made> made = new ArrayList<>();
            try {
                make(snapshot, machines, cluster, made);
            } catch (RuntimeException e) {
                delete(made);
                throw e;
            }
        });
    }

    /** Runs work while no other command restores, starts or stops one of the members. */
    private static void locked(List<MachineSettings> machines, Runnable work) {
        if (machines.isEmpty()) {
            work.run();
            return;
        }
        Runnable rest = () -> locked(machines.subList(1, machines.size()), work);
        if (machines.get(0).process() == ProcessKind.MANUAL) {
            rest.run();
        } else {
            DirectoryLock.holding(machines.get(0).dataDirectory(), rest);
        }
    }

    /**
     * Deletes published data, unless a unit has started a member with it. An empty directory that was there is kept with
     * its owner; a new one would count as a file system that is not mounted.
     */
    private void delete(List<Made> made) {
        // The check for a process fails in an interrupted thread.
        boolean isInterrupted = Thread.interrupted();
        made.stream()
                .filter(each -> !control.isInUse(each.machine().member()))
                .forEach(each ->
                        Folders.delete(each.wasThere() ? each.directory().resolve("member") : each.directory()));
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Published data.
     *
     * @param wasThere whether it replaces an empty directory
     */
    private record Made(MachineSettings machine, boolean wasThere) {
        Path directory() {
            return machine.dataDirectory();
        }
    }

    /** @param made receives the members with published data */
    private void make(Path snapshot, List<MachineSettings> machines, Founding cluster, List<Made> made) {
        for (MachineSettings machine : machines) {
            if (machine.process() == ProcessKind.MANUAL) {
                progress.accept("To do for member " + machine.name() + ": copy the snapshot to its machine, then");
                progress.accept("  "
                        + tool.restoring(snapshot, machine.member(), machine.dataDirectory(), cluster).stream()
                                .map(Command::quoted)
                                .collect(Collectors.joining(" ")));
            } else {
                restore(snapshot, machine, cluster, made);
                progress.accept("restored " + machine.name() + " into " + machine.dataDirectory());
            }
        }
    }

    private void requireNothingThere(MachineSettings machine) {
        if (control.isRunning(machine.member()).orElse(false)) {
            throw new SnapshotException(
                    "member " + machine.name() + " is running; stop it and move its data directory first", null);
        }
        DataDirectory data = new DataDirectory(machine.dataDirectory());
        if (machine.process() != ProcessKind.MANUAL && !data.isVacant()) {
            throw new SnapshotException(
                    "data directory " + data.path() + " is not empty; rename it, or configure another one", null);
        }
        mountPoint(machine).ifPresent(why -> {
            throw new SnapshotException(why, null);
        });
        // A unit of another data directory would start with the data of another member.
        control.programFailure(machine.member(), UnaryOperator.identity()).ifPresent(why -> {
            throw new SnapshotException("member " + machine.name() + " could not start: " + why, null);
        });
    }

    private void requireReadable(Path snapshot, EtcdVersion version, MachineSettings machine) {
        EtcdVersion program = version.equals(EtcdVersion.UNKNOWN) ? version : control.programVersion(machine.member());
        if (!program.supportsData(version)) {
            throw new SnapshotException(
                    "snapshot " + snapshot + " has storage version " + version + ", which the program of "
                            + machine.name() + ", etcd " + program + ", does not support; set machines."
                            + machine.name() + ".program to etcd " + version.major() + "." + version.minor()
                            + " or later",
                    null);
        }
    }

    /** Returns why the data directory cannot be replaced by a complete one; empty if it can. */
    public static Optional<String> mountPoint(MachineSettings machine) {
        return machine.process() != ProcessKind.MANUAL && new DataDirectory(machine.dataDirectory()).isMountPoint()
                ? Optional.of(
                        "data directory " + machine.dataDirectory() + " of " + machine.name()
                                + " is a mount point, which can neither be renamed nor replaced; configure a directory below it")
                : Optional.empty();
    }

    private void restore(Path snapshot, MachineSettings machine, Founding cluster, List<Made> made) {
        Path directory = machine.dataDirectory();
        Path part = part(directory);
        try {
            Path parent = Folders.create(directory.resolveSibling(".").normalize());
            // Left by an attempt that was interrupted; no member has ever run on it.
            Folders.delete(part);
            tool.restore(snapshot, machine, part, cluster);
            boolean wasThere = Files.exists(directory);
            UserPrincipal owner = Files.getOwner(wasThere ? directory : parent);
            for (Path each : all(part)) {
                if (!Files.getOwner(each).equals(owner)) {
                    Files.setOwner(each, owner);
                }
            }
            try {
                DataDirectory.publish(part, directory);
            } finally {
                // Also if forcing the new name to disk failed.
                if (Files.notExists(part)) {
                    made.add(new Made(machine, wasThere));
                }
            }
        } catch (IOException e) {
            throw new SnapshotException("cannot create data directory " + directory, e);
        }
    }

    /** Returns the name of an incomplete directory; the next attempt replaces it. */
    public static Path part(Path directory) {
        return directory.resolveSibling(directory.getFileName() + ".part");
    }

    private static List<Path> all(Path directory) throws IOException {
        try (Stream<Path> walk = Files.walk(directory)) {
            return new ArrayList<>(walk.toList());
        }
    }
}
