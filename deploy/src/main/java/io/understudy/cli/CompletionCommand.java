package io.understudy.cli;

import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code understudy generate-completion}: what shells are told to complete commands and flags. */
@Command(
        name = "generate-completion",
        description = "Print a completion script for bash, and for zsh with bashcompinit.")
final class CompletionCommand implements Runnable {

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        CommandLine all = Understudy.commandLine();
        spec.commandLine().getOut().print(AutoComplete.bash(all.getCommandName(), all));
        spec.commandLine().getOut().flush();
    }
}
