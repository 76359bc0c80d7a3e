package io.understudy.cli;

import io.understudy.lab.Lab;
import io.understudy.lab.LabReport;
import io.understudy.lab.LabSettings;
import io.understudy.lab.directory.DataDirectory;
import io.understudy.lab.progress.Progress;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.ExitCode;

/** A lab between the terminal and the signals. */
final class LabRun {

    private LabRun() {}

    static Path standardDirectory() {
        return DataDirectory.standard(System.getenv(), Path.of(System.getProperty("user.home")))
                .toAbsolutePath();
    }

    /** Runs to the lab's end, or until SIGINT or SIGTERM, which stop it in order. */
    static int run(LabSettings settings, boolean json, PrintWriter out, PrintWriter err) throws Exception {
        LogFile.use(settings.dataDirectory().resolve("lab.log"));
        Lab lab = new Lab(settings, Progress.onStandardError(err, System.getenv()), report -> {
            out.println(json ? report.toJson() : text(report, settings));
            out.flush();
        });
        return Foreground.during(lab, Lab.STOP_DEADLINE, () -> {
            lab.run();
            return ExitCode.OK;
        });
    }

    private static String text(LabReport report, LabSettings settings) {
        return settings.exitAfterCheck() ? report.toText() : report.toText() + "\nPress Ctrl-C to stop all parts.";
    }
}
