package io.understudy.kafka;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where Kafka is, and how to get in.
 *
 * @param bootstrapServers {@code host:port,…} of some brokers
 * @param propertiesFile more of Kafka's own client settings, as its tools take by {@code --command-config}: TLS and SASL;
 *     null for none
 * @param timeout how long one step, a request with its retries, may take
 */
public record KafkaSettings(
        String bootstrapServers, @Nullable Path propertiesFile, Duration timeout) {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

    public static final Setting<String> BOOTSTRAP_SERVERS = Setting.text(
                    "bootstrapServers", "Kafka bootstrap servers, as a comma-separated list of host:port.")
            .example("127.0.0.1:9092");
    public static final Setting<Path> PROPERTIES_FILE = Setting.path(
                    "propertiesFile",
                    "Kafka client properties file for TLS and SASL, as for --command-config of Kafka's tools."
                            + " Use ${env:NAME} and ${file:PATH:KEY} to reference secrets.")
            .optionally()
            .example("/etc/understudy/kafka.properties");
    public static final Setting<Duration> TIMEOUT = Setting.duration(
                    "timeout", "Timeout of one operation, after which the connection is closed and reopened.")
            .defaultsTo(DEFAULT_TIMEOUT)
            .between(Duration.ofSeconds(1), Duration.ofMinutes(10));

    /** All that can be configured, relative to Kafka's group. */
    public static final List<Setting<?>> ROWS = List.of(BOOTSTRAP_SERVERS, PROPERTIES_FILE, TIMEOUT);

    /** What {@link #ROWS} say. */
    public static KafkaSettings from(Configuration group) {
        return new KafkaSettings(
                group.get(BOOTSTRAP_SERVERS), group.find(PROPERTIES_FILE).orElse(null), group.get(TIMEOUT));
    }

    /** Defaults for everything else. */
    public static KafkaSettings of(String bootstrapServers) {
        return new KafkaSettings(bootstrapServers, null, DEFAULT_TIMEOUT);
    }
}
