package io.understudy.mirror.kafka;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.feed.kafka.ValueFormat;
import io.understudy.kafka.KafkaClient;
import io.understudy.kafka.KafkaSettings;
import java.time.Duration;
import java.util.Map;

/**
 * Options of a mirror into Kafka.
 *
 * @param replicationFactor of topics that are created; -1 for the broker's default
 */
public record KafkaSinkOptions(
        KafkaSettings kafka,

        @Configured(
                value =
                        "Kafka properties of the producer, by Kafka's names. Those that delivery depends on are rejected.",
                check = KafkaClient.OfProducer.class,
                example = "{compression.type: zstd, linger.ms: 20}")
        Map<String, String> producer,

        KafkaNames names,

        @Configured(
                value =
                        "Format of values. raw: etcd's value. debezium: change events in Debezium's envelope, as JSON. It"
                                + " cannot be changed for existing topics.",
                byDefault = "raw")
        ValueFormat format,

        @Configured(
                value =
                        "Number of partitions of the change topic. With one, records are in commit order; with more, only"
                                + " the records of each key are ordered.",
                byDefault = "1",
                range = "1..100")
        int partitions,

        @Configured(
                value = "Replication factor of created topics; by default, the broker's.",
                optional = true,
                range = "1..32767",
                example = "3")
        short replicationFactor,

        @Configured(
                value =
                        "Retention of the change topic, if the mirror creates it. A reader that falls further behind starts"
                                + " again from the state topic. 36500d means unlimited.",
                byDefault = "7d",
                range = "1m..36500d")
        Duration retention,

        @Configured(
                value = "Interval of heartbeat records while nothing changes; the lower bound of readers' staleness.",
                byDefault = "1s",
                range = "500ms..10m")
        Duration heartbeatInterval,

        @Configured(
                value = "Time after which the broker aborts an open transaction; at most the broker's"
                        + " transaction.max.timeout.ms, to which it is raised for a transaction that takes longer.",
                byDefault = "1m",
                range = "5s..15m")
        Duration transactionTimeout,

        @Configured(
                value =
                        "Action if a topic was deleted, recreated or truncated. stop: report the topic and stop. resync:"
                                + " rewrite the full state.",
                byDefault = "stop")
        TopicLoss onTopicLoss,

        @Configured(
                value =
                        "Maximum number of keys held in memory while merging a snapshot, at most an eighth of the Java heap;"
                                + " each takes about 130 bytes plus the key. With more keys, the state topic is read"
                                + " several times.",
                byDefault = "5000000",
                range = "1..2147483647")
        int maxMergeKeys) {

    private static final short BROKERS_DEFAULT = -1;

    /** The settings of the configuration; server and topic are required. */
    public static KafkaSinkOptions from(Configuration group) {
        return group.bind(
                KafkaSinkOptions.class,
                others(
                        KafkaSettings.from(group),
                        KafkaNames.of(group)
                                .orElseThrow(
                                        () -> new IllegalArgumentException("topic of the Kafka target is not set"))));
    }

    /** Defaults for everything else. */
    public static KafkaSinkOptions of(String bootstrapServers, String topic) {
        return of(KafkaSettings.of(bootstrapServers), topic);
    }

    /** Defaults for everything else. */
    public static KafkaSinkOptions of(KafkaSettings kafka, String topic) {
        return Binder.defaults(KafkaSinkOptions.class, others(kafka, KafkaNames.of(topic)));
    }

    private static Map<String, Object> others(KafkaSettings kafka, KafkaNames names) {
        return Map.of("kafka", kafka, "names", names, "replicationFactor", BROKERS_DEFAULT);
    }

    /** Returns these options with another number of partitions. */
    public KafkaSinkOptions withPartitions(int count) {
        return Binder.with(this, "partitions", count);
    }

    /** Returns these options with other names, another format, or another policy. */
    public KafkaSinkOptions with(Object part) {
        return Binder.with(this, part);
    }

    /** Returns these options with another timeout. */
    public KafkaSinkOptions withTransactionTimeout(Duration timeout) {
        return Binder.with(this, "transactionTimeout", timeout);
    }

    public String topic() {
        return names.topic();
    }

    public String stateTopic() {
        return names.stateTopic();
    }

    String checkpointTopic() {
        return names.checkpointTopic();
    }

    String transactionalId() {
        return names.transactionalId();
    }

    /** Action when a topic lacks written data. */
    public enum TopicLoss {
        /** Stop the mirror and report the missing data. */
        STOP,
        /** Rewrite the whole state; readers start with it. */
        RESYNC
    }
}
