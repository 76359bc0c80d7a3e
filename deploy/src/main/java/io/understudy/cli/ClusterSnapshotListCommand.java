package io.understudy.cli;

import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.SnapshotDirectory;
import io.understudy.cluster.snapshot.SnapshotFile;
import io.understudy.report.TextTable;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster snapshot list}: those that are kept. */
@Command(name = "list", description = "List stored snapshots, newest first.")
final class ClusterSnapshotListCommand implements Callable<Integer> {

    @Mixin
    private ConfigurationFlags configuration;

    @Option(names = "--in", paramLabel = "DIR", description = "Directory to list (default: snapshots.directory).")
    private Path directory;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        ClusterSettings settings = ClusterSettings.load(configuration.file(), System.getenv(), configuration.values());
        List<SnapshotFile> all = new SnapshotDirectory(Optional.ofNullable(directory)
                        .or(() -> settings.snapshots().directory())
                        .orElseThrow(() -> new ParameterException(
                                spec.commandLine(), "specify --in, or snapshots.directory in the configuration")))
                .list();
        TextTable table = new TextTable("TAKEN", "BYTES", "UPLOADED", "FILE");
        for (SnapshotFile file : all) {
            table.row(
                    file.taken().truncatedTo(ChronoUnit.SECONDS).toString(),
                    Long.toString(file.bytes()),
                    file.isUploaded() ? "yes" : "no",
                    file.path().toString());
        }
        PrintWriter out = spec.commandLine().getOut();
        table.lines().forEach(out::println);
        out.flush();
        return ExitCode.OK;
    }
}
