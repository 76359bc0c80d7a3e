package io.understudy.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The completion script for fish, from the model of the commands. */
final class FishCompletion {

    /** Follows the words before the cursor down the commands; values of flags name none. */
    private static final String HEAD = """
            # Completion of understudy for fish.
            function __understudy_at
                set -l path ''
                for word in (commandline -opc)[2..-1]
                    set -l next (string trim "$path $word")
                    contains -- $next %s; and set path $next
                end
                test "$path" = "$argv"
            end
            complete -c understudy -f
            """;

    private final StringBuilder text = new StringBuilder();
    private final List<String> paths = new ArrayList<>();

    private FishCompletion() {}

    static String of(CommandSpec root) {
        FishCompletion completion = new FishCompletion();
        completion.append(root, "");
        return HEAD.formatted(String.join(
                        " ",
                        completion.paths.stream().map(FishCompletion::quoted).toList()))
                + completion.text;
    }

    private void append(CommandSpec command, String path) {
        for (CommandLine below : command.subcommands().values()) {
            CommandSpec next = below.getCommandSpec();
            line(path, "-a " + next.name(), first(next.usageMessage().description()));
        }
        for (OptionSpec option : command.options()) {
            if (!option.hidden()) {
                line(path, flag(option), first(option.description()));
            }
        }
        for (PositionalParamSpec parameter : command.positionalParameters()) {
            if (isFile(parameter)) {
                line(path, "-F", first(parameter.description()));
            }
        }
        for (CommandLine below : command.subcommands().values()) {
            String next = (path + " " + below.getCommandSpec().name()).strip();
            paths.add(next);
            append(below.getCommandSpec(), next);
        }
    }

    private void line(String path, String what, String description) {
        text.append("complete -c understudy -n \"__understudy_at ")
                .append(path)
                .append("\" ")
                .append(what)
                .append(" -d ")
                .append(quoted(description))
                .append('\n');
    }

    private static String flag(OptionSpec option) {
        StringBuilder flag = new StringBuilder();
        for (String name : option.names()) {
            flag.append(name.startsWith("--") ? "-l " + name.substring(2) : "-s " + name.substring(1))
                    .append(' ');
        }
        if (option.arity().max() == 0) {
            return flag.toString().strip();
        }
        if (option.completionCandidates() != null) {
            return flag + "-x -a " + quoted(String.join(" ", option.completionCandidates()));
        }
        return flag + (isFile(option) ? "-r -F" : "-x");
    }

    private static boolean isFile(ArgSpec argument) {
        return argument.auxiliaryTypes()[0] == Path.class;
    }

    /** Returns the first sentence of a description. */
    private static String first(String[] description) {
        String text = description.length == 0 ? "" : Ansi.OFF.string(description[0]);
        return text.split("(?<=[^.])\\.(?: |$)| \\(default", 2)[0];
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
