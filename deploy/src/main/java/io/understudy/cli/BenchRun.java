package io.understudy.cli;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchReport;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.Folders;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BiFunction;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;

/** A benchmark between the terminal and the signals. */
final class BenchRun {

    private static final Duration STOP_DEADLINE = Duration.ofSeconds(30);

    private BenchRun() {}

    /**
     * Measures, or stops all servers on SIGINT or SIGTERM. The folder with their logs is kept if it fails.
     *
     * @param described makes the benchmark, given an empty folder and where to show how far it is
     */
    static int run(BiFunction<Path, Progress, Bench> described, boolean json, CommandLine terminal) throws Exception {
        PrintWriter out = terminal.getOut();
        PrintWriter err = terminal.getErr();
        Path folder = Files.createTempDirectory("understudy-bench-");
        LogFile.use(folder.resolve("bench.log"));
        Bench bench = described.apply(folder, Progress.onStandardError(err, System.getenv()));
        return Foreground.during(bench, STOP_DEADLINE, () -> {
            try (bench) {
                BenchReport report = bench.run();
                out.println(json ? report.toJson() : report.toText());
                out.flush();
            } catch (RuntimeException e) {
                err.println("Data and logs are in " + folder);
                throw e;
            }
            Folders.delete(folder);
            return ExitCode.OK;
        });
    }
}
