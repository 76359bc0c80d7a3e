package io.understudy.cli;

import io.understudy.tls.TlsFiles;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** How a process is connected to whose address is {@code https}. */
final class TlsFlags {

    @Option(
            names = "--tls-trusted",
            paramLabel = "FILE",
            description = "PEM file with the authorities the process is verified by; by default the platform's.")
    private Path trusted;

    @Option(names = "--tls-certificate", paramLabel = "FILE", description = "PEM file with our own certificate.")
    private Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "PEM file with its private key, PKCS #8.")
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
            throw new ParameterException(command, "--tls-certificate and --tls-key go together");
        }
        return new TlsFiles(trusted, certificate, key);
    }
}
