package io.understudy.cli;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchReport;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.Folders;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;

/** A benchmark between the terminal and the signals. */
final class BenchRun {

    private static final Duration STOP_DEADLINE = Duration.ofSeconds(30);

    /**
     * Makes a benchmark; starts nothing.
     *
     * @param <S> what a user can ask of it
     */
    interface Described<S> {

        /**
         * By these settings.
         *
         * @param folder empty
         * @param progress where to show how far it is
         */
        Bench bench(S settings, Path folder, Progress progress);
    }

    private BenchRun() {}

    /**
     * Measures, or stops all servers on SIGINT or SIGTERM. The folder with their logs is kept if it fails.
     *
     * @param asked what the user asked for
     * @throws ParameterException that makes no sense; the message says what of it
     */
    static <S> int run(Supplier<S> asked, Described<S> described, boolean json, CommandLine terminal) throws Exception {
        S settings = settings(asked, terminal);
        PrintWriter out = terminal.getOut();
        PrintWriter err = terminal.getErr();
        Path folder = Files.createTempDirectory("understudy-bench-");
        LogFile.use(folder.resolve("bench.log"));
        Bench bench = described.bench(settings, folder, Progress.onStandardError(err, System.getenv()));
        return Foreground.during(bench, STOP_DEADLINE, () -> {
            try (bench) {
                BenchReport report = bench.run();
                out.println(json ? report.toJson() : report.toText());
                out.flush();
            } catch (RuntimeException e) {
                err.println("Data and logs: " + folder);
                throw e;
            }
            Folders.delete(folder);
            return ExitCode.OK;
        });
    }

    private static <S> S settings(Supplier<S> asked, CommandLine terminal) {
        try {
            return asked.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(terminal, String.valueOf(e.getMessage()), e);
        }
    }
}
