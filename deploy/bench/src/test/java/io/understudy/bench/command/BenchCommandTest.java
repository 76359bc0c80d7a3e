package io.understudy.bench.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.understudy.cli.Understudy;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Usage of the benchmarks; none is run. */
final class BenchCommandTest {

    private static final Path DOCS = Path.of("../../docs");
    private static final String COMMAND = "deploy/understudy bench ";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @ValueSource(
            strings = {"--help", "reads --help", "watch --help", "mirror --help", "kafka --help", "cluster --help"})
    void everyCommandPrintsHelp(String arguments) {
        assertThat(run(arguments)).isZero();
        assertThat(out.toString()).startsWith("Usage: understudy bench");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "reads --work=nothing",
                "watch --work=point",
                "watch --in-flight=16,0",
                "reads --duration=long",
                "reads --connections=7",
                "reads --equal-load=half",
                "mirror --writers=0",
                "mirror --work=history",
                "kafka --runs=0",
                "kafka --work=backlog",
                "cluster --puts=0"
            })
    void badUsageIsRefusedInOneLineWithAHint(String arguments) {
        assertThat(run(arguments)).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("understudy bench")
                .contains("--help")
                .hasLineCount(1);
        assertThat(out.toString()).isEmpty();
    }

    static List<String> documented() throws IOException {
        return Files.readAllLines(DOCS.resolve("performance.md")).stream()
                .map(String::strip)
                .filter(line -> line.startsWith(COMMAND))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("documented")
    void documentedCommandsAreAccepted(String line) {
        String[] arguments = line.substring(COMMAND.length()).split(" ");
        assertThatCode(() -> Understudy.commandLine(new BenchCommand()).parseArgs(arguments))
                .doesNotThrowAnyException();
    }

    @Test
    void benchmarksHaveNamesWithHyphens() {
        assertThat(run("reads --work=point-linearizable,json-point --runs=0")).isEqualTo(2);
        assertThat(err.toString()).contains("the number of runs must be at least 1, not 0");
    }

    private int run(String arguments) {
        return Understudy.commandLine(new BenchCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments.isEmpty() ? new String[0] : arguments.split(" "));
    }
}
