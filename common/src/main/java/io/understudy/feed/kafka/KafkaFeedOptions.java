package io.understudy.feed.kafka;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.util.List;

/**
 * What a feed reads, and how much of it at once.
 *
 * @param topic of the changes
 * @param stateTopic the compacted one
 * @param maxCommitBytes of what must be held until it is known to be whole, which is what was written together: keys,
 *     values, and 128 bytes for each change
 */
public record KafkaFeedOptions(String topic, String stateTopic, long maxCommitBytes) {

    private static final long DEFAULT_MAX_COMMIT_BYTES = 128L << 20;

    /** What mirrors call the compacted topic of that change topic. */
    public static String stateTopicOf(String topic) {
        return topic + ".state";
    }

    public static final Setting<String> TOPIC =
            Setting.text("topic", "Name of the change topic.").example("understudy");
    public static final Setting<String> STATE_TOPIC = Setting.text(
                    "stateTopic",
                    "Name of the compacted state topic; by default, the change topic's name followed by .state."
                            + " MirrorMaker renames both topics.")
            .optionally()
            .example("core.understudy.state");
    public static final Setting<Long> MAX_COMMIT_BYTES = Setting.bytes(
                    "maxCommitBytes",
                    "Maximum size of a commit, or of a transaction of several commits: keys, values, and 128 bytes per"
                            + " change. A larger one is replaced by a snapshot of the state topic.")
            .defaultsTo(DEFAULT_MAX_COMMIT_BYTES)
            // A mirror writes up to 2 MiB, of up to 10,000 changes, together.
            .between(4L << 20, 1L << 30);

    /** All that can be configured, relative to Kafka's group. */
    public static final List<Setting<?>> ROWS = List.of(TOPIC, STATE_TOPIC, MAX_COMMIT_BYTES);

    /** What {@link #ROWS} say. */
    public static KafkaFeedOptions from(Configuration group) {
        String topic = group.get(TOPIC);
        return new KafkaFeedOptions(
                topic, group.find(STATE_TOPIC).orElse(stateTopicOf(topic)), group.get(MAX_COMMIT_BYTES));
    }

    /** Defaults for everything else. */
    public static KafkaFeedOptions of(String topic) {
        return of(topic, stateTopicOf(topic));
    }

    /** Defaults for everything else. */
    public static KafkaFeedOptions of(String topic, String stateTopic) {
        return new KafkaFeedOptions(topic, stateTopic, DEFAULT_MAX_COMMIT_BYTES);
    }
}
