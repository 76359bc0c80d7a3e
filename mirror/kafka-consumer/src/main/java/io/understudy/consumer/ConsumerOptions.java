package io.understudy.consumer;

import java.util.Map;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * Settings of a {@link MirrorConsumer}.
 *
 * @param kafka properties of Kafka's consumer and admin client, at least {@code bootstrap.servers}. The isolation level,
 *     offset handling and deserializers are set by the library
 * @param topic change topic
 * @param stateTopic compacted topic
 * @param keys converts etcd's keys
 * @param values converts etcd's values
 * @param maxCommitBytes limit of the memory that unfinished commits take; beyond it, the state replaces them
 * @param maxKeys limit of the number of keys while the state is read; each takes about 50 bytes
 */
public record ConsumerOptions<K, V>(
        Map<String, Object> kafka,
        String topic,
        String stateTopic,
        Deserializer<K> keys,
        Deserializer<V> values,
        long maxCommitBytes,
        long maxKeys) {

    private static final long DEFAULT_COMMIT_BYTES = 64L << 20;
    private static final long DEFAULT_KEYS = 10_000_000;

    public ConsumerOptions {
        kafka = Map.copyOf(kafka);
    }

    /** Topics with the mirror's default names, and default limits. */
    public static <K, V> ConsumerOptions<K, V> of(
            Map<String, Object> kafka, String topic, Deserializer<K> keys, Deserializer<V> values) {
        return new ConsumerOptions<>(kafka, topic, topic + ".state", keys, values, DEFAULT_COMMIT_BYTES, DEFAULT_KEYS);
    }

    /** Another state topic. */
    public ConsumerOptions<K, V> withStateTopic(String name) {
        return new ConsumerOptions<>(kafka, topic, name, keys, values, maxCommitBytes, maxKeys);
    }

    /** Other limits. */
    public ConsumerOptions<K, V> withLimits(long commitBytes, long keyCount) {
        return new ConsumerOptions<>(kafka, topic, stateTopic, keys, values, commitBytes, keyCount);
    }
}
