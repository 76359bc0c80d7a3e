package io.understudy.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy pki}: certificates for a lab or a small cluster. */
@Command(
        name = "pki",
        description = "Create a certificate authority and certificates for a lab or a small cluster.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {PkiInitCommand.class, PkiIssueCommand.class})
final class PkiCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is required");
    }
}
