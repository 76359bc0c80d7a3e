package io.understudy.monitoring;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Prometheus' own checks, from Debian's package {@code prometheus}. */
final class Promtool {

    private static final int LINTED = 3;

    private Promtool() {}

    /** Skips the test where it isn't installed. */
    static void require() {
        assumeTrue(isThere("promtool"), "promtool is not installed; on Debian: apt-get install prometheus");
    }

    static boolean isThere(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** What is wrong with a page of metrics; advice on names is not. Empty if nothing is. */
    static String parsed(String page, Path folder) throws IOException, InterruptedException {
        Path file = Files.writeString(Files.createTempFile(folder, "page", ".prom"), page);
        Outcome outcome = run(folder, file, "check", "metrics");
        return outcome.status() == 0 || outcome.status() == LINTED ? "" : outcome.output();
    }

    /** Output of a failed run; empty if it succeeded. */
    static String problems(Path folder, String... arguments) throws IOException, InterruptedException {
        Outcome outcome = run(folder, Path.of("/dev/null"), arguments);
        return outcome.status() == 0 ? "" : outcome.output();
    }

    private record Outcome(int status, String output) {}

    private static Outcome run(Path folder, Path input, String... arguments) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of("promtool"));
        line.addAll(List.of(arguments));
        Path output = Files.createTempFile(folder, "promtool", ".out");
        Process process = new ProcessBuilder(line)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(input.toFile())
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("promtool takes too long");
        }
        return new Outcome(process.exitValue(), Files.readString(output));
    }
}
