package io.understudy.mirror.kafka;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * How a mirror writes to Kafka.
 *
 * @param bootstrapServers {@code host:port,…} of some brokers
 * @param topic where the changes go; the checkpoint goes to {@code <topic>.checkpoint}
 * @param replicationFactor of topics that are created; -1 for the broker's default
 * @param timeout how long one step (a request with its retries, the acknowledgement of what is on its way) may take
 *     before the sink gives up and is opened anew
 * @param checkpointInterval how often the checkpoint is stored while changes keep coming; what came since then is
 *     repeated after a crash
 * @param maxMergeKeys how many keys a merge of a snapshot may hold in memory, about 100 bytes and the key each
 */
public record KafkaSinkOptions(
        String bootstrapServers,
        String topic,
        short replicationFactor,
        Duration timeout,
        Duration checkpointInterval,
        int maxMergeKeys) {

    private static final Pattern TOPIC_NAME = Pattern.compile("[a-zA-Z0-9._-]{1,238}");
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration DEFAULT_CHECKPOINT_INTERVAL = Duration.ofSeconds(1);
    private static final int DEFAULT_MAX_MERGE_KEYS = 5_000_000;
    private static final short BROKERS_DEFAULT = -1;

    /** The largest record that topics created here take. */
    public static final int MAX_MESSAGE_BYTES = 2 << 20;

    /** Required of a mirror into Kafka. */
    public static final Setting<String> BOOTSTRAP_SERVERS = Setting.text(
                    "bootstrapServers", "Some of Kafka's brokers, host:port separated by commas.")
            .optionally()
            .example("127.0.0.1:9092");
    /** Required of a mirror into Kafka. */
    public static final Setting<String> TOPIC = Setting.text(
                    "topic",
                    "The topic that changes go to; the checkpoint goes to the topic of this name and .checkpoint.")
            .checkedBy(KafkaSinkOptions::requireTopicName)
            .optionally()
            .example("understudy");

    private static final Setting<Integer> REPLICATION_FACTOR = Setting.integer(
                    "replicationFactor", "Of topics that are created; by default the broker's.")
            .between(1, (int) Short.MAX_VALUE)
            .optionally()
            .example("3");
    private static final Setting<Duration> TIMEOUT = Setting.duration(
                    "timeout", "How long one step may take before the connection is given up and opened anew.")
            .defaultsTo(DEFAULT_TIMEOUT)
            .between(Duration.ofSeconds(1), Duration.ofMinutes(10));
    private static final Setting<Duration> CHECKPOINT_INTERVAL = Setting.duration(
                    "checkpointInterval",
                    "How often the checkpoint is stored while changes keep coming; as much may be repeated after a crash.")
            .defaultsTo(DEFAULT_CHECKPOINT_INTERVAL)
            .between(Duration.ofMillis(10), Duration.ofMinutes(1));
    private static final Setting<Integer> MAX_MERGE_KEYS = Setting.integer(
                    "maxMergeKeys",
                    "How many keys a merge of a snapshot may hold in memory, about 100 bytes and the key each.")
            .defaultsTo(DEFAULT_MAX_MERGE_KEYS)
            .between(1, Integer.MAX_VALUE);

    /** The rows of all that can be configured, relative to the target's group. */
    public static final List<Setting<?>> ROWS =
            List.of(BOOTSTRAP_SERVERS, TOPIC, REPLICATION_FACTOR, TIMEOUT, CHECKPOINT_INTERVAL, MAX_MERGE_KEYS);

    /** What {@link #ROWS} say, of which server and topic must be given. */
    public static KafkaSinkOptions from(Configuration group) {
        return new KafkaSinkOptions(
                group.get(BOOTSTRAP_SERVERS),
                group.get(TOPIC),
                group.find(REPLICATION_FACTOR).map(Integer::shortValue).orElse(BROKERS_DEFAULT),
                group.get(TIMEOUT),
                group.get(CHECKPOINT_INTERVAL),
                group.get(MAX_MERGE_KEYS));
    }

    /** Defaults for everything else. */
    public static KafkaSinkOptions of(String bootstrapServers, String topic) {
        return new KafkaSinkOptions(
                bootstrapServers,
                topic,
                BROKERS_DEFAULT,
                DEFAULT_TIMEOUT,
                DEFAULT_CHECKPOINT_INTERVAL,
                DEFAULT_MAX_MERGE_KEYS);
    }

    String checkpointTopic() {
        return topic + ".checkpoint";
    }

    private static void requireTopicName(String topic) {
        if (!TOPIC_NAME.matcher(topic).matches() || topic.equals(".") || topic.equals("..")) {
            throw new IllegalArgumentException(
                    "a topic's name has 1 to 238 letters, digits, dots, underscores and hyphens");
        }
    }
}
