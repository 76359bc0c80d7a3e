package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.config.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Conventions of etcdctl and kubectl, for each command of the model. */
final class CommandConventionsTest {

    /** Commands that run until a signal, or print a script or help. */
    private static final Set<String> WITHOUT_RESULT = Set.of(
            "understudy gateway",
            "understudy mirror",
            "understudy cluster supervise",
            "understudy generate-completion",
            "understudy help");

    private static final String CONFIG = "Configuration file (YAML). UNDERSTUDY_... variables override it.";

    private static final List<String> NUMBERS = List.of("-1", "9223372036854775807", "x");
    private static final List<String> DURATIONS = List.of("0s", "-1s", "99999999999999h", "366d");

    /** Values that are not allowed, by type. */
    private static final Map<Class<?>, List<String>> REFUSED = Map.of(
            int.class, NUMBERS,
            Integer.class, NUMBERS,
            long.class, NUMBERS,
            Long.class, NUMBERS,
            Duration.class, DURATIONS,
            Instant.class, List.of("0", "x"),
            URI.class, List.of("x", "http://"));

    private static final Pattern RANGE = Pattern.compile("allowed: an? (?:integer|duration) of (\\w+) to (\\w+)");

    private static final CommandLine UNDERSTUDY = Understudy.commandLine();

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    static Stream<String> all() {
        return below(UNDERSTUDY.getCommandSpec())
                .filter(command -> command.parent() != null)
                .map(CommandSpec::qualifiedName);
    }

    static Stream<String> printing() {
        return below(UNDERSTUDY.getCommandSpec())
                .filter(command -> command.subcommands().isEmpty())
                .map(CommandSpec::qualifiedName)
                .filter(name -> !WITHOUT_RESULT.contains(name));
    }

    private static Stream<CommandSpec> below(CommandSpec command) {
        return Stream.concat(
                Stream.of(command),
                command.subcommands().values().stream().flatMap(each -> below(each.getCommandSpec())));
    }

    /** Only the command that is run is inspected. */
    @ParameterizedTest
    @MethodSource("all")
    void aCommandIsTheSameIfOnlyItIsInspected(String name) {
        List<String> words = List.of(name.split(" "));
        CommandLine whole = UNDERSTUDY;
        CommandLine alone =
                Understudy.commandLine(words.subList(1, words.size()).toArray(String[]::new));
        for (String word : words.subList(1, words.size())) {
            whole = whole.getSubcommands().get(word);
            alone = alone.getSubcommands().get(word);
        }
        // The order of a lab's ports and --help depends on which model is completed first.
        assertThat(alone.getUsageMessage(Ansi.OFF).lines())
                .containsExactlyInAnyOrderElementsOf(
                        whole.getUsageMessage(Ansi.OFF).lines().toList());
    }

    @ParameterizedTest
    @MethodSource("printing")
    void resultsAreATableOrJson(String name) {
        OptionSpec output = option(name, "--output");
        assertThat(output.paramLabel()).startsWith("table|json");
        assertThat(output.defaultValue()).isEqualTo("table");
    }

    @ParameterizedTest
    @MethodSource("printing")
    void anErrorIsJsonOnStandardOutput(String name) throws Exception {
        assertThat(run(name + " --output json --no-such-flag")).isEqualTo(2);

        JsonNode error = new JsonMapper().readTree(out.toString());
        assertThat(error.path("error").asText()).contains("--no-such-flag");
        assertThat(error.path("status").asInt()).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("all")
    void aFlagThatExistsIsSuggestedBesideAnyOtherError(String name) {
        assertThat(run(name + " --hepl")).isEqualTo(2);

        assertThat(err.toString()).contains("did you mean --help").hasLineCount(1);
    }

    @ParameterizedTest
    @MethodSource("all")
    void aCommandThatExistsIsSuggested(String name) {
        String last = name.substring(name.lastIndexOf(' ') + 1);

        assertThat(run(name + "x")).isEqualTo(2);
        assertThat(err.toString()).contains("did you mean ").contains(last).hasLineCount(1);
    }

    @ParameterizedTest
    @MethodSource("all")
    void helpIsACommandToo(String name) {
        assertThat(run(name.replaceFirst("understudy", "understudy help"))).isZero();

        assertThat(out.toString()).isEqualTo(command(name).commandLine().getUsageMessage(Ansi.OFF));
    }

    @ParameterizedTest
    @MethodSource("all")
    void helpIsImperative_andWithin100Columns(String name) {
        CommandSpec command = command(name);

        assertThat(command.usageMessage().description()[0]).matches("[A-Z][a-z]*[a-rt-z] .*\\.");
        assertThat(command.commandLine().getUsageMessage(Ansi.OFF).lines())
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }

    @ParameterizedTest
    @MethodSource("all")
    void aFlagHasOneFormAndOneMeaning(String name) {
        CommandSpec command = command(name);
        Set<String> flags = command.optionsMap().keySet();

        if (flags.contains("--config")) {
            assertThat(option(name, "--config").paramLabel()).isEqualTo("FILE");
            assertThat(option(name, "--config").description()).containsExactly(CONFIG);
            assertThat(flags).contains("--set");
        }
        if (flags.contains("--endpoints")) {
            assertThat(flags).contains("--config", "--cacert", "--cert", "--key", "--user", "--password-file");
        }
        if (flags.contains("--timeout")) {
            assertThat(option(name, "--timeout").description()[0]).matches("Timeout for an? \\w+ to respond.*");
        }
        assertThat(flags.stream().filter(flag -> flag.matches("--.*(patience|password)")))
                .isEmpty();
        assertThat(flags.stream().filter(flag -> flag.startsWith("--"))).allMatch(flag -> flag.matches("--[a-z0-9-]+"));
    }

    @ParameterizedTest
    @MethodSource("all")
    void aNumberOrDurationIsRefusedWithWhatIsAllowed(String name) {
        for (ArgSpec argument : command(name).args()) {
            String given = argument instanceof OptionSpec option ? option.longestName() + " " : "";
            for (String value : REFUSED.getOrDefault(argument.type(), List.of())) {
                if (given.isEmpty() && value.startsWith("-")) {
                    // A flag, not a value.
                    continue;
                }
                assertThat(run(name + " " + given + value + " --no-such-flag")).isEqualTo(2);
                assertThat(err.toString())
                        .as(argument + " " + value)
                        .contains("'" + value + "' is not allowed; allowed: ")
                        .contains("unknown option '--no-such-flag'")
                        .doesNotContain("java.", "Exception", "positional")
                        .hasLineCount(1);
                err.getBuffer().setLength(0);
            }
        }
    }

    /** The help states what differs from the range of other flags. */
    @ParameterizedTest
    @MethodSource("all")
    void aRangeIsTheSameInHelpAndErrors(String name) {
        for (ArgSpec argument : command(name).args()) {
            if (argument.type() == Duration.class || NUMBERS.equals(REFUSED.get(argument.type()))) {
                String given = argument instanceof OptionSpec option ? " " + option.longestName() + "=" : " ";
                Matcher range = RANGE.matcher(refusal(name + given + "x"));
                assertThat(range.find()).as(argument.toString()).isTrue();
                List<String> beyond = argument.type() == Duration.class
                        ? List.of(
                                Units.parseDuration(range.group(1)).toMillis() - 1 + "ms",
                                Units.parseDuration(range.group(2)).toSeconds() + 1 + "s")
                        : List.of("" + (Long.parseLong(range.group(1)) - 1), "" + (Long.parseLong(range.group(2)) + 1));
                for (String value : beyond) {
                    if (given.length() > 1 || !value.startsWith("-")) {
                        assertThat(refusal(name + given + value)).contains(range.group());
                    }
                }
                if (argument.type() == Duration.class) {
                    String help = String.join(" ", argument.description());
                    assertThat(help.contains("at least"))
                            .as(help)
                            .isEqualTo(!range.group(1).equals("1ms"))
                            .isEqualTo(help.contains("at least " + range.group(1)));
                    assertThat(help.contains("at most"))
                            .as(help)
                            .isEqualTo(!range.group(2).equals("365d"))
                            .isEqualTo(help.contains("at most " + range.group(2)));
                }
            }
        }
    }

    private String refusal(String line) {
        err.getBuffer().setLength(0);
        assertThat(run(line + " --no-such-flag")).isEqualTo(2);
        return err.toString();
    }

    @ParameterizedTest
    @MethodSource("all")
    void aWordOfAChoiceIsWrittenAsInTheHelp(String name) {
        for (ArgSpec argument : command(name).args()) {
            if (argument.paramLabel().matches("[a-z-]+(\\|[a-z-]+)+")) {
                String given = argument instanceof OptionSpec option ? option.longestName() + " " : "";
                assertThat(argument.completionCandidates())
                        .containsExactly(argument.paramLabel().split("\\|", -1));
                assertThat(run(name + " " + given + "NEITHER --no-such-flag")).isEqualTo(2);
                assertThat(err.toString())
                        .contains("'NEITHER' is not allowed; allowed: "
                                + argument.paramLabel().replace("|", ", "))
                        .hasLineCount(1);
                err.getBuffer().setLength(0);
            }
        }
    }

    /** Before a connection: a check of all flags is a usage error. */
    @ParameterizedTest
    @MethodSource("all")
    void aFileThatCannotBeRead_orADirectoryThatIsNone_isBadUsage(String name, @TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        for (OptionSpec option : command(name).options()) {
            if (option.type() == Path.class) {
                Map<String, String> refused = option.paramLabel().equals("FILE")
                        ? Map.of("" + folder.resolve("none"), "no such file", "" + folder, "is a directory")
                        : Map.of("" + file, "not a directory", "s3://bucket", "a URL; allowed: a directory");
                assertThat(option.paramLabel()).isIn("FILE", "DIR");
                refused.forEach((value, why) -> {
                    err.getBuffer().setLength(0);
                    assertThat(run(withOther(name, file, option.longestName()) + " " + option.longestName() + " "
                                    + value))
                            .isEqualTo(2);
                    assertThat(err.toString())
                            .contains(option.longestName() + " is " + value + ": " + why)
                            .hasLineCount(1);
                });
            }
        }
    }

    /** Returns the first example with existing files, and without a flag. */
    private static String withOther(String name, Path file, String flag) {
        return CommandModel.examples(command(name))
                .get(0)
                .replaceAll(" " + flag + " \\S+", "")
                .replaceAll(" --(config|snapshot) \\S+", " --$1 " + file);
    }

    @ParameterizedTest
    @MethodSource("all")
    void aDamagedCertificateIsBadUsage(String name, @TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("ca.crt"));
        Set<String> flags = command(name).optionsMap().keySet();
        if (flags.contains("--cacert")) {
            String cluster = flags.contains("--endpoints") ? " --endpoints https://127.0.0.1:1" : "";
            assertThat(run(withOther(name, file, "--config") + cluster + " --cacert " + file))
                    .isEqualTo(2);
            assertThat(err.toString()).contains("--cacert is " + file + ": ").hasLineCount(1);
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void theHelpNamesEachExitStatus(String name) {
        assertThat(command(name).usageMessage().exitCodeList()).containsKeys("0", "1", "2");
        assertThat(command(name).commandLine().getUsageMessage(Ansi.OFF)).contains("Exit status:");
    }

    /** As pasted into a shell, which joins lines that end with a backslash. */
    @ParameterizedTest
    @MethodSource("all")
    void anExampleOfTheHelpCanBePasted(String name) {
        String help = command(name).commandLine().getUsageMessage(Ansi.OFF);
        List<String> examples = help.substring(help.indexOf("Examples:"))
                .replaceAll("\\\\\\n *", "")
                .lines()
                .skip(1)
                .map(String::strip)
                .toList();

        assertThat(examples).isEqualTo(CommandModel.examples(command(name)));
        examples.forEach(example -> UNDERSTUDY.parseArgs(
                Arrays.stream(example.split(" +", -1)).skip(1).toArray(String[]::new)));
    }

    @ParameterizedTest
    @MethodSource("all")
    void noWordOfTheHelpIsBroken(String name) {
        List<String> shown =
                List.of(command(name).commandLine().getUsageMessage(Ansi.OFF).split("\\s+", -1));
        assertThat(command(name).commandLine().getUsageMessage(Ansi.ON).replaceAll("\u001b\\[[0-9;]*m", ""))
                .as("in colours")
                .isEqualTo(command(name).commandLine().getUsageMessage(Ansi.OFF));
        for (ArgSpec argument : command(name).args()) {
            assertThat(shown).contains(String.join(" ", argument.description()).split("\\s+", -1));
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void noFlagOfTheSynopsisIsBroken(String name) {
        String help = command(name).commandLine().getUsageMessage(Ansi.OFF);
        String synopsis = help.substring(
                0,
                help.indexOf(
                        "\n" + command(name).usageMessage().description()[0].substring(0, 15)));

        assertThat(synopsis.lines()).allSatisfy(line -> assertThat(line.replaceAll("[^\\[]", ""))
                .hasSameSizeAs(line.replaceAll("[^]]", "")));
    }

    private static CommandSpec command(String name) {
        CommandLine command = UNDERSTUDY;
        for (String word : name.split(" ", -1)) {
            command = word.equals("understudy")
                    ? command
                    : command.getSubcommands().get(word);
        }
        return command.getCommandSpec();
    }

    private static OptionSpec option(String name, String flag) {
        assertThat(command(name).optionsMap()).as(name).containsKey(flag);
        return command(name).optionsMap().get(flag);
    }

    private int run(String line) {
        List<String> words = Arrays.stream(line.split(" ", -1)).skip(1).collect(Collectors.toList());
        return UNDERSTUDY
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(words.toArray(String[]::new));
    }
}
