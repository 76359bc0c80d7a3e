package io.understudy.mirror.kafka;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.config.Setting;
import io.understudy.feed.kafka.KafkaFeedOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Names in Kafka of what a mirror writes.
 *
 * @param topic of the changes
 * @param stateTopic the compacted one
 * @param transactionalIdPrefix precedes the topic in the transactional.id
 */
public record KafkaNames(
        @Configured(
                value = "Name of the change topic.",
                optional = true,
                check = TopicName.class,
                example = "understudy")
        String topic,

        @Configured(
                value = "Name of the compacted state topic; by default, the change topic's name followed by .state.",
                optional = true,
                check = TopicName.class,
                example = "understudy.state")
        String stateTopic,

        @Configured(
                value = "Name of the compacted checkpoint topic; by default, the change topic's name followed by"
                        + " .checkpoint.",
                optional = true,
                check = TopicName.class,
                example = "understudy.checkpoint")
        String checkpointTopic,

        @Configured(
                value =
                        "Prefix of the producer's transactional.id, which ends with the change topic's name. After a change,"
                                + " the mirror first fences the previous ID, for which it still requires Write.",
                byDefault = "understudy.")
        String transactionalIdPrefix) {

    private static final Pattern TOPIC_NAME = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

    private static final Setting<?> TOPIC = Binder.row(KafkaNames.class, "topic");

    public KafkaNames {
        TopicName name = new TopicName();
        name.accept(topic);
        name.accept(stateTopic);
        name.accept(checkpointTopic);
    }

    /** Default names. */
    public static KafkaNames of(String topic) {
        return Binder.defaults(KafkaNames.class, others(topic));
    }

    /** The names of the configuration; empty without a topic. */
    public static Optional<KafkaNames> of(Configuration group) {
        return group.find(TOPIC).map(topic -> group.bind(KafkaNames.class, others(String.valueOf(topic))));
    }

    private static Map<String, String> others(String topic) {
        return Map.of(
                "topic",
                topic,
                "stateTopic",
                KafkaFeedOptions.stateTopicOf(topic),
                "checkpointTopic",
                topic + ".checkpoint");
    }

    /** The {@code transactional.id} of the producer; the broker fences earlier producers with the same one. */
    public String transactionalId() {
        return transactionalIdPrefix + topic;
    }

    /** The three topics, by the setting that names them. */
    public Map<Setting<?>, String> topics() {
        Map<Setting<?>, String> topics = new LinkedHashMap<>();
        topics.put(TOPIC, topic);
        topics.put(Binder.row(KafkaNames.class, "stateTopic"), stateTopic);
        topics.put(Binder.row(KafkaNames.class, "checkpointTopic"), checkpointTopic);
        return topics;
    }

    /** Checks a topic's name as Kafka does. */
    static final class TopicName implements Consumer<String> {
        @Override
        public void accept(String topic) {
            if (!TOPIC_NAME.matcher(topic).matches() || topic.equals(".") || topic.equals("..")) {
                throw new IllegalArgumentException(
                        "topic name must have 1 to 249 letters, digits, dots, underscores and"
                                + " hyphens; default names of other topics are longer");
            }
        }
    }
}
