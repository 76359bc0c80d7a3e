package io.understudy.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * Which cluster is meant, by the names that {@code etcdctl} has for it, or by its own file, of which flags override what
 * they name.
 */
final class ClusterFlags {

    @Option(
            names = "--endpoints",
            split = ",",
            paramLabel = "URL",
            description = "Comma-separated client URLs, such as http://10.0.1.10:2379. One reachable member suffices.")
    private final List<String> endpoints = new ArrayList<>();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "Cluster configuration file (YAML), such as conf/cluster.yaml. UNDERSTUDY_... variables override"
                            + " it.")
    private Path file;

    @Option(names = "--cacert", paramLabel = "FILE", description = "CA certificates for verifying members, PEM.")
    private Path trusted;

    @Option(names = "--cert", paramLabel = "FILE", description = "Client certificate, PEM.")
    private Path certificate;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "Private key of the client certificate, PEM, unencrypted PKCS #8.")
    private Path key;

    /**
     * Opens the way there; nobody is asked yet.
     *
     * @throws ParameterException the flags name no cluster
     * @throws io.understudy.config.ConfigurationException the file or the flags can't be
     */
    ClusterConnection connect(CommandLine command) {
        if (endpoints.isEmpty() && file == null) {
            throw new ParameterException(command, "specify --endpoints or --config");
        }
        return ClusterConnection.open(file, overrides());
    }

    private Map<String, String> overrides() {
        Map<String, String> values = new HashMap<>();
        String scheme = trusted == null && certificate == null ? "http://" : "https://";
        if (!endpoints.isEmpty()) {
            values.put(
                    "cluster.endpoints",
                    endpoints.stream()
                            .map(endpoint -> endpoint.contains("://") ? endpoint : scheme + endpoint)
                            .collect(Collectors.joining(",")));
        }
        put(values, "cluster.tls.trusted", trusted);
        put(values, "cluster.tls.certificate", certificate);
        put(values, "cluster.tls.key", key);
        return values;
    }

    private static void put(Map<String, String> values, String setting, Path path) {
        if (path != null) {
            values.put(setting, path.toString());
        }
    }
}
