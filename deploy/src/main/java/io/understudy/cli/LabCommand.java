package io.understudy.cli;

import io.understudy.lab.LabSettings;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy lab}: everything real, on one machine, until told to stop. */
@Command(
        name = "lab",
        modelTransformer = LabPortFlags.class,
        sortOptions = false,
        description = {
            "Run a complete setup on this machine: etcd clusters, Kafka, gateways and mirrors.",
            "Starts three voting members, a learner, a DR cluster, Kafka, an edge cluster, gateways, mirrors and a supervisor. "
                    + "Sends a write through every path, prints all endpoints, and runs until interrupted. Listens on "
                    + "127.0.0.1 only."
        })
final class LabCommand implements Callable<Integer> {

    private enum Output {
        TABLE,
        JSON
    }

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

    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "Output format of the report after the self-check.")
    private Output output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return LabRun.run(
                new LabSettings(
                        dataDirectory == null ? LabRun.standardDirectory() : dataDirectory.toAbsolutePath(),
                        fresh,
                        !noKafka,
                        tls,
                        auth,
                        exitAfterCheck,
                        LabPortFlags.of(spec)),
                output == Output.JSON,
                spec.commandLine().getOut(),
                spec.commandLine().getErr());
    }
}
