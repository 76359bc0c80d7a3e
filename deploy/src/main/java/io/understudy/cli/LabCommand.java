package io.understudy.cli;

import io.understudy.lab.Lab;
import io.understudy.lab.LabReport;
import io.understudy.lab.LabSettings;
import io.understudy.lab.directory.DataDirectory;
import io.understudy.lab.progress.Progress;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy lab}: everything real, on one machine, until told to stop. */
@Command(
        name = "lab",
        modelTransformer = LabPortFlags.class,
        sortOptions = false,
        description = {
            "Run everything on this machine: three voters, a learner, a DR cluster, Kafka, a gateway and a mirror.",
            "It checks itself by sending a write through every path, prints what listens where, and runs until it is "
                    + "interrupted. Everything listens on 127.0.0.1 only."
        })
final class LabCommand implements Callable<Integer> {

    private enum Output {
        TABLE,
        JSON
    }

    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            description = "Where everything is kept; a lab that was there before goes on. Without it: understudy/lab "
                    + "below XDG_STATE_HOME or ~/.local/state.")
    private Path dataDirectory;

    @Option(names = "--fresh", description = "Delete what an earlier lab left in the directory, and begin anew.")
    private boolean fresh;

    @Option(names = "--no-kafka", description = "Leave out Kafka and the mirror to it.")
    private boolean noKafka;

    @Option(names = "--exit-after-check", description = "Stop after the self-check; status 0 if it succeeded.")
    private boolean exitAfterCheck;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "Form of what is printed after the self-check.")
    private Output output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        LabSettings settings = settings();
        // Read by logback when it wakes up: servers' state changes belong in a file, the terminal shows the parts.
        System.setProperty("logback.configurationFile", "io/understudy/lab/logback.xml");
        System.setProperty(
                "understudy.lab.log",
                settings.dataDirectory().resolve("lab.log").toString());
        Progress progress = Progress.onStandardError(spec.commandLine().getErr(), System.getenv());
        Lab lab = new Lab(settings, progress, this::print);
        return Foreground.during(lab, Lab.STOP_DEADLINE, () -> {
            lab.run();
            return ExitCode.OK;
        });
    }

    private LabSettings settings() {
        Path directory = dataDirectory == null
                ? DataDirectory.standard(System.getenv(), Path.of(System.getProperty("user.home")))
                : dataDirectory;
        return new LabSettings(directory.toAbsolutePath(), fresh, !noKafka, exitAfterCheck, LabPortFlags.of(spec));
    }

    private void print(LabReport report) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(output == Output.JSON ? report.toJson() : report.toText());
        if (!exitAfterCheck && output == Output.TABLE) {
            out.println("Runs until interrupted with Ctrl-C, which stops everything.");
        }
        out.flush();
    }
}
