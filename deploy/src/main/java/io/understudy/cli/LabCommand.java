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

    @Option(names = "--no-kafka", description = "Leave out Kafka, the mirror to it, and what is fed from it.")
    private boolean noKafka;

    @Option(
            names = "--tls",
            description = "Have all parts speak TLS, and ask each other for certificates, which are made below the "
                    + "directory; from its first start on.")
    private boolean tls;

    @Option(
            names = "--auth",
            description =
                    "Have the core and the DR cluster ask who asks: gateway, mirror and you are users with no more "
                            + "permissions than each needs, whose passwords are made below the directory; from its first start on.")
    private boolean auth;

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
