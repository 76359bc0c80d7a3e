package io.understudy.cli;

import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy mirror}: runs one mirror process until it is told to stop. */
@Command(
        name = "mirror",
        description = "Run mirrors that replicate commits to another etcd cluster or to Kafka.",
        subcommands = {
            MirrorStatusCommand.class,
            MirrorVerifyCommand.class,
            MirrorTranslateCommand.class,
            MirrorInitTargetCommand.class,
            MirrorSwitchoverCommand.class,
            MirrorFailoverCommand.class,
            MirrorFailbackCommand.class,
            MirrorRejoinCommand.class,
            MirrorReleaseCommand.class
        })
final class MirrorCommand implements Callable<Integer> {

    /** Above what closing takes with the connections' own deadlines. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(20);

    // Not the mixin: what is required there would be so for the sub-commands, too.
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration file (YAML). UNDERSTUDY_... variables override it.")
    private Path file;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Override one setting, such as status.listen=127.0.0.1:8082. Repeatable.")
    private final Map<String, String> values = new LinkedHashMap<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        if (file == null) {
            throw new ParameterException(spec.commandLine(), "Missing required option: '--config=FILE'");
        }
        return Foreground.hold(
                () -> MirrorProcess.start(MirrorConfiguration.load(file, System.getenv(), values)),
                running -> {
                    SnapshotBars.show(running::reports);
                    return new CompletableFuture<Void>();
                },
                CLOSE_DEADLINE);
    }
}
