package io.understudy.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy etcd}: the etcd programs that the lab and the tests run. */
@Command(
        name = "etcd",
        description = "Find or fetch the etcd programs that the lab and the tests run.",
        synopsisSubcommandLabel = "COMMAND")
final class EtcdCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }

    /** Prints the path of {@code etcd} as its last line, for use in scripts. */
    @Command(name = "path", description = "Print the path of etcd, fetching it first if this machine has none.")
    int path() {
        spec.commandLine().getErr().println("understudy etcd path: this build has no etcd finder");
        return ExitCode.SOFTWARE;
    }
}
