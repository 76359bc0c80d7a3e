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
            description = "Client URLs of members, such as http://10.0.1.10:2379; one that answers is enough.")
    private final List<String> endpoints = new ArrayList<>();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The cluster's YAML file, such as conf/cluster.yaml; UNDERSTUDY_... variables override it.")
    private Path file;

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
     * @throws ParameterException the flags name no cluster
     * @throws io.understudy.config.ConfigurationException the file or the flags can't be
     */
    ClusterConnection connect(CommandLine command) {
        if (endpoints.isEmpty() && file == null) {
            throw new ParameterException(command, "which cluster? --endpoints or --config is missing");
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
