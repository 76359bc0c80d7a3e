package io.understudy.cli;

import io.understudy.pki.PkiDirectory;
import io.understudy.pki.Subject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy pki issue}: a certificate and its key. */
@Command(
        name = "issue",
        description = {
            "Have the authority sign a certificate: NAME.crt, and its key NAME.key. Nothing is overwritten.",
            "etcd takes the common name for the user; without one the holder is nobody in particular."
        })
final class PkiIssueCommand implements Callable<Integer> {

    @Parameters(paramLabel = "NAME", description = "What the files are called.")
    private String name;

    @Option(
            names = "--dir",
            defaultValue = "pki",
            paramLabel = "DIR",
            description = "Where the authority is; ${DEFAULT-VALUE} by default.")
    private Path directory;

    @Option(
            names = "--common-name",
            paramLabel = "NAME",
            description = "The subject's; without one the subject is empty.")
    private String commonName;

    @Option(
            names = "--host",
            split = ",",
            paramLabel = "HOST",
            description = "A name or an address of the holder, by which clients verify a server. May be repeated.")
    private List<String> hosts = List.of();

    @Option(
            names = "--for",
            split = ",",
            required = true,
            paramLabel = "server|client",
            description =
                    "What it is good for; etcd's members need both. Who holds one for servers can pose as each of "
                            + "its hosts.")
    private Set<Subject.Use> uses;

    @Option(
            names = "--days",
            defaultValue = "365",
            paramLabel = "N",
            description = "How long it is valid, but no longer than the authority; ${DEFAULT-VALUE} by default.")
    private int days;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Form of the results.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        PkiDirectory.Written written;
        try {
            written = new PkiDirectory(directory)
                    .issue(name, new Subject(commonName, hosts, uses, Duration.ofDays(days)));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        PkiText.print(spec.commandLine().getOut(), output, written);
        return ExitCode.OK;
    }
}
