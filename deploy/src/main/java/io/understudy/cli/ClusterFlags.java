package io.understudy.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** How a cluster is reached, by the names that {@code etcdctl} has for it. */
final class ClusterFlags {

    @Option(
            names = "--endpoints",
            split = ",",
            paramLabel = "URL",
            description = "Client URLs of members, such as http://10.0.1.10:2379; one that answers is enough.")
    private final List<String> endpoints = new ArrayList<>();

    @Option(
            names = "--cacert",
            paramLabel = "FILE",
            description = "Certificates of the authorities that members are verified by, PEM.")
    private Path trusted;

    @Option(names = "--cert", paramLabel = "FILE", description = "Our own certificate, PEM.")
    private Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "Its private key, PEM, PKCS #8 without a password.")
    private Path key;

    /**
     * Opens the way there; nobody is asked yet.
     *
     * @throws ParameterException the flags name no cluster, or contradict each other
     */
    ClusterConnection connect(CommandLine command) {
        if (endpoints.isEmpty()) {
            throw new ParameterException(command, "--endpoints is missing");
        }
        try {
            return ClusterConnection.open(
                    endpoints,
                    Optional.ofNullable(trusted),
                    Optional.ofNullable(certificate),
                    Optional.ofNullable(key));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command, String.valueOf(e.getMessage()), e);
        }
    }
}
