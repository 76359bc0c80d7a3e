package io.understudy.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy bench}: figures beside those of the peers. */
@Command(
        name = "bench",
        description = "Benchmark against etcd's own tools on this machine.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            BenchReadsCommand.class,
            BenchWatchCommand.class,
            BenchMirrorCommand.class,
            BenchKafkaCommand.class,
            BenchClusterCommand.class
        })
final class BenchCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is required");
    }
}
