package io.understudy.cli;

import io.understudy.pki.PkiDirectory;
import io.understudy.pki.Subject;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code understudy pki}: certificates for a lab or a small cluster. */
@Command(name = "pki", description = "Create a certificate authority and certificates for a lab or a small cluster.")
final class PkiCommand {

    /** The directory of an authority. */
    static class Authority extends Output {

        @Option(
                names = "--dir",
                defaultValue = "pki",
                paramLabel = "DIR",
                description = "Directory of the authority (default: ${DEFAULT-VALUE}).")
        private Path path;

        final PkiDirectory directory() {
            return new PkiDirectory(path);
        }
    }

    /** A new authority. */
    static final class NewAuthority extends Authority {

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
                converter = Converters.Days.class,
                paramLabel = "N",
                description = "Validity in days (default: ${DEFAULT-VALUE}).")
        private int days;
    }

    @Command(
            name = "init",
            description = {
                "Create a certificate authority: certificate ca.crt and private key ca.key.",
                "Existing files are never overwritten."
            })
    void init(@Mixin NewAuthority authority) {
        if (authority.name.isBlank()) {
            throw authority.usageError("--common-name is '" + authority.name + "'; allowed: a non-empty name");
        }
        print(
                authority,
                authority.directory().init(authority.name, authority.pathLength, Duration.ofDays(authority.days)));
    }

    /** The subject of a certificate. */
    static final class Certificate extends Authority {

        @Parameters(paramLabel = "NAME", description = "Base name of the files.")
        private String name;

        @Option(names = "--common-name", paramLabel = "NAME", description = "Common name (default: empty subject).")
        private @Nullable String commonName;

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
                converter = Converters.Days.class,
                paramLabel = "N",
                description = "Validity in days, at most that of the authority (default: ${DEFAULT-VALUE}).")
        private int days;

        private Subject subject() {
            return new Subject(commonName, hosts, uses, Duration.ofDays(days));
        }
    }

    @Command(
            name = "issue",
            description = {
                "Issue a certificate NAME.crt and its private key NAME.key.",
                "Existing files are never overwritten. With certificate authentication, etcd uses the common name as the user"
                        + " name."
            })
    void issue(@Mixin Certificate certificate) {
        PkiDirectory.Written written;
        try {
            written = certificate.directory().issue(certificate.name, certificate.subject());
        } catch (IllegalArgumentException e) {
            throw certificate.usageError(String.valueOf(e.getMessage()));
        }
        print(certificate, written);
    }

    private static void print(Output output, PkiDirectory.Written written) {
        output.row(Output.cells(
                "subject", written.issued().subject(),
                "expires",
                        written.issued()
                                .expires()
                                .truncatedTo(ChronoUnit.SECONDS)
                                .toString(),
                "certificate", written.certificate().toString(),
                "key", written.key().toString()));
    }
}
