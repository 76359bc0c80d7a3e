package io.understudy.cli;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.PatientObserver;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.SnapshotDirectory;
import io.understudy.cluster.snapshot.SnapshotDirectory.SnapshotFile;
import io.understudy.cluster.snapshot.SnapshotTaker;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.vocabulary.ClusterId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code understudy cluster snapshot}: copies of the data of a cluster in files. */
@Command(name = "snapshot", description = "Save and list snapshots of a cluster, and verify files.")
final class SnapshotCommand {

    @Command(name = "save", description = "Save and verify a snapshot, from a learner if possible.")
    void save(
            @Mixin ClusterFlags.Observed flags,
            @Option(
                            names = "--to",
                            paramLabel = "DIR",
                            description = "Destination directory (default: snapshots.directory).")
                    @Nullable Path directory)
            throws InterruptedException {
        try (ClusterConnection cluster = flags.connect()) {
            ClusterSettings settings = cluster.settings();
            SnapshotDirectory target = new SnapshotDirectory(Optional.ofNullable(directory)
                    .or(() -> settings.snapshots().directory())
                    .orElseThrow(() -> flags.usageError("specify --to, or snapshots.directory in the configuration")));
            SnapshotTaker.Taken taken = Foreground.interruptible(() -> take(cluster, flags.timeout, target));
            SnapshotFile file = taken.file();
            if (flags.isJson()) {
                flags.json(Output.cells(
                        "file", file.path().toString(),
                        "revision", taken.contents().revision(),
                        "bytes", file.bytes(),
                        "member", taken.member(),
                        "millis", taken.took().toMillis()));
            } else {
                flags.lines(List.of("saved " + file.path() + ": revision "
                        + taken.contents().revision() + ", " + file.bytes() + " bytes, from " + taken.member() + " in "
                        + taken.took().toMillis() + " ms"));
            }
        }
    }

    /** Without a healthy member, the data of the configured machines is what may be left. */
    private static SnapshotTaker.Taken take(ClusterConnection cluster, Duration timeout, SnapshotDirectory target)
            throws InterruptedException {
        List<MachineSettings> machines = cluster.settings().machines();
        Optional<ClusterId> observed = Optional.empty();
        try {
            ClusterFacts facts = new PatientObserver(cluster.observer()).observe(timeout);
            if (machines.isEmpty() || facts.members().stream().anyMatch(MemberFacts::isHealthy)) {
                return cluster.snapshots().take(facts, target, Instant.now());
            }
            observed = Optional.of(facts.cluster());
        } catch (UnobservableException e) {
            if (machines.isEmpty() || e.isContradiction()) {
                throw e;
            }
        }
        return cluster.snapshots().takeWithoutQuorum(machines, observed, target, Instant.now());
    }

    @Command(name = "list", description = "List stored snapshots, newest first.")
    void list(
            @Mixin Output output,
            @Mixin Flags.OptionalConfiguration configuration,
            @Option(
                            names = "--in",
                            paramLabel = "DIR",
                            description = "Directory to list (default: snapshots.directory).")
                    @Nullable Path directory) {
        if (directory != null && !Files.isDirectory(directory)) {
            throw output.usageError("--in is " + directory + ": no such directory");
        }
        if (directory == null && configuration.file == null) {
            throw output.usageError("specify --in or --config");
        }
        Path listed = directory == null
                ? ClusterSettings.load(configuration.required(output.command()), System.getenv(), configuration.values)
                        .snapshots()
                        .directory()
                        .orElseThrow(
                                () -> output.usageError("specify --in, or snapshots.directory in the configuration"))
                : directory;
        output.rows(
                List.of("taken", "bytes", "uploaded", "file"),
                new SnapshotDirectory(listed)
                        .list().stream()
                                .map(file -> Output.cells(
                                        "taken",
                                                file.taken()
                                                        .truncatedTo(ChronoUnit.SECONDS)
                                                        .toString(),
                                        "bytes", file.bytes(),
                                        "uploaded", file.isUploaded(),
                                        "file", file.path().toString()))
                                .toList());
    }

    @Command(
            name = "verify",
            description = {
                "Verify a snapshot file as a restore does: its hash, the pages of its database, and its revisions.",
                "Uses the etcdutl beside the program of a configured machine, or else that of this machine. Before 3.6, it counts"
                        + " all revisions of the keys."
            },
            exitCodeList = {
                "0:the snapshot is intact",
                "1:the snapshot is truncated, damaged or unreadable",
                "2:usage error"
            })
    void verify(
            @Parameters(paramLabel = "FILE", description = "Snapshot file.") Path file,
            @Mixin Output output,
            @Mixin Flags.OptionalConfiguration configuration)
            throws IOException {
        if (!Files.isRegularFile(file)) {
            throw output.usageError(file + ": no such file");
        }
        SnapshotTool.Contents contents = SnapshotTool.of(
                        configuration.file == null
                                ? List.of()
                                : ClusterSettings.load(configuration.file, System.getenv(), configuration.values)
                                        .machines())
                .verify(file);
        output.row(Output.cells(
                "revision", contents.revision(),
                "keys", contents.keys(),
                "bytes", Files.size(file),
                "hash", contents.hash(),
                "version", contents.version(),
                "file", file.toString()));
    }
}
