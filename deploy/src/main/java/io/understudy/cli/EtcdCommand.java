package io.understudy.cli;

import io.understudy.local.binary.EtcdBinaries;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy etcd}: the etcd programs that the lab and the tests run. */
@Command(
        name = "etcd",
        description = "Find or download the etcd binaries used by the lab and the tests.",
        synopsisSubcommandLabel = "COMMAND")
final class EtcdCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is required");
    }

    /** Prints the path of {@code etcd} as its last line, for use in scripts. */
    @Command(name = "path", description = "Print the path of etcd; download it first if it is not installed.")
    void path() {
        PrintWriter err = spec.commandLine().getErr();
        EtcdBinaries found = EtcdBinaries.find(step -> {
            err.println(step);
            err.flush();
        });
        spec.commandLine().getOut().println(found.etcd());
    }
}
