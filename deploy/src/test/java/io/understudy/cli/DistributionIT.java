package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Runs what the build assembled, as a user would.
 *
 * <p>Tests invariants DP1, DP2.
 */
final class DistributionIT {

    private static final Path HOME = Path.of(System.getProperty("understudy.distribution"));

    @TempDir
    private Path folder;

    @Test
    void versionIsPrintedOnOneLine() throws Exception {
        Outcome outcome = run(HOME.resolve("bin/understudy"), "--version");

        assertThat(outcome.status()).isZero();
        assertThat(outcome.output()).matches("understudy \\d+\\.\\d+\\.\\d+.*\\R");
    }

    @Test
    void theBillOfMaterialsListsEveryLibraryThatRuns() throws Exception {
        JsonNode bill =
                new ObjectMapper().readTree(HOME.resolve("understudy.cdx.json").toFile());

        List<String> listed = new ArrayList<>();
        bill.path("components")
                .forEach(component -> listed.add(component.path("name").asText() + "-"
                        + component.path("version").asText()));
        assertThat(bill.path("bomFormat").asText()).isEqualTo("CycloneDX");
        try (Stream<Path> libraries = Files.list(HOME.resolve("lib"))) {
            assertThat(libraries.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".jar")))
                    .allMatch(jar -> listed.stream().anyMatch(jar::startsWith));
        }
    }

    @Test
    void badUsageIsStatusTwoAndOneLine() throws Exception {
        Outcome outcome = run(HOME.resolve("bin/understudy"), "gateway", "--nonsense");

        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.output()).startsWith("understudy gateway: ").hasLineCount(1);
    }

    @Test
    void aMissingConfigurationFileIsBadUsageAndNamed() throws Exception {
        for (String command : List.of("gateway", "mirror")) {
            Outcome outcome = run(HOME.resolve("bin/understudy"), command, "--config", "/no/such.yaml");

            assertThat(outcome.status()).isEqualTo(2);
            assertThat(outcome.output())
                    .contains("understudy " + command, "/no/such.yaml: no such file")
                    .doesNotContain("\tat ");
        }
    }

    /** Neither needs its clusters to be there. */
    @Test
    void alertsHaveTheAddressesOfTheirRunbooks() throws Exception {
        for (String copy : List.of("monitoring/alerts.yaml", "helm/understudy/manifests/alerts.yaml")) {
            assertThat(Files.readString(HOME.resolve(copy)))
                    .containsPattern("runbook_url: https://\\S+/blob/v\\d\\S+/docs/operate/runbooks.md#understudy")
                    .doesNotContain("${")
                    .contains("{{ $labels.instance }}");
        }
    }

    @ParameterizedTest
    @CsvSource({"gateway, listen rest.listen, listening", "mirror, status.listen, started"})
    void aProcessClosesOnSigtermAndExitsWithStatusZero(String command, String addresses, String sign) throws Exception {
        Path log = folder.resolve("log");
        List<String> line = new ArrayList<>(List.of(
                HOME.resolve("bin/understudy").toString(),
                command,
                "--config",
                HOME.resolve("conf").resolve(command + ".yaml").toString()));
        for (String address : addresses.split(" ", -1)) {
            line.addAll(List.of("--set", address + "=127.0.0.1:0"));
        }
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(log).content().contains(sign));
            process.destroy();

            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(log)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void theLogIsJsonIfConfigured() throws Exception {
        Path log = folder.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(
                HOME.resolve("bin/understudy").toString(),
                "gateway",
                "--config",
                HOME.resolve("conf/gateway.yaml").toString(),
                "--set",
                "source.endpoints=http://127.0.0.1:1",
                "--set",
                "listen=127.0.0.1:0",
                "--set",
                "rest.listen=127.0.0.1:0");
        builder.environment().put("UNDERSTUDY_LOG_FORMAT", "json");
        Process process =
                builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(log).content().contains("listening"));
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        ObjectMapper json = new ObjectMapper();
        for (String line : Files.readAllLines(log)) {
            JsonNode event = json.readTree(line);
            assertThat(event.path("timestamp").isIntegralNumber()).as(line).isTrue();
            assertThat(event.path("level").textValue()).isIn("INFO", "WARN", "ERROR");
            assertThat(event.path("formattedMessage").textValue()).isNotBlank();
        }
        assertThat(log).content().contains("\"formattedMessage\":\"gateway ");
    }

    @Test
    void theArchiveHasCompletionsForShells() throws Exception {
        Path completion = HOME.resolve("completion/understudy.bash");
        Outcome outcome = run(new ProcessBuilder(
                "bash",
                "-c",
                "source " + completion + " && complete -p understudy && type _picocli_understudy_mirror"));
        assertThat(outcome.status()).as(outcome.output()).isZero();
    }

    @Tag("distribution")
    @Test
    void theManualHasAPageForEachCommand_andNoOther() throws Exception {
        List<String> commands = commands()
                .map(command -> command.getCommandSpec().qualifiedName("-") + ".1")
                .toList();
        assertThat(commands).contains("understudy.1", "understudy-cluster-add.1");
        try (Stream<Path> pages = Files.list(HOME.resolve("man"))) {
            assertThat(pages.map(page -> page.getFileName().toString())).containsExactlyInAnyOrderElementsOf(commands);
        }
    }

    @Tag("distribution")
    @ParameterizedTest
    @MethodSource("commands")
    void aPageHasVersionFlagsCommandsAndExamples(CommandLine command) throws IOException {
        CommandSpec spec = command.getCommandSpec();
        String page = manual(spec.qualifiedName("-"));

        assertThat(page)
                .containsPattern("\\.TH \"\\S+\" \"1\" \"\\d{4}-\\d\\d-\\d\\d\" \"Understudy " + version() + "\"");
        assertThat(page)
                .contains(Stream.concat(
                                spec.options().stream()
                                        .filter(option -> !option.hidden())
                                        .map(OptionSpec::longestName),
                                visible(command)
                                        .map(below -> below.getCommandSpec().qualifiedName("-") + "(1)"))
                        .toList());
        assertThat(page.lines()).contains(".SH \"EXAMPLES\"").containsAll(CommandModel.examples(spec));
    }

    static Stream<CommandLine> commands() {
        return withThoseBelow(Understudy.commandLine());
    }

    private static Stream<CommandLine> withThoseBelow(CommandLine command) {
        return Stream.concat(Stream.of(command), visible(command).flatMap(DistributionIT::withThoseBelow));
    }

    private static Stream<CommandLine> visible(CommandLine command) {
        return command.getSubcommands().values().stream()
                .filter(below -> !below.getCommandSpec().usageMessage().hidden());
    }

    /** The text of a page, without the typesetter's macros, and with whole command lines. */
    private static String manual(String name) throws IOException {
        return Files.readString(HOME.resolve("man").resolve(name + ".1"))
                .replaceAll("\\\\f[BIPR]", "")
                .replace("\\-", "-")
                .replaceAll(" \\\\\\(rs\n +", " ");
    }

    private static String version() {
        return Pattern.quote(HOME.getFileName().toString().replaceFirst("understudy-", ""));
    }

    @Test
    void helpIsColouredOnTerminalsOnly_andNotAgainstNoColor() throws Exception {
        String help = HOME.resolve("bin/understudy") + " mirror --help";
        assertThat(run(new ProcessBuilder("bash", "-c", help)).output()).doesNotContain("\u001b[");
        ProcessBuilder terminal = new ProcessBuilder("script", "-qec", help, "/dev/null");
        terminal.environment().remove("NO_COLOR");
        terminal.environment().put("TERM", "xterm");
        assertThat(run(terminal).output()).contains("\u001b[");
        terminal.environment().put("NO_COLOR", "1");
        assertThat(run(terminal).output()).doesNotContain("\u001b[");
    }

    @Test
    void anUnknownFormOfTheLogIsRefused() throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder(HOME.resolve("bin/understudy").toString(), "--version");
        builder.environment().put("UNDERSTUDY_LOG_FORMAT", "xml");
        Outcome outcome = run(builder);

        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.output()).isEqualTo("understudy: UNDERSTUDY_LOG_FORMAT is 'xml'; allowed: text, json\n");
    }

    @Test
    void runsThroughASymbolicLinkFromAFolderWithSpacesInItsName() throws Exception {
        Path moved = Files.createSymbolicLink(folder.resolve("a folder"), HOME);
        Path link = Files.createSymbolicLink(folder.resolve("understudy"), moved.resolve("bin/understudy"));

        assertThat(run(link, "--version").status()).isZero();
    }

    @Test
    void whereThereIsNoLocaleTextIsUtf8() throws Exception {
        // In octal, as this JVM may have no locale either.
        ProcessBuilder builder = new ProcessBuilder(
                "sh",
                "-c",
                "exec \"$0\" config check \"$(printf '/n\\303\\264/such.yaml')\"",
                HOME.resolve("bin/understudy").toString());
        builder.environment().keySet().removeIf(name -> name.startsWith("LC_") || name.startsWith("LANG"));

        assertThat(run(builder).output()).contains("/n\u00f4/such.yaml: no such file");
    }

    @Test
    void aJavaThatIsTooOldIsNamed() throws Exception {
        Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
        Files.writeString(java, "#!/bin/sh\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"11.0.2\"\n");

        ProcessBuilder builder =
                new ProcessBuilder(HOME.resolve("bin/understudy").toString(), "--version");
        builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        Outcome outcome = run(builder);

        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.output())
                .contains(java.toString(), "Java 11", "Java 17")
                .hasLineCount(1);
    }

    @Test
    void theClassPathIsWholeAndHoldsNoBroker() throws Exception {
        List<String> names = classPath();

        assertThat(names).isNotEmpty().allSatisfy(name -> assertThat(
                        HOME.resolve("lib").resolve(name))
                .exists());
        assertThat(names).noneMatch(name -> name.startsWith("kafka_") || name.startsWith("scala-"));
        // What only the build needs.
        assertThat(HOME.resolve("lib")).isDirectoryNotContaining("glob:**/{picocli-codegen,asciidoctorj,jruby}*");
        assertThat(HOME.resolve("lib/lab")).isDirectoryContaining("glob:**/kafka_*.jar");
    }

    @Test
    void eachOfOurJarsCarriesTheVersionThatProcessesReport() throws Exception {
        try (Stream<Path> jars = Files.list(HOME.resolve("lib"))) {
            assertThat(jars.filter(jar -> jar.getFileName().toString().startsWith("understudy-")))
                    .filteredOn(jar -> jar.toString().endsWith(".jar"))
                    .hasSizeGreaterThan(5)
                    .allSatisfy(file -> {
                        try (JarFile jar = new JarFile(file.toFile())) {
                            assertThat(jar.getManifest()
                                            .getMainAttributes()
                                            .getValue(Attributes.Name.IMPLEMENTATION_VERSION))
                                    .isNotEmpty();
                        }
                    });
        }
    }

    private static List<String> classPath() throws IOException {
        try (Stream<Path> jars = Files.list(HOME.resolve("lib"));
                JarFile main = new JarFile(
                        jars.filter(jar -> jar.getFileName().toString().startsWith("understudy-cli-"))
                                .findFirst()
                                .orElseThrow()
                                .toFile())) {
            String value = main.getManifest().getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
            return Arrays.asList(value.split(" "));
        }
    }

    private static Outcome run(Path command, String... arguments) throws Exception {
        return run(new ProcessBuilder(Stream.concat(Stream.of(command.toString()), Arrays.stream(arguments))
                .toList()));
    }

    private static Outcome run(ProcessBuilder builder) throws Exception {
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), output);
    }

    private record Outcome(int status, String output) {}
}
