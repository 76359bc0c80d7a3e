package io.understudy.kafka;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.CommonClientConfigs;
import org.jspecify.annotations.Nullable;

/** Kafka's own client settings from a file: those of access, which all clients share. */
final class ClientProperties {

    private static final List<String> ACCESS = List.of("security.", "ssl.", "sasl.", "config.providers");

    private static final List<String> OTHERS =
            List.of(CommonClientConfigs.CLIENT_DNS_LOOKUP_CONFIG, CommonClientConfigs.CLIENT_RACK_CONFIG);

    /** Kafka resolves {@code ${env:NAME}} and the like by these, see KIP-297. */
    private static final Map<String, String> PROVIDERS = Map.of(
            "config.providers",
            "env,file,directory",
            "config.providers.env.class",
            "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
            "config.providers.file.class",
            "org.apache.kafka.common.config.provider.FileConfigProvider",
            "config.providers.directory.class",
            "org.apache.kafka.common.config.provider.DirectoryConfigProvider");

    private ClientProperties() {}

    /** Whether a property is about TLS, logins, or where their secrets are. */
    static boolean isAccess(String name) {
        return ACCESS.stream().anyMatch(name::startsWith);
    }

    /**
     * The properties of the file; none without one.
     *
     * @throws IllegalArgumentException the file is unreadable, or has a property that is not allowed; names the file
     */
    static Map<String, Object> read(@Nullable Path file) {
        if (file == null) {
            return Map.of();
        }
        Properties found = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            found.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalArgumentException("cannot read Kafka client properties from " + file + ": " + e, e);
        }
        Map<String, Object> settings = new HashMap<>(PROVIDERS);
        for (String name : found.stringPropertyNames()) {
            if (!isAccess(name) && !OTHERS.contains(name)) {
                throw new IllegalArgumentException(file + " sets " + name
                        + ", which is not allowed; set it below producer, consumer or admin. Allowed: " + OTHERS
                        + " and prefixes " + ACCESS);
            }
            settings.put(name, found.getProperty(name));
        }
        return settings;
    }
}
