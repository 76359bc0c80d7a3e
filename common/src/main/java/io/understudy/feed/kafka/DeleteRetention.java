package io.understudy.feed.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;

/** How long a compacted topic keeps records of deleted keys. */
final class DeleteRetention {

    /** Kafka's own default, for those who may not see a topic's settings. */
    static final Duration DEFAULT = Duration.ofDays(1);

    private DeleteRetention() {}

    static KafkaFuture<Duration> ask(Admin admin, String topic) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return Objects.requireNonNull(
                        admin.describeConfigs(List.of(resource)).values().get(resource))
                .thenApply(config -> of(config.get(TopicConfig.DELETE_RETENTION_MS_CONFIG)));
    }

    private static Duration of(@Nullable ConfigEntry entry) {
        return entry == null || entry.value() == null ? DEFAULT : Duration.ofMillis(Long.parseLong(entry.value()));
    }
}
