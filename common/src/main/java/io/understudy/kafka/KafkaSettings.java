package io.understudy.kafka;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.kafka.KafkaClients.ClientProperties;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Access to a Kafka cluster.
 *
 * @param bootstrapServers {@code host:port,…} of some brokers
 * @param timeout of one step: a request with its retries
 */
public record KafkaSettings(
        @Configured(
                key = "bootstrap.servers",
                value = "Kafka bootstrap servers, as a comma-separated list of host:port.",
                former = "bootstrapServers",
                example = "127.0.0.1:9092")
        String bootstrapServers,

        @Configured(
                value = "Kafka client properties file for TLS and SASL, as for --command-config of Kafka's tools."
                        + " Use ${env:NAME} and ${file:PATH:KEY} to reference secrets.",
                example = "/etc/understudy/kafka.properties")
        @Nullable Path propertiesFile,

        @Configured(
                value = "Timeout of one operation, after which the connection is closed and reopened.",
                byDefault = "20s",
                range = "1s..10m")
        Duration timeout,

        @Configured(
                value =
                        "Kafka properties of the consumer, by Kafka's names. Those that delivery depends on are rejected.",
                check = KafkaClient.OfConsumer.class,
                example = "{client.rack: zone-a, client.id: edge}")
        Map<String, String> consumer,

        @Configured(
                value = "Kafka properties of the admin, by Kafka's names. Those that delivery depends on are rejected.",
                check = KafkaClient.OfAdmin.class,
                example = "{reconnect.backoff.max.ms: 5000}")
        Map<String, String> admin) {

    /** Settings with the clients' default properties. */
    public KafkaSettings(String bootstrapServers, @Nullable Path propertiesFile, Duration timeout) {
        this(bootstrapServers, propertiesFile, timeout, Map.of(), Map.of());
    }

    /**
     * The settings of the configuration. Reads the file if it exists, so that a mistake in it has no effect.
     *
     * @throws IllegalArgumentException the file cannot be used
     */
    public static KafkaSettings from(Configuration group) {
        KafkaSettings settings = group.bind(KafkaSettings.class);
        Path file = settings.propertiesFile;
        if (file != null && Files.exists(file)) {
            // Elsewhere than on its machine, a configuration is checked without the file.
            var unused = group.make(() -> ClientProperties.read(file));
        }
        return settings;
    }

    /** Defaults for everything else. */
    public static KafkaSettings of(String bootstrapServers) {
        return Binder.defaults(KafkaSettings.class, Map.of("bootstrapServers", bootstrapServers));
    }
}
