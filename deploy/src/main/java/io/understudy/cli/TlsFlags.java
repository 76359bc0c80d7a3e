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
            description = "Certificates of the authorities that the process is verified by, PEM; by default the "
                    + "platform's.")
    private Path trusted;

    @Option(names = "--cert", paramLabel = "FILE", description = "Our own certificate, PEM.")
    private Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "Its private key, PEM, PKCS #8 without a password.")
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
            throw new ParameterException(command, "--cert and --key go together");
        }
        return new TlsFiles(trusted, certificate, key);
    }
}
