package io.understudy.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy config}: what configuration files may say, and whether one says it. */
@Command(
        name = "config",
        description = "Validate configuration; list settings.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {ConfigCheckCommand.class, ConfigReferenceCommand.class})
final class ConfigCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is required");
    }
}
