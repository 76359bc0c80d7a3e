package io.understudy.cli;

import io.understudy.lab.Lab;
import io.understudy.lab.Lab.LabSettings;
import io.understudy.lab.directory.LabDirectory;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** {@code understudy lab}: a complete setup on this machine, until interrupted. */
@Command(
        name = "lab",
        modelTransformer = LabCommand.PortFlags.class,
        sortOptions = false,
        description = {
            "Run a complete setup on this machine: etcd clusters, Kafka, gateways and mirrors.",
            "Starts three voting members, a learner, a DR cluster, Kafka, an edge cluster, gateways, mirrors and a supervisor. "
                    + "Sends a write through every path, prints all endpoints, and runs until interrupted. Listens on "
                    + "127.0.0.1 only."
        })
final class LabCommand implements Callable<Integer> {

    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            description =
                    "Data directory (default: understudy/lab below XDG_STATE_HOME or ~/.local/state). An existing lab there continues with its data.")
    private Path dataDirectory;

    @Option(names = "--fresh", description = "Delete the data of an earlier lab in the directory.")
    private boolean fresh;

    @Option(names = "--no-kafka", description = "Omit Kafka, its mirror, and the parts fed from Kafka.")
    private boolean noKafka;

    @Option(
            names = "--tls",
            description =
                    "Enable mutual TLS between all parts. Certificates are created in the data directory. Requires a new data directory or --fresh.")
    private boolean tls;

    @Option(
            names = "--auth",
            description =
                    "Enable authentication on the core and DR clusters. Gateway, mirror and operator are users with "
                            + "minimal permissions; passwords are created in the data directory. Requires a new data "
                            + "directory.")
    private boolean auth;

    @Option(names = "--exit-after-check", description = "Exit after the self-check, with status 0 on success.")
    private boolean exitAfterCheck;

    @Mixin
    private Output output;

    @Override
    public Integer call() throws Exception {
        Path directory = dataDirectory == null
                ? LabDirectory.standard(System.getenv(), Path.of(System.getProperty("user.home")))
                : dataDirectory;
        LabSettings settings = new LabSettings(
                directory.toAbsolutePath(), fresh, !noKafka, tls, auth, exitAfterCheck, PortFlags.of(output.command()));
        LogFile.use(settings.dataDirectory().resolve("lab.log"));
        Lab lab = new Lab(
                settings,
                Progress.onStandardError(output.command().getErr(), System.getenv()),
                report -> output.lines(List.of(output.isJson() ? report.toJson() : text(report.toText()))));
        return Foreground.during(lab, Lab.STOP_DEADLINE, () -> {
            lab.run();
            return ExitCode.OK;
        });
    }

    private String text(String report) {
        return exitAfterCheck ? report : report + "\nPress Ctrl-C to stop all parts.";
    }

    /** A flag for each of the lab's ports. */
    static final class PortFlags implements IModelTransformer {

        @Override
        public CommandSpec transform(CommandSpec spec) {
            for (LabPort port : LabPort.values()) {
                spec.addOption(OptionSpec.builder(port.flag())
                        .type(Integer.class)
                        .converters(new Converters.Port())
                        .paramLabel("PORT")
                        .description("Port of " + port.part() + ": " + port.serves() + " (default: " + port.standard()
                                + ").")
                        .build());
            }
            return spec;
        }

        /** Returns the given ports. */
        static Map<LabPort, Integer> of(CommandLine parsed) {
            Map<LabPort, Integer> given = new EnumMap<>(LabPort.class);
            for (LabPort port : LabPort.values()) {
                Integer number = parsed.getCommandSpec().findOption(port.flag()).getValue();
                if (number != null) {
                    given.put(port, number);
                }
            }
            return given;
        }
    }
}
