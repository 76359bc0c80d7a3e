package io.understudy.cli;

import io.understudy.tls.TlsFiles;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** How a process is connected to whose address is {@code https}, by the names that {@code etcdctl} has for it. */
final class TlsFlags {

    @Option(
            names = "--cacert",
            paramLabel = "FILE",
            description = "CA certificates for verifying the server, PEM (default: the platform's).")
    private Path trusted;

    @Option(names = "--cert", paramLabel = "FILE", description = "Client certificate, PEM.")
    private Path certificate;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "Private key of the client certificate, PEM, unencrypted PKCS #8.")
    private Path key;

    /**
     * The files that were given; null if none was.
     *
     * @throws ParameterException a certificate without its key, or the reverse
     */
    @Nullable TlsFiles files(CommandLine command) {
        if (trusted == null && certificate == null && key == null) {
            return null;
        }
        if ((certificate == null) != (key == null)) {
            throw new ParameterException(command, "--cert and --key must be specified together");
        }
        return new TlsFiles(trusted, certificate, key);
    }
}
