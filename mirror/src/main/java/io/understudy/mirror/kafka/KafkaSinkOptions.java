package io.understudy.mirror.kafka;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.feed.kafka.ValueFormat;
import io.understudy.kafka.KafkaSettings;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * How a mirror writes to Kafka.
 *
 * @param format of values
 * @param partitions of the topic of changes
 * @param replicationFactor of topics that are created; -1 for the broker's default
 * @param retention of changes, where their topic is created
 * @param heartbeatInterval how often a mark is written at most while nothing changes
 * @param transactionTimeout after which the broker aborts what a mirror that is gone had not committed; raised for a
 *     transaction that takes longer
 * @param maxMergeKeys how many keys a merge of a snapshot may hold in memory, about 100 bytes and the key each
 */
public record KafkaSinkOptions(
        KafkaSettings kafka,
        KafkaNames names,
        ValueFormat format,
        int partitions,
        short replicationFactor,
        Duration retention,
        Duration heartbeatInterval,
        Duration transactionTimeout,
        TopicLoss onTopicLoss,
        int maxMergeKeys) {

    private static final short BROKERS_DEFAULT = -1;

    private static final Setting<ValueFormat> FORMAT = Setting.choice(
                    "format",
                    ValueFormat.class,
                    "Format of values. raw: etcd's value. debezium: change events in Debezium's envelope, as JSON. It"
                            + " cannot be changed for existing topics.")
            .defaultsTo(ValueFormat.RAW);
    private static final Setting<Integer> PARTITIONS = Setting.integer(
                    "partitions",
                    "Number of partitions of the change topic. With one, records are in commit order; with more, only the"
                            + " records of each key are ordered.")
            .defaultsTo(1)
            .between(1, 100);
    private static final Setting<Integer> REPLICATION_FACTOR = Setting.integer(
                    "replicationFactor", "Replication factor of created topics; by default, the broker's.")
            .between(1, (int) Short.MAX_VALUE)
            .optionally()
            .example("3");
    private static final Setting<Duration> RETENTION = Setting.duration(
                    "retention",
                    "Retention of the change topic, if the mirror creates it. A reader that falls further behind"
                            + " starts again from the state topic. 36500d means unlimited.")
            .defaultsTo(Duration.ofDays(7))
            .between(Duration.ofMinutes(1), Duration.ofDays(36_500));
    private static final Setting<Duration> HEARTBEAT_INTERVAL = Setting.duration(
                    "heartbeatInterval",
                    "Interval of heartbeat records while nothing changes; the lower bound of readers'" + " staleness.")
            .defaultsTo(Duration.ofSeconds(1))
            .between(Duration.ofMillis(500), Duration.ofMinutes(10));
    private static final Setting<Duration> TRANSACTION_TIMEOUT = Setting.duration(
                    "transactionTimeout",
                    "Time after which the broker aborts an open transaction; at most the broker's"
                            + " transaction.max.timeout.ms, to which it is raised for a transaction that takes longer.")
            .defaultsTo(Duration.ofMinutes(1))
            .between(Duration.ofSeconds(5), Duration.ofMinutes(15));
    private static final Setting<TopicLoss> ON_TOPIC_LOSS = Setting.choice(
                    "onTopicLoss",
                    TopicLoss.class,
                    "Action if a topic was deleted, recreated or truncated. stop: report the topic and stop. resync:"
                            + " rewrite the full state.")
            .defaultsTo(TopicLoss.STOP);
    private static final Setting<Integer> MAX_MERGE_KEYS = Setting.integer(
                    "maxMergeKeys",
                    "Maximum number of keys held in memory while merging a snapshot; each takes about 100 bytes plus the key.")
            .defaultsTo(5_000_000)
            .between(1, Integer.MAX_VALUE);

    /** The rows beside those of {@link KafkaSettings}, relative to the target's group. */
    public static final List<Setting<?>> ROWS = Stream.concat(
                    KafkaNames.ROWS.stream(),
                    Stream.of(
                            FORMAT,
                            PARTITIONS,
                            REPLICATION_FACTOR,
                            RETENTION,
                            HEARTBEAT_INTERVAL,
                            TRANSACTION_TIMEOUT,
                            ON_TOPIC_LOSS,
                            MAX_MERGE_KEYS))
            .toList();

    /** What {@link #ROWS} and those of {@link KafkaSettings} say, of which server and topic must be given. */
    public static KafkaSinkOptions from(Configuration group) {
        return new KafkaSinkOptions(
                KafkaSettings.ofWriter(group),
                KafkaNames.of(group)
                        .orElseThrow(() -> new IllegalArgumentException("topic of the Kafka target is not set")),
                group.get(FORMAT),
                group.get(PARTITIONS),
                group.find(REPLICATION_FACTOR).map(Integer::shortValue).orElse(BROKERS_DEFAULT),
                group.get(RETENTION),
                group.get(HEARTBEAT_INTERVAL),
                group.get(TRANSACTION_TIMEOUT),
                group.get(ON_TOPIC_LOSS),
                group.get(MAX_MERGE_KEYS));
    }

    /** Defaults for everything else. */
    public static KafkaSinkOptions of(String bootstrapServers, String topic) {
        return of(KafkaSettings.of(bootstrapServers), topic);
    }

    /** Defaults for everything else. */
    public static KafkaSinkOptions of(KafkaSettings kafka, String topic) {
        return new KafkaSinkOptions(
                kafka,
                KafkaNames.of(topic),
                ValueFormat.RAW,
                1,
                BROKERS_DEFAULT,
                Duration.ofDays(7),
                Duration.ofSeconds(1),
                Duration.ofMinutes(1),
                TopicLoss.STOP,
                5_000_000);
    }

    /** The same with so many partitions. */
    public KafkaSinkOptions withPartitions(int count) {
        return with(names, format, count, onTopicLoss);
    }

    /** The same with another policy. */
    public KafkaSinkOptions withOnTopicLoss(TopicLoss policy) {
        return with(names, format, partitions, policy);
    }

    /** The same with other names. */
    public KafkaSinkOptions withNames(KafkaNames others) {
        return with(others, format, partitions, onTopicLoss);
    }

    /** The same with another format. */
    public KafkaSinkOptions withFormat(ValueFormat other) {
        return with(names, other, partitions, onTopicLoss);
    }

    private KafkaSinkOptions with(KafkaNames others, ValueFormat other, int count, TopicLoss policy) {
        return new KafkaSinkOptions(
                kafka,
                others,
                other,
                count,
                replicationFactor,
                retention,
                heartbeatInterval,
                transactionTimeout,
                policy,
                maxMergeKeys);
    }

    /** The same with another timeout. */
    public KafkaSinkOptions withTransactionTimeout(Duration timeout) {
        return new KafkaSinkOptions(
                kafka,
                names,
                format,
                partitions,
                replicationFactor,
                retention,
                heartbeatInterval,
                timeout,
                onTopicLoss,
                maxMergeKeys);
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
}
