package io.understudy.cli;

import io.understudy.bench.ReadBench;
import io.understudy.bench.ReadBenchSettings;
import io.understudy.bench.ReadReport;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.Folders;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.ExitCode;

/** A benchmark between the terminal and the signals. */
final class BenchRun {

    private static final Duration STOP_DEADLINE = Duration.ofSeconds(30);

    private BenchRun() {}

    /** Measures, or stops all servers on SIGINT or SIGTERM. The folder with their logs is kept if it fails. */
    static int run(ReadBenchSettings settings, boolean json, PrintWriter out, PrintWriter err) throws Exception {
        Path folder = Files.createTempDirectory("understudy-bench-");
        LogFile.use(folder.resolve("bench.log"));
        ReadBench bench = new ReadBench(settings, folder, Progress.onStandardError(err, System.getenv()));
        return Foreground.during(bench, STOP_DEADLINE, () -> {
            try (bench) {
                ReadReport report = bench.run();
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
