package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.google.protobuf.ByteString;
import io.understudy.config.ConfigurationException;
import io.understudy.documentation.Document.Block;
import io.understudy.gateway.GatewaySettings;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.home.Home;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every block of code in the documents has a check that keeps it true; blocks that need no server are run here. */
final class DocumentedBlocksTest {

    private static final YAMLMapper YAML = new YAMLMapper();

    private static final Pattern PROFILE = Pattern.compile("-P (\\w+)");
    private static final Pattern MODULE = Pattern.compile("-pl (\\S+)");
    private static final Pattern TESTS = Pattern.compile("-D(?:it\\.)?test='?([\\w,]+)'?");

    private static final String POM = Repository.text(Repository.ROOT.resolve("pom.xml"));

    @TempDir
    private Path folder;

    static Stream<Block> shell() {
        return Document.allBlocks().filter(block -> !BlockKind.commands(block).isEmpty());
    }

    static Stream<Block> mavens() {
        return by("maven");
    }

    static Stream<Block> yaml() {
        return by("yaml");
    }

    private static Stream<Block> by(String keeper) {
        return Document.allBlocks()
                .filter(block -> Keeping.ALL.stream().anyMatch(each -> each.isOf(block) && each.isBy(keeper)));
    }

    @Test
    void eachIsKeptByOurOwnCommandsOrByTheTable() {
        assertThat(Document.allBlocks()
                        .filter(block -> !hasOnlyOurCommands(block)
                                && Keeping.ALL.stream()
                                                .filter(each -> each.isOf(block))
                                                .count()
                                        != 1)
                        .map(block -> block.place() + ": the table has no row for, or more than one: " + block.text()))
                .isEmpty();
    }

    @Test
    void theTableHasNoRowsForBlocksThatAreGone() {
        assertThat(Keeping.ALL.stream()
                        .filter(row -> Document.allBlocks().filter(row::isOf).count() != 1))
                .isEmpty();
        assertThat(Keeping.ALL.stream().filter(row -> !row.isDecided())).isEmpty();
    }

    @Test
    void theEvidenceInTheTableExists() {
        assertThat(Keeping.ALL.stream().flatMap(row -> row.evidence().stream()).filter(evidence -> !evidence.isThere()))
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("shell")
    void theShellCanReadCommands(Block block) throws Exception {
        assertThat(problems(String.join("\n", BlockKind.commands(block))))
                .as(block.place().toString())
                .isEmpty();
    }

    @Test
    void whatTheShellCanNotReadIsNoticed() throws Exception {
        assertThat(problems("curl -d '{")).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("mavens")
    void mavenCommandsNameExistingProfilesModulesAndTests(Block block) {
        for (String line : BlockKind.commands(block)) {
            if (line.startsWith("mvn ")) {
                assertThat(found(PROFILE, line))
                        .allSatisfy(name -> assertThat(POM).contains("<id>" + name + "</id>"));
                assertThat(found(MODULE, line))
                        .allSatisfy(name -> assertThat(POM).contains("<module>" + name + "</module>"));
                assertThat(found(TESTS, line))
                        .flatMap(names -> List.of(names.split(",", -1)))
                        .filteredOn(name -> !name.equals("none"))
                        .allSatisfy(name ->
                                assertThat(Repository.named(name + ".java")).hasSize(1));
            }
        }
    }

    @Test
    void gatewaysTakeTheirSettings() throws Exception {
        for (Block block : by("gateway").toList()) {
            JsonNode written = YAML.readTree(block.text());
            // An excerpt names no source.
            String whole =
                    written.has("source") ? block.text() : block.text() + "source: {endpoints: 'http://127.0.0.1:1'}\n";
            load(block, whole, file -> {
                var unused = GatewaySettings.load(file, Map.of(), Map.of());
            });
        }
    }

    @Test
    void mirrorsTakeTheirSettings() throws Exception {
        for (Block block : by("mirror").toList()) {
            load(block, block.text(), file -> {
                var unused = MirrorConfiguration.load(file, Map.of(), Map.of());
            });
        }
    }

    @Test
    void recordsAreAsTheyAreStored() throws Exception {
        for (Block block : by("checkpoint").toList()) {
            ByteString stored = oneLine(block);
            assertThat(CheckpointCodec.encode(CheckpointCodec.decode("here", stored)))
                    .isEqualTo(stored);
        }
        for (Block block : by("home").toList()) {
            ByteString stored = oneLine(block);
            assertThat(Home.decode(block.place().toString(), stored).encode()).isEqualTo(stored);
        }
    }

    @Test
    void theListOfTheArchiveIsWhatItHas() {
        for (Block block : by("archive").toList()) {
            assertThat(block.text().lines().map(line -> line.split(" +", 2)[0]))
                    .as(block.place().toString())
                    .allMatch(Shipped::has);
        }
    }

    @ParameterizedTest
    @MethodSource("yaml")
    void yamlIsWellFormed(Block block) throws Exception {
        assertThat(YAML.readTree(block.text()).isObject()).isTrue();
    }

    @Test
    void javaCompiles() throws Exception {
        for (Block block : by("java").toList()) {
            Path source = Files.writeString(
                    folder.resolve("Shown.java"), """
                    import io.understudy.local.junit.EtcdExtension;
                    import org.junit.jupiter.api.Test;
                    import org.junit.jupiter.api.extension.RegisterExtension;

                    class Shown {
                    %s
                    }
                    """.formatted(block.text().replace("…", "")));
            JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
            Writer output = new StringWriter();
            boolean compiled = compiler.getTask(
                            output,
                            null,
                            null,
                            List.of(
                                    "-proc:none",
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    "-d",
                                    folder.toString()),
                            null,
                            compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source))
                    .call();
            assertThat(compiled).as("%s: %s", block.place(), output).isTrue();
        }
    }

    private static boolean hasOnlyOurCommands(Block block) {
        return BlockKind.of(block) == BlockKind.SHELL
                && BlockKind.commands(block).stream().allMatch(line -> OurCommand.is(line) || line.startsWith("GET "));
    }

    private static List<String> found(Pattern pattern, String line) {
        return pattern.matcher(line)
                .results()
                .map((MatchResult result) -> result.group(1))
                .toList();
    }

    private static ByteString oneLine(Block block) {
        StringBuilder line = new StringBuilder();
        block.text().lines().map(String::strip).forEach(line::append);
        return ByteString.copyFromUtf8(line.toString());
    }

    private interface Loader {
        void load(Path file);
    }

    private void load(Block block, String text, Loader loader) throws IOException {
        Path file = Files.writeString(folder.resolve("settings.yaml"), text);
        try {
            loader.load(file);
        } catch (ConfigurationException e) {
            throw new AssertionError(block.place() + ": " + e.problems(), e);
        }
    }

    private String problems(String script) throws Exception {
        Path file = Files.writeString(folder.resolve("script"), script + "\n");
        Process bash = new ProcessBuilder("bash", "-n", file.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor(60, TimeUnit.SECONDS)).isTrue();
        List<String> problems = new ArrayList<>(output.lines().toList());
        return bash.exitValue() == 0 && problems.isEmpty() ? "" : output + bash.exitValue();
    }
}
