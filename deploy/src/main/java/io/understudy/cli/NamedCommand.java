package io.understudy.cli;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * The command that the first argument names, without the others: a start takes a fifth longer where picocli has to find out
 * the flags of every command first. Help, and mistakes with which one may have meant another, are left to the whole.
 */
final class NamedCommand {

    private final CommandLine line;

    private NamedCommand(CommandLine line) {
        this.line = line;
    }

    /** The one below {@code root} that is named; empty if none is. */
    static Optional<NamedCommand> of(Class<?> root, String... arguments) {
        Command above = root.getAnnotation(Command.class);
        return Arrays.stream(above.subcommands())
                .filter(each -> arguments.length > 0 && nameOf(each).equals(arguments[0]))
                .findFirst()
                .map(each ->
                        new NamedCommand(new CommandLine(CommandSpec.create().name(above.name()))
                                .addSubcommand(new CommandLine(each))
                                // Those that are not known here may be in the whole.
                                .setUnmatchedOptionsAllowedAsOptionParameters(false)));
    }

    private static String nameOf(Class<?> command) {
        return command.getAnnotation(Command.class).name();
    }

    /** The command line that has nothing but this command. */
    CommandLine commandLine() {
        return line;
    }

    /** Runs it, and returns the exit status; does nothing if it doesn't understand the arguments. */
    OptionalInt execute(String... arguments) {
        try {
            // What is wrong with them otherwise the command finds when it runs.
            var unused = line.parseArgs(arguments);
        } catch (ParameterException e) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(line.execute(arguments));
    }
}
