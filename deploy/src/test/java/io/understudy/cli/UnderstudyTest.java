package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;

/** Tests invariant DP1. */
final class UnderstudyTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void versionGoesToStandardOutputAsOneLine() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).startsWith("understudy ").hasLineCount(1);
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void aLostResultIsAFailure() {
        Writer full = new Writer() {
            @Override
            public void write(char[] text, int from, int length) throws IOException {
                throw new IOException("No space left on device");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        assertThat(Understudy.run(new PrintWriter(full), new PrintWriter(err, true), "version"))
                .isEqualTo(1);
        assertThat(err.toString()).isEqualToIgnoringNewLines("understudy: cannot write the output");
    }

    /** logback takes any other word for debug. */
    @Test
    void anUnknownLogLevelOrFormatIsRefused() {
        assertThat(Understudy.wrongLog(Map.of())).isEmpty();
        assertThat(Understudy.wrongLog(Map.of("UNDERSTUDY_LOG_LEVEL", ""))).isEmpty();
        assertThat(Understudy.wrongLog(Map.of("UNDERSTUDY_LOG_LEVEL", "WARN", "UNDERSTUDY_LOG_FORMAT", "json")))
                .isEmpty();
        assertThat(Understudy.wrongLog(Map.of("UNDERSTUDY_LOG_LEVEL", "warning")))
                .contains("UNDERSTUDY_LOG_LEVEL is 'warning'; allowed: trace, debug, info, warn, error, off");
        assertThat(Understudy.wrongLog(Map.of("UNDERSTUDY_LOG_FORMAT", "xml")))
                .contains("UNDERSTUDY_LOG_FORMAT is 'xml'; allowed: text, json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "mirror --help", "cluster snapshot save --help", "help etcd path"})
    void helpGoesToStandardOutput(String arguments) {
        assertThat(run(arguments.split(" "))).isZero();
        assertThat(out.toString()).startsWith("Usage: understudy");
        assertThat(err.toString()).isEmpty();
    }

    /** Else watchers of the old cluster miss changes without an error. */
    @ParameterizedTest
    @CsvSource({"cluster, restore,", "mirror, init-target, 1000000000"})
    void aRestoredClusterIsAheadOfAllClients(String group, String name, String byDefault) {
        CommandLine command = Understudy.commandLine(group, name)
                .getSubcommands()
                .get(group)
                .getSubcommands()
                .get(name);

        assertThat(command.getCommandSpec().findOption("--bump-revision").defaultValue())
                .isEqualTo(byDefault);
    }

    @Test
    void theVersionIsACommandToo() {
        assertThat(run("version")).isZero();
        String line = out.toString();
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).isEqualTo(line + line);
        assertThat(run("version", "--output=json")).isZero();
        assertThat(out.toString()).contains("\"version\" : ");
    }

    @ParameterizedTest
    @CsvSource({
        "mirror failover --config=a --patience=1ms, --patience has a new name: --timeout, '1ms' is not allowed; allowed: a duration of 1s to 365d",
        "cluster restore --config=a --timeout x, --timeout has a new name: --start-timeout, --start-timeout",
        "cluster add m4 --start-patience=x, --start-patience has a new name: --start-timeout, --start-timeout"
    })
    void aFormerFlagWorksWithAWarning(String arguments, String warning, String error) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString().lines().toList())
                .hasSize(2)
                .satisfiesExactly(first -> assertThat(first).endsWith(warning), second -> assertThat(second)
                        .contains(error));
    }

    @ParameterizedTest
    @CsvSource({
        "mirror failover --config=a --patience=1s --timeout=1s, --timeout, --patience",
        "mirror failover --config=a --timeout 1s --patience 1s, --timeout, --patience",
        "cluster restore --config=a --start-timeout=1s --timeout=1s, --start-timeout, --timeout",
        "cluster add m4 --peer-url=http://a --peer-urls=http://b --start-patience=1s --start-timeout=1s, "
                + "--start-timeout, --start-patience"
    })
    void aFlagByBothOfItsNamesIsNamedByBoth(String arguments, String name, String former) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString())
                .contains(name + " and " + former + ", its former name, are the same option; specify it once");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--no-such-flag",
                "nonsense",
                "gateway",
                "mirror",
                "mirror --config",
                "mirror status --output=xml",
                "mirror status --url=http://127.0.0.1:1 --config=mirror.yaml",
                "mirror status --set=status.listen=127.0.0.1:1",
                "mirror verify",
                "mirror translate",
                "mirror translate --revision=-1",
                "mirror translate --revision=1 --url=http://127.0.0.1:1 --config=mirror.yaml",
                "cluster",
                "cluster status",
                "cluster status --cacert=ca.crt",
                "cluster roll --endpoints=http://127.0.0.1:2379 --to-version=abc",
                "cluster roll --endpoints=http://127.0.0.1:2379 --to-version=3.6.16 --program=/nowhere",
                "cluster roll --endpoints=http://127.0.0.1:2379 --program=/nowhere",
                "cluster status --endpoints=http://127.0.0.1:2379 --output=xml",
                "etcd",
                "etcd path extra",
                "lab --dr-port=70000",
                "lab --output=xml",
                "config",
                "config check",
                "config check /no/such.yaml",
                "config reference nonsense"
            })
    void badUsageIsRejectedInOneLineThatPointsToTheHelp(String arguments) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString()).startsWith("understudy").contains("--help").hasLineCount(1);
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "mirror translate --revision x, 'x' is not allowed; allowed: an integer of 0 to",
                "mirror translate --revision 1 --url 127.0.0.1:8081, '127.0.0.1:8081' is not allowed; allowed: a URL with http:// or",
                "health --url http://my_gw:2379, 'http://my_gw:2379' has no valid host or port; a host name must not contain '_'",
                "cluster restore --config a --bump-revision -5, '-5' is not allowed; allowed: an integer of 0 to",
                "mirror switchover --config a --max-lag x, 'x' is not allowed; allowed: an integer of 0 to",
                "cluster scale x --config a, Invalid value for N: 'x' is not allowed",
                "help clster, unknown command 'clster'; did you mean cluster?",
                "health --ulr http://x, unknown option '--ulr'; did you mean --url? (see",
                "pki init --days abc, 'abc' is not allowed; allowed: an integer of 1 to 36500",
                "pki issue a --days 0 --for client --common-name a, '0' is not allowed; allowed: an integer of 1 to 36500",
                "cluster snapshot list, specify --in or --config",
                "cluster snapshot list --in /no/such, --in is /no/such: no such directory",
                "cluster snapshot verify /no/such, /no/such: no such file",
                "cluster status --endpoints=, --endpoints has an empty URL",
                "cluster status --endpoints=x --user root:secret, --user is a name without a password; specify --password-file"
            })
    void anInvalidOptionValueIsReportedWithoutAnException(String arguments, String why) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains(why).hasLineCount(1).doesNotContain("Exception");
    }

    @Test
    void aConfigurationThatIsNotThereIsNamed(@TempDir Path folder) {
        Path none = folder.resolve("none.yaml");
        for (String command :
                List.of("mirror status", "mirror verify", "mirror failback", "cluster status", "gateway")) {
            assertThat(run((command + " --config " + none).split(" "))).isEqualTo(2);
        }
        assertThat(err.toString()).contains(none + ": no such file").doesNotContain("Exception");
    }

    @Test
    void withoutArgumentsItShowsWhatItCanDoAndHowToStart() {
        assertThat(run()).isZero();
        assertThat(out.toString())
                .startsWith("Usage: understudy")
                .contains("  gateway  ", "  mirror  ", "  cluster  ", "Examples:", "To start: 'understudy lab'");
    }

    @ParameterizedTest
    @CsvSource({
        "gatway, gateway",
        "mirror statsu, status",
        "mirror verify --config=a --miror=b, --mirror",
        "cluster status --endpoint=http://127.0.0.1:2379, --endpoints",
        "lab --data-dri=x, --data-dir"
    })
    void whatWasMeantIsSuggested(String arguments, String meant) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains("did you mean ").contains(meant).hasLineCount(1);
    }

    static Stream<CommandLine> commands() {
        return below(Understudy.commandLine());
    }

    private static Stream<CommandLine> below(CommandLine command) {
        return Stream.concat(
                Stream.of(command), command.getSubcommands().values().stream().flatMap(UnderstudyTest::below));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void eachCommandHasExamples_andTakesThem(CommandLine command) {
        assertThat(CommandModel.examples(command.getCommandSpec()))
                .as(command.getCommandSpec().qualifiedName())
                .isNotEmpty();
        assertThat(command.getUsageMessage()).contains("Examples:");
        for (String example : CommandModel.examples(command.getCommandSpec())) {
            String[] words = example.split(" ", -1);
            assertThat(words[0]).isEqualTo("understudy");
            String[] arguments = Arrays.copyOfRange(words, 1, words.length);
            var unused = Understudy.commandLine(arguments).parseArgs(arguments);
        }
    }

    @Test
    void outputWithoutATerminalIsPlainText() {
        assertThat(run("mirror", "--help")).isZero();
        assertThat(out.toString()).doesNotContain("\u001b");
    }

    @Test
    void aMissingTlsFileIsReportedAsAConfigurationError(@TempDir Path folder) throws IOException {
        Path none = folder.resolve("ca.crt");
        Path file = Files.writeString(folder.resolve("mirror.yaml"), """
                status: {listen: 127.0.0.1:0}
                mirrors:
                  dr:
                    source: {endpoints: https://127.0.0.1:1, tls: {trusted: %s}}
                    target: {etcd: {endpoints: http://127.0.0.1:2}}
                """.formatted(none));

        assertThat(run("mirror", "--config", file.toString())).isEqualTo(2);
        assertThat(err.toString())
                .endsWith("understudy mirror: mirrors.dr.source.tls: " + none + ": no such file"
                        + System.lineSeparator());
    }

    @Test
    void aConfigurationIsChecked(@TempDir Path folder) throws IOException {
        for (String kind : List.of("gateway", "mirror", "cluster")) {
            assertThat(run("config", "check", "dist/src/main/dist/conf/" + kind + ".yaml"))
                    .isZero();
            assertThat(out.toString()).contains("configures a " + kind);
        }
        Path broken = Files.writeString(folder.resolve("broken.yaml"), """
                mirrors:
                  dr:
                    source:
                      endpoints: http://127.0.0.1:2379
                      requestTimout: 2s
                    target:
                      etcd:
                        endpoints: nonsense
                """);
        out.getBuffer().setLength(0);
        assertThat(run("config", "check", broken.toString())).isEqualTo(1);
        assertThat(out.toString())
                .hasLineCount(2)
                .contains("mirrors.dr.source.requestTimout is not a known setting; did you mean")
                .contains("mirrors.dr.target.etcd.endpoints cannot be 'nonsense'");
        assertThat(run("config", "check", "--kind=gateway", broken.toString())).isEqualTo(1);
    }

    /** It is likelier than a key of another group. */
    @Test
    void aKeyWithoutItsGroupIsSuggestedInIt(@TempDir Path folder) throws IOException {
        Path mirror = Files.writeString(folder.resolve("mirror.yaml"), """
                mirrors:
                  dr: {source: {endpoints: http://127.0.0.1:1}, target: {endpoints: http://127.0.0.1:2}}
                """);
        assertThat(run("config", "check", mirror.toString())).isEqualTo(1);
        assertThat(out.toString())
                .contains("mirrors.dr.target.endpoints is not a known setting; did you mean"
                        + " mirrors.dr.target.etcd.endpoints?");
    }

    @Test
    void problemsNameTheFile_theLineAndWhatIsAllowed(@TempDir Path folder) throws Exception {
        Path binary = Files.write(folder.resolve("binary.yaml"), new byte[] {'a', ':', ' ', (byte) 0xff, '\n'});
        Path tab = Files.writeString(folder.resolve("tab.yaml"), "listen: 127.0.0.1:1\n\tx: 1\n");
        Path empty = Files.writeString(folder.resolve("empty.yaml"), "# nothing\n\n");
        Path port = Files.writeString(folder.resolve("port.yaml"), "listen: 127.0.0.1:99999\n");
        Path mirror = Files.writeString(
                folder.resolve("mirror.yaml"), "mirrors: {copy: {source: {endpoints: http://127.0.0.1:1}}}");
        Path none = folder.resolve("none.yaml");

        assertThat(run("config", "check", "" + binary, "" + tab, "" + empty, "" + port, "" + none, "" + folder))
                .isEqualTo(2);
        assertThat(out.toString().lines())
                .contains(
                        binary + ": cannot be read: not UTF-8",
                        empty + ": is empty",
                        none + ": no such file",
                        folder + ": is a directory")
                .anyMatch(line -> line.startsWith(tab + ":2:1: is not valid YAML"))
                .anyMatch(
                        line -> line.startsWith(port + ":1:1: ") && line.contains("port must be 0 to 65535, is 99999"))
                .allMatch(line -> line.startsWith(folder.toString()) && !line.contains("Exception"));

        out.getBuffer().setLength(0);
        assertThat(run("config", "check", "" + mirror, "" + port, "--output=json"))
                .isEqualTo(1);
        JsonNode results = new JsonMapper().readTree(out.toString());
        JsonNode unset = results.path(0).path("problems").path(0);
        assertThat(unset.path("file").asText()).isEqualTo(mirror.toString());
        assertThat(unset.path("line").isNull()).isTrue();
        JsonNode invalid = results.path(1).path("problems").path(0);
        assertThat(invalid.path("line").asInt()).isEqualTo(1);
        assertThat(invalid.path("key").asText()).isEqualTo("listen");
        assertThat(invalid.path("message").asText()).contains("99999");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a: \u00ff\n", "listen: 127.0.0.1:1\0\n"})
    void aFileThatIsNoTextCannotBeRead(String content, @TempDir Path folder) throws IOException {
        Path binary = Files.write(folder.resolve("binary.yaml"), content.getBytes(StandardCharsets.ISO_8859_1));

        assertThat(run("config", "check", binary.toString())).isEqualTo(2);
        assertThat(out.toString()).startsWith(binary + ": cannot be read: not ").hasLineCount(1);
    }

    @Test
    void anUnknownNameBelowANamedGroupIsSuggested(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("mirror.yaml"), """
                mirrors:
                  a-rather-long-name-of-a-mirror:
                    source: {endpoints: "http://127.0.0.1:1", user: a, pasword: b}
                """);
        assertThat(run("config", "check", "--kind=mirror", file.toString())).isEqualTo(1);
        assertThat(out.toString()).contains("did you mean mirrors.a-rather-long-name-of-a-mirror.source.password?");
    }

    @Test
    void severalFilesAreChecked(@TempDir Path folder) throws Exception {
        Path broken = Files.writeString(folder.resolve("broken.yaml"), "listen: nowhere");

        assertThat(run("config", "check", "dist/src/main/dist/conf/gateway.yaml", broken.toString(), "--output=json"))
                .isEqualTo(1);
        JsonNode results = new JsonMapper().readTree(out.toString());
        assertThat(results.findValuesAsText("kind")).containsExactly("gateway", "gateway");
        assertThat(results.path(0).path("problems")).isEmpty();
        assertThat(results.path(1).path("problems")).isNotEmpty();
    }

    @Test
    void aFormerKeyIsReportedOnce(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("mirror.yaml"), """
                mirrors:
                  log:
                    source: {endpoints: "http://127.0.0.1:2379"}
                    target: {kafka: {bootstrapServers: "127.0.0.1:9092", topic: log}}
                """);
        Logger logger = (Logger) LoggerFactory.getLogger("io.understudy");
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        try {
            assertThat(run("config", "check", file.toString())).isZero();
        } finally {
            logger.detachAppender(logged);
        }
        assertThat(logged.list).extracting(ILoggingEvent::getMessage).containsExactly("setting has a new name");
    }

    @Test
    void aConfigurationMayComeByAPipe(@TempDir Path folder) throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        Process writer = new ProcessBuilder(
                        "sh",
                        "-c",
                        "printf 'source: {endpoints: \"http://127.0.0.1:2379\"}\\nlisten: nowhere\\n' >\"$0\"",
                        pipe.toString())
                .start();
        try {
            assertThat(run("config", "check", pipe.toString())).isEqualTo(1);
        } finally {
            writer.destroy();
        }
        assertThat(out.toString()).startsWith(pipe + ":").contains("listen").hasLineCount(1);
    }

    @Test
    void aMetricThatThereIsNotIsBadUsage() {
        assertThat(run("metrics", "nosuch")).isEqualTo(2);
        assertThat(err.toString())
                .contains("no metric name contains 'nosuch'", "understudy.gateway", "understudy.cluster")
                .hasLineCount(1);
        assertThat(run("metrics", "gateway_ready", "--output=text")).isZero();
        assertThat(err.toString()).contains("--output text has a new name: --output table");
        assertThat(out.toString()).startsWith("understudy_gateway_ready ");
    }

    @Test
    void theReferenceListsSettings() {
        assertThat(run("config", "reference", "gateway")).isZero();
        assertThat(out.toString()).contains("UNDERSTUDY_SOURCE_ENDPOINTS");
        assertThat(run("config", "reference")).isZero();
        assertThat(out.toString()).contains("## mirror\n", "## cluster\n");
    }

    @Test
    void shellsLearnTheCommands() {
        assertThat(run("generate-completion")).isZero();
        assertThat(out.toString()).contains("_picocli_understudy_mirror_verify", "'--config'");
    }

    @Test
    void fishLearnsTheCommands() {
        assertThat(run("generate-completion", "--shell=fish")).isZero();
        assertThat(out.toString().lines())
                .contains(
                        "complete -c understudy -n \"__understudy_at cluster\" -a add"
                                + " -d 'Add a member as a learner and promote it once it is in sync'",
                        "complete -c understudy -n \"__understudy_at cluster add\" -l dry-run -d 'Print the plan and exit'")
                .anyMatch(line -> line.contains("__understudy_at cluster add\" -l output -x -a 'table json' -d"))
                .anyMatch(line -> line.contains("__understudy_at gateway\" -l config -r -F -d"))
                .anyMatch(line -> line.contains("__understudy_at config check\" -F -d"));
    }

    @Test
    void commandsAndChoicesAreCompletedAsInTheHelp() {
        assertThat(run("generate-completion")).isZero();
        assertThat(out.toString())
                .contains(
                        "(\"table\" \"json\")",
                        "(\"roles\" \"corrupt-alarm\" \"auth-enable\")",
                        "local commands=\"gateway mirror ")
                .containsPattern(
                        "function _picocli_understudy_help_cluster\\(\\) \\{(?s).{0,100} commands=\"status create add ")
                .doesNotContain("TABLE", "CORRUPT");
    }

    private int run(String... arguments) {
        return Understudy.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
