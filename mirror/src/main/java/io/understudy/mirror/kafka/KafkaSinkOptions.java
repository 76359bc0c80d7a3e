package io.understudy.mirror.kafka;

import java.time.Duration;

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

    /** The largest record that topics created here take. */
    public static final int MAX_MESSAGE_BYTES = 2 << 20;

    /** Defaults for everything else. */
    public static KafkaSinkOptions of(String bootstrapServers, String topic) {
        return new KafkaSinkOptions(
                bootstrapServers, topic, (short) -1, Duration.ofSeconds(20), Duration.ofSeconds(1), 5_000_000);
    }

    String checkpointTopic() {
        return topic + ".checkpoint";
    }
}
