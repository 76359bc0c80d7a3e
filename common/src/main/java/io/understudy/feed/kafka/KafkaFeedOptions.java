package io.understudy.feed.kafka;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.config.Setting;
import java.util.Map;

/**
 * What a feed reads, and how much of it at once.
 *
 * @param maxCommitBytes a mirror writes up to 2 MiB, of up to 10,000 changes, together
 */
public record KafkaFeedOptions(
        @Configured(value = "Name of the change topic.", example = "understudy")
        String topic,

        @Configured(
                value = "Name of the compacted state topic; by default, the change topic's name followed by .state."
                        + " MirrorMaker renames both topics.",
                optional = true,
                example = "core.understudy.state")
        String stateTopic,

        @Configured(
                value =
                        "Maximum size of a commit, or of a transaction of several commits: keys, values, and 128 bytes per"
                                + " change. A larger one is replaced by a snapshot of the state topic.",
                byDefault = "128MiB",
                range = "4MiB..1GiB",
                bytes = true)
        long maxCommitBytes) {

    /** The name of the change topic, relative to Kafka's group. */
    public static final Setting<?> TOPIC = Binder.row(KafkaFeedOptions.class, "topic");

    /** The default name of a change topic's state topic. */
    public static String stateTopicOf(String topic) {
        return topic + ".state";
    }

    /** The settings of the configuration. */
    public static KafkaFeedOptions from(Configuration group) {
        return group.bind(KafkaFeedOptions.class, Map.of("stateTopic", stateTopicOf(String.valueOf(group.get(TOPIC)))));
    }

    /** Defaults for everything else. */
    public static KafkaFeedOptions of(String topic) {
        return of(topic, stateTopicOf(topic));
    }

    /** Defaults for everything else. */
    public static KafkaFeedOptions of(String topic, String stateTopic) {
        return Binder.defaults(KafkaFeedOptions.class, Map.of("topic", topic, "stateTopic", stateTopic));
    }
}
