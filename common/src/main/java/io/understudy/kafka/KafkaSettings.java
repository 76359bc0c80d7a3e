package io.understudy.kafka;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where Kafka is, and how to get in.
 *
 * @param bootstrapServers {@code host:port,…} of some brokers
 * @param propertiesFile more of Kafka's own client settings, as its tools take by {@code --command-config}: TLS and SASL;
 *     null for none
 * @param timeout how long one step, a request with its retries, may take
 * @param properties of the clients, by kind
 */
public record KafkaSettings(
        String bootstrapServers,
        @Nullable Path propertiesFile,
        Duration timeout,
        Map<KafkaClient, Map<String, String>> properties) {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

    public static final Setting<String> BOOTSTRAP_SERVERS = Setting.text(
                    "bootstrap.servers", "Kafka bootstrap servers, as a comma-separated list of host:port.")
            .formerly("bootstrapServers")
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

    private static final Setting<Map<String, String>> PRODUCER =
            properties(KafkaClient.PRODUCER, "compression.type: zstd, linger.ms: 20");
    private static final Setting<Map<String, String>> CONSUMER =
            properties(KafkaClient.CONSUMER, "client.rack: zone-a, client.id: edge");
    private static final Setting<Map<String, String>> ADMIN =
            properties(KafkaClient.ADMIN, "reconnect.backoff.max.ms: 5000");

    /** What a reader can configure, relative to Kafka's group. */
    public static final List<Setting<?>> ROWS = List.of(BOOTSTRAP_SERVERS, PROPERTIES_FILE, TIMEOUT, CONSUMER, ADMIN);

    /** What a writer can configure. */
    public static final List<Setting<?>> WRITER_ROWS =
            List.of(BOOTSTRAP_SERVERS, PROPERTIES_FILE, TIMEOUT, PRODUCER, CONSUMER, ADMIN);

    public KafkaSettings {
        properties = Map.copyOf(properties);
        properties.forEach(KafkaClient::check);
    }

    /** With the clients' default properties. */
    public KafkaSettings(String bootstrapServers, @Nullable Path propertiesFile, Duration timeout) {
        this(bootstrapServers, propertiesFile, timeout, Map.of());
    }

    /**
     * The settings of {@link #ROWS}. Reads the file if it exists, so that a mistake in it has no effect.
     *
     * @throws IllegalArgumentException the file cannot be used
     */
    public static KafkaSettings from(Configuration group) {
        return from(group, Map.of(KafkaClient.CONSUMER, CONSUMER, KafkaClient.ADMIN, ADMIN));
    }

    /** The settings of {@link #WRITER_ROWS}, see {@link #from}. */
    public static KafkaSettings ofWriter(Configuration group) {
        return from(
                group,
                Map.of(KafkaClient.PRODUCER, PRODUCER, KafkaClient.CONSUMER, CONSUMER, KafkaClient.ADMIN, ADMIN));
    }

    private static KafkaSettings from(Configuration group, Map<KafkaClient, Setting<Map<String, String>>> rows) {
        Path file = group.find(PROPERTIES_FILE).orElse(null);
        if (file != null && Files.exists(file)) {
            // Elsewhere than on its machine, a configuration is checked without the file.
            var unused = group.make(() -> ClientProperties.read(file));
        }
        Map<KafkaClient, Map<String, String>> properties = new EnumMap<>(KafkaClient.class);
        rows.forEach((client, row) -> group.find(row).ifPresent(found -> properties.put(client, found)));
        return new KafkaSettings(group.get(BOOTSTRAP_SERVERS), file, group.get(TIMEOUT), properties);
    }

    private static Setting<Map<String, String>> properties(KafkaClient client, String example) {
        String name = client.name().toLowerCase(Locale.ROOT);
        return Setting.properties(
                        name,
                        "Kafka properties of the " + name + ", by Kafka's names. Those that delivery depends on are"
                                + " rejected.")
                .checkedBy(client::check)
                .example("{" + example + "}");
    }

    Map<String, String> properties(KafkaClient client) {
        return properties.getOrDefault(client, Map.of());
    }

    /** Defaults for everything else. */
    public static KafkaSettings of(String bootstrapServers) {
        return new KafkaSettings(bootstrapServers, null, DEFAULT_TIMEOUT);
    }
}
