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
            "Issue a certificate NAME.crt and its private key NAME.key.",
            "Existing files are never overwritten. With certificate authentication, etcd uses the common name as the user"
                    + " name."
        })
final class PkiIssueCommand implements Callable<Integer> {

    @Parameters(paramLabel = "NAME", description = "Base name of the files.")
    private String name;

    @Option(
            names = "--dir",
            defaultValue = "pki",
            paramLabel = "DIR",
            description = "Directory of the authority (default: ${DEFAULT-VALUE}).")
    private Path directory;

    @Option(names = "--common-name", paramLabel = "NAME", description = "Common name (default: empty subject).")
    private String commonName;

    @Option(
            names = "--host",
            split = ",",
            paramLabel = "HOST",
            description = "DNS names and IP addresses (subject alternative names). Repeatable.")
    private List<String> hosts = List.of();

    @Option(
            names = "--for",
            split = ",",
            required = true,
            paramLabel = "server|client",
            description = "Extended key usage; etcd members require both.")
    private Set<Subject.Use> uses;

    @Option(
            names = "--days",
            defaultValue = "365",
            paramLabel = "N",
            description = "Validity in days, at most that of the authority (default: ${DEFAULT-VALUE}).")
    private int days;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
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
