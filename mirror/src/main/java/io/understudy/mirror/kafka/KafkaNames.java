package io.understudy.mirror.kafka;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.feed.kafka.KafkaFeedOptions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Names in Kafka of what a mirror writes.
 *
 * @param topic of the changes
 * @param stateTopic the compacted one
 * @param transactionalId of the producer; the broker fences earlier producers with the same one
 */
public record KafkaNames(String topic, String stateTopic, String checkpointTopic, String transactionalId) {

    private static final Pattern TOPIC_NAME = Pattern.compile("[a-zA-Z0-9._-]{1,249}");
    private static final String DEFAULT_PREFIX = "understudy.";

    /** Required of a mirror into Kafka. */
    public static final Setting<String> TOPIC = topic("topic", "Name of the change topic.", "understudy");

    private static final Setting<String> STATE_TOPIC = topic(
            "stateTopic",
            "Name of the compacted state topic; by default, the change topic's name followed by .state.",
            "understudy.state");
    private static final Setting<String> CHECKPOINT_TOPIC = topic(
            "checkpointTopic",
            "Name of the compacted checkpoint topic; by default, the change topic's name followed by .checkpoint.",
            "understudy.checkpoint");
    /** Precedes the topic in the transactional.id. */
    public static final Setting<String> TRANSACTIONAL_ID_PREFIX = Setting.text(
                    "transactionalIdPrefix",
                    "Prefix of the producer's transactional.id, which ends with the change topic's name. After a change,"
                            + " the mirror first fences the previous ID, for which it still requires Write.")
            .defaultsTo(DEFAULT_PREFIX);

    static final List<Setting<?>> ROWS = List.of(TOPIC, STATE_TOPIC, CHECKPOINT_TOPIC, TRANSACTIONAL_ID_PREFIX);

    public KafkaNames {
        List.of(topic, stateTopic, checkpointTopic).forEach(KafkaNames::requireTopicName);
    }

    /** Default names. */
    public static KafkaNames of(String topic) {
        return new KafkaNames(
                topic, KafkaFeedOptions.stateTopicOf(topic), topic + ".checkpoint", DEFAULT_PREFIX + topic);
    }

    /** What the rows contain; empty without a topic. */
    public static Optional<KafkaNames> of(Configuration group) {
        return group.find(TOPIC).map(topic -> {
            KafkaNames names = of(topic);
            return new KafkaNames(
                    topic,
                    group.find(STATE_TOPIC).orElse(names.stateTopic()),
                    group.find(CHECKPOINT_TOPIC).orElse(names.checkpointTopic()),
                    group.get(TRANSACTIONAL_ID_PREFIX) + topic);
        });
    }

    /** The three topics, by the setting that names them. */
    public Map<Setting<?>, String> topics() {
        Map<Setting<?>, String> topics = new LinkedHashMap<>();
        topics.put(TOPIC, topic);
        topics.put(STATE_TOPIC, stateTopic);
        topics.put(CHECKPOINT_TOPIC, checkpointTopic);
        return topics;
    }

    private static Setting<String> topic(String key, String doc, String example) {
        return Setting.text(key, doc)
                .checkedBy(KafkaNames::requireTopicName)
                .optionally()
                .example(example);
    }

    private static void requireTopicName(String topic) {
        if (!TOPIC_NAME.matcher(topic).matches() || topic.equals(".") || topic.equals("..")) {
            throw new IllegalArgumentException("topic name must have 1 to 249 letters, digits, dots, underscores and"
                    + " hyphens; default names of other topics are longer");
        }
    }
}
