package io.understudy.cli;

import io.understudy.cluster.machine.ConfiguredMachines;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.cluster.supervise.SupervisorProcess;
import io.understudy.local.binary.EtcdBinaries;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster supervise}: holds a cluster to its declared shape until it is told to stop. */
@Command(
        name = "supervise",
        description =
                "Run a supervisor that keeps a cluster in its declared shape. Of several supervisors, one is active.",
        subcommands = {
            ClusterSuperviseStatusCommand.class,
            ClusterSupervisePauseCommand.class,
            ClusterSuperviseResumeCommand.class
        })
final class ClusterSuperviseCommand implements Callable<Integer> {

    /** Above what a step under way takes to be answered. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(25);

    // Not the mixin: what is required there would be so for the sub-commands, too.
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration file (YAML). UNDERSTUDY_... variables override it.")
    private Path file;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Override one setting, such as shape.deadTime=1m. Repeatable.")
    private final Map<String, String> values = new LinkedHashMap<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        if (file == null) {
            throw new ParameterException(spec.commandLine(), "Missing required option: '--config=FILE'");
        }
        return Foreground.hold(this::start, running -> new CompletableFuture<>(), CLOSE_DEADLINE);
    }

    private SupervisorProcess start() throws Exception {
        ClusterSettings settings = ClusterSettings.load(file, System.getenv(), values);
        ConfiguredMachines machines = ConfiguredMachines.of(
                settings.machines(),
                () -> EtcdBinaries.find().etcd(),
                spec.commandLine().getOut()::println,
                InstantSource.system());
        return SupervisorProcess.start(settings, machines, SnapshotTool::find);
    }
}
