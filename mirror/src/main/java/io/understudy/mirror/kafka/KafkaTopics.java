package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the topics of a mirror where they are missing, and refuses those that would lose or reorder records. */
final class KafkaTopics {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaTopics.class);

    private final Admin admin;
    private final KafkaSinkOptions options;

    KafkaTopics(Admin admin, KafkaSinkOptions options) {
        this.admin = admin;
        this.options = options;
    }

    /** Makes sure of both topics; returns whether that of the data was missing. */
    boolean ensure() {
        boolean created = ensure(
                options.topic(),
                Map.of(
                        TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE,
                        TopicConfig.RETENTION_MS_CONFIG, "-1",
                        TopicConfig.RETENTION_BYTES_CONFIG, "-1"),
                Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.toString(KafkaSinkOptions.MAX_MESSAGE_BYTES)));
        boolean unused = ensure(
                options.checkpointTopic(),
                Map.of(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT),
                Map.of());
        return created;
    }

    /**
     * One topic.
     *
     * @param required settings without which an existing topic is refused
     * @param chosen settings of a topic that is created
     * @return whether it was created
     */
    private boolean ensure(String topic, Map<String, String> required, Map<String, String> chosen) {
        Optional<TopicDescription> found = describe(topic);
        if (found.isEmpty()) {
            create(topic, required, chosen);
            return true;
        }
        int partitions = found.get().partitions().size();
        if (partitions != 1) {
            throw new SinkException.Refused("topic " + topic + " has " + partitions
                    + " partitions; a mirror needs exactly 1, so that commits stay in order");
        }
        Config config = config(topic);
        required.forEach((name, value) -> {
            String actual = String.valueOf(config.get(name).value());
            if (!actual.equals(value)) {
                throw new SinkException.Refused("topic " + topic + " has " + name + "=" + actual + "; " + value
                        + " is needed, else records would be lost");
            }
        });
        return false;
    }

    private void create(String topic, Map<String, String> required, Map<String, String> chosen) {
        Map<String, String> settings = new HashMap<>(required);
        settings.putAll(chosen);
        NewTopic wanted = new NewTopic(topic, Optional.of(1), replicationFactor()).configs(settings);
        try {
            await("creating topic " + topic, admin.createTopics(List.of(wanted)).all());
            LOG.info("topic created, name={} settings={}", topic, settings);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw KafkaFailures.explained("creating topic " + topic, e);
            }
        }
    }

    private Optional<Short> replicationFactor() {
        return options.replicationFactor() < 1 ? Optional.empty() : Optional.of(options.replicationFactor());
    }

    private Optional<TopicDescription> describe(String topic) {
        String doing = "asking for topic " + topic;
        try {
            return Optional.ofNullable(
                    await(doing, admin.describeTopics(List.of(topic)).allTopicNames())
                            .get(topic));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return Optional.empty();
            }
            throw KafkaFailures.explained(doing, e);
        }
    }

    private Config config(String topic) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        String doing = "asking for the settings of topic " + topic;
        try {
            return Objects.requireNonNull(
                    await(doing, admin.describeConfigs(List.of(resource)).all()).get(resource), doing);
        } catch (ExecutionException e) {
            throw KafkaFailures.explained(doing, e);
        }
    }

    private <T> T await(String doing, KafkaFuture<T> future) throws ExecutionException {
        Duration timeout = options.timeout();
        try {
            return future.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException | TimeoutException e) {
            throw KafkaFailures.explained(doing, e);
        }
    }
}
