package io.understudy.cli;

import io.understudy.pki.PkiDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy pki init}: a new authority. */
@Command(
        name = "init",
        description = {
            "Create a certificate authority: certificate ca.crt and private key ca.key.",
            "Existing files are never overwritten."
        })
final class PkiInitCommand implements Callable<Integer> {

    @Option(
            names = "--dir",
            defaultValue = "pki",
            paramLabel = "DIR",
            description = "Directory (default: ${DEFAULT-VALUE}).")
    private Path directory;

    @Option(
            names = "--common-name",
            defaultValue = "Understudy authority",
            paramLabel = "NAME",
            description = "Common name of the authority (default: ${DEFAULT-VALUE}).")
    private String name;

    @Option(
            names = "--path-length",
            defaultValue = "0",
            paramLabel = "N",
            description =
                    "Path length constraint: maximum number of intermediate authorities (default: ${DEFAULT-VALUE}).")
    private int pathLength;

    @Option(
            names = "--days",
            defaultValue = "3650",
            paramLabel = "N",
            description = "Validity in days (default: ${DEFAULT-VALUE}).")
    private int days;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        if (name.isBlank() || pathLength < 0 || days < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--common-name is '" + name + "', --path-length is " + pathLength + ", --days is " + days
                            + "; allowed: a non-empty name, at least 0, at least 1");
        }
        PkiText.print(
                spec.commandLine().getOut(),
                output,
                new PkiDirectory(directory).init(name, pathLength, Duration.ofDays(days)));
        return ExitCode.OK;
    }
}
