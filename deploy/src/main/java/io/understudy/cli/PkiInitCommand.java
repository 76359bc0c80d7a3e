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
            "Make a new authority: its certificate ca.crt, which everybody may have, and its key ca.key, which signs.",
            "Nothing is overwritten."
        })
final class PkiInitCommand implements Callable<Integer> {

    @Option(
            names = "--dir",
            defaultValue = "pki",
            paramLabel = "DIR",
            description = "Where; ${DEFAULT-VALUE} by default.")
    private Path directory;

    @Option(
            names = "--common-name",
            defaultValue = "Understudy authority",
            paramLabel = "NAME",
            description = "What it is called; '${DEFAULT-VALUE}' by default.")
    private String name;

    @Option(
            names = "--path-length",
            defaultValue = "0",
            paramLabel = "N",
            description = "How many authorities may follow it in a chain; ${DEFAULT-VALUE} by default.")
    private int pathLength;

    @Option(
            names = "--days",
            defaultValue = "3650",
            paramLabel = "N",
            description = "How long it is valid; ${DEFAULT-VALUE} by default.")
    private int days;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Form of the results.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        if (name.isBlank() || pathLength < 0 || days < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--common-name is '" + name + "', --path-length " + pathLength + ", --days " + days
                            + "; allowed are a name, 0 or more, and 1 or more");
        }
        PkiText.print(
                spec.commandLine().getOut(),
                output,
                new PkiDirectory(directory).init(name, pathLength, Duration.ofDays(days)));
        return ExitCode.OK;
    }
}
