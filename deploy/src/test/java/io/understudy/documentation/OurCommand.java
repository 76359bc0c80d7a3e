package io.understudy.documentation;

import io.understudy.cli.Commands;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParseResult;

/** A command of ours as it is written down, held against the real command line, which doesn't run it. */
final class OurCommand {

    private static final Set<String> NAMES = Set.of("understudy", "deploy/understudy", "bin/understudy");
    private static final Pattern OPTIONAL = Pattern.compile("\\[([^\\[\\]]*)]");
    private static final Pattern PLACEHOLDER = Pattern.compile("[A-Z][A-Z,]*…?|<[^>]*>|…");

    /** Values for a placeholder: one of them is of the kind that an option or parameter takes. */
    private static final List<String> VALUES = List.of("1", "x", "1s", "http://127.0.0.1:1");

    private OurCommand() {}

    static boolean is(String line) {
        List<String> words = Shell.words(line);
        // Benchmarks have a command line and a test of their own.
        return !words.isEmpty()
                && NAMES.contains(words.get(0))
                && (words.size() == 1 || !words.get(1).equals("bench"));
    }

    private static final CommandLine LENIENT = lenient();

    /** A parameter that is missing does not hide an option that doesn't exist. */
    private static CommandLine lenient() {
        CommandLine command = Commands.understudy();
        tree(command).forEach(each -> each.getCommandSpec().parser().collectErrors(true));
        return command;
    }

    /** The faults of a command that can be typed, but for placeholders; brackets are around optional parts. */
    static List<String> faults(String line) {
        return readings(line).flatMap(reading -> faults(reading, true)).toList();
    }

    /** The same of one that only names a command, or some of what it takes. */
    static List<String> faultsOfMention(String line) {
        return readings(line).flatMap(reading -> faults(reading, false)).toList();
    }

    /** Every option of every command, by all its names. */
    static Set<String> options() {
        Set<String> names = new HashSet<>(Commands.renamed());
        tree(Commands.understudy())
                .forEach(command ->
                        command.getCommandSpec().options().forEach(option -> names.addAll(List.of(option.names()))));
        return names;
    }

    /** All that can be typed: with and without what is in brackets, and each of what has a bar between. */
    private static Stream<String> readings(String line) {
        Matcher optional = OPTIONAL.matcher(line);
        if (optional.find()) {
            return Stream.concat(Stream.of(""), Stream.of(optional.group(1).split(" \\| ", -1)))
                    .map(each -> line.substring(0, optional.start()) + each + line.substring(optional.end()))
                    .flatMap(OurCommand::readings);
        }
        for (String word : Shell.words(line)) {
            if (word.contains("|")) {
                return Stream.of(word.split("\\|", -1))
                        .map(each -> line.replace(word, each))
                        .flatMap(OurCommand::readings);
            }
        }
        return Stream.of(line);
    }

    private static Stream<String> faults(String reading, boolean whole) {
        List<String> faults = List.of();
        for (String value : VALUES) {
            faults = faultsOf(arguments(reading, value), whole);
            if (faults.isEmpty()) {
                return Stream.empty();
            }
        }
        // An ellipsis may also replace all that follows.
        if (!whole && reading.endsWith(" …")) {
            return faults(reading.substring(0, reading.length() - 2), false);
        }
        return faults.stream().map(fault -> reading + ": " + fault);
    }

    private static List<String> arguments(String reading, String value) {
        return Shell.words(reading).stream()
                .skip(1)
                .map(word -> {
                    int equals = word.startsWith("--") ? word.indexOf('=') + 1 : 0;
                    return PLACEHOLDER.matcher(word.substring(equals)).matches()
                            ? word.substring(0, equals) + value
                            : word;
                })
                .toList();
    }

    private static List<String> faultsOf(List<String> arguments, boolean whole) {
        ParseResult parsed = LENIENT.parseArgs(arguments.toArray(String[]::new));
        List<String> faults = new ArrayList<>();
        while (true) {
            parsed.errors().stream()
                    .filter(error -> whole || !(error instanceof MissingParameterException))
                    .map(Exception::getMessage)
                    .forEach(faults::add);
            parsed.unmatched().forEach(unmatched -> faults.add("unknown: " + unmatched));
            if (!parsed.hasSubcommand()) {
                break;
            }
            parsed = parsed.subcommand();
        }
        boolean isGroup = !parsed.commandSpec().subcommands().isEmpty()
                && parsed.commandSpec().parent() != null;
        if (whole && isGroup && parsed.matchedArgs().isEmpty()) {
            faults.add("a command is required");
        }
        return faults;
    }

    private static Stream<CommandLine> tree(CommandLine command) {
        return Stream.concat(
                Stream.of(command), command.getSubcommands().values().stream().flatMap(OurCommand::tree));
    }
}
