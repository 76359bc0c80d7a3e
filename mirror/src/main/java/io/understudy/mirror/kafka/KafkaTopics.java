package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates missing topics of a mirror, and rejects those that would lose or reorder records. */
final class KafkaTopics {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaTopics.class);

    /** Maximum record: a producer's buffer holds two, and etcd's limit is far lower. */
    private static final int MAX_RECORD_BYTES = 64 << 20;

    /** Segment size that bounds the part of the topic that compaction leaves and readers read. */
    private static final int CHECKPOINT_SEGMENT_BYTES = 16 << 20;

    private static final int STATE_SEGMENT_BYTES = 128 << 20;

    private final Admin admin;
    private final KafkaSinkOptions options;
    private final Duration timeout;

    KafkaTopics(Admin admin, KafkaSinkOptions options) {
        this.admin = admin;
        this.options = options;
        this.timeout = options.kafka().timeout();
    }

    /** Returns the existing topics of the mirror, by name. */
    Map<String, TopicDescription> find() {
        Map<String, TopicDescription> found = new HashMap<>();
        for (Wanted wanted : wanted()) {
            describe(wanted.name()).ifPresent(description -> found.put(wanted.name(), description));
        }
        return found;
    }

    /**
     * Checks existing topics and creates the others. Topics created by the broker with its defaults are adopted and get
     * the settings of created ones.
     *
     * @param isAdopted whether a found topic was never written and may be changed or recreated
     * @return the IDs of all three topics
     * @throws SinkException.Refused one has unsuitable settings
     */
    Map<String, Uuid> ensure(Map<String, TopicDescription> found, Predicate<TopicDescription> isAdopted) {
        Map<String, Uuid> ids = new HashMap<>();
        for (Wanted wanted : wanted()) {
            TopicDescription there = found.get(wanted.name());
            if (there == null) {
                ids.put(wanted.name(), create(wanted));
            } else if (isAdopted.test(there)) {
                ids.put(wanted.name(), adopt(wanted, there));
            } else {
                check(wanted, there, config(wanted.name()));
                ids.put(wanted.name(), there.topicId());
            }
        }
        return ids;
    }

    private Uuid adopt(Wanted wanted, TopicDescription there) {
        int replicas = there.partitions().get(0).replicas().size();
        boolean isRecreated = there.partitions().size() != wanted.partitions()
                || replicationFactor().filter(factor -> factor != replicas).isPresent();
        if (isRecreated) {
            permitted(
                    "deleting topic " + wanted.name() + ", which was never written and has "
                            + Counted.of(there.partitions().size(), "partition") + " and "
                            + Counted.of(replicas, "replica"),
                    AclOperation.DELETE,
                    "kafka-topics.sh --bootstrap-server " + options.kafka().bootstrapServers() + " --delete --topic "
                            + wanted.name(),
                    admin.deleteTopics(List.of(wanted.name())).all());
            return create(wanted);
        }
        Map<String, String> settings = new TreeMap<>(settings(wanted));
        Config config = config(wanted.name());
        // What the topic sets itself is an operator's decision.
        settings.keySet().removeIf(name -> config.get(name).source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
        if (settings.isEmpty()) {
            check(wanted, there, config);
            return there.topicId();
        }
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, wanted.name());
        List<AlterConfigOp> changes = new ArrayList<>();
        settings.forEach((name, value) ->
                changes.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
        permitted(
                "changing settings of topic " + wanted.name(),
                AclOperation.ALTER_CONFIGS,
                "kafka-configs.sh --bootstrap-server " + options.kafka().bootstrapServers()
                        + " --alter --entity-type topics --entity-name " + wanted.name() + " --add-config "
                        + settings.toString().replaceAll("[{} ]", ""),
                admin.incrementalAlterConfigs(Map.of(resource, changes)).all());
        LOG.atInfo()
                .addKeyValue("name", wanted.name())
                .addKeyValue("settings", settings)
                .log("topic adopted");
        List<ConfigEntry> effective = new ArrayList<>(config.entries());
        effective.removeIf(entry -> settings.containsKey(entry.name()));
        settings.forEach((name, value) -> effective.add(new ConfigEntry(name, value)));
        check(wanted, there, new Config(effective));
        return there.topicId();
    }

    /** Awaits a call that may exceed a writer's ACLs; otherwise an operator runs the command. */
    private void permitted(String doing, AclOperation operation, String command, KafkaFuture<Void> future) {
        try {
            var unused = await(doing, operation, future);
        } catch (SinkException.Unavailable | SinkException.Refused e) {
            throw new SinkException.Unavailable(e.getMessage() + ". Alternatively, run: " + command, e);
        }
    }

    /** Returns the largest record that change topic and state topic accept, once created, within bounds. */
    RecordLimit limit(Map<String, TopicDescription> found) {
        // Less is refused, or raised in an adopted topic.
        int bytes = Stream.of(options.topic(), options.stateTopic())
                .filter(found::containsKey)
                .mapToInt(topic -> Math.max(options.format().messageBytes(), maxMessageBytes(config(topic))))
                .min()
                .orElse(options.format().messageBytes());
        return new RecordLimit(Math.min(bytes, MAX_RECORD_BYTES), options.topic() + " and " + options.stateTopic());
    }

    /**
     * The required settings of a topic.
     *
     * @param policy its cleanup.policy
     * @param isData whether it holds keys and values
     */
    private record Wanted(String name, int partitions, String policy, boolean isData, Map<String, String> settings) {}

    private List<Wanted> wanted() {
        List<Wanted> wanted = new ArrayList<>();
        String messageBytes = Integer.toString(options.format().messageBytes());
        wanted.add(new Wanted(
                options.topic(),
                options.partitions(),
                TopicConfig.CLEANUP_POLICY_DELETE,
                true,
                Map.of(
                        TopicConfig.RETENTION_MS_CONFIG,
                        Long.toString(options.retention().toMillis()),
                        TopicConfig.RETENTION_BYTES_CONFIG,
                        "-1",
                        TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                        messageBytes)));
        wanted.add(new Wanted(
                options.stateTopic(),
                1,
                TopicConfig.CLEANUP_POLICY_COMPACT,
                true,
                Map.of(
                        TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                        messageBytes,
                        TopicConfig.SEGMENT_BYTES_CONFIG,
                        Integer.toString(STATE_SEGMENT_BYTES),
                        // Else a copy that pauses for a day misses what was deleted meanwhile.
                        TopicConfig.DELETE_RETENTION_MS_CONFIG,
                        Long.toString(options.retention().toMillis()))));
        wanted.add(new Wanted(
                options.checkpointTopic(),
                1,
                TopicConfig.CLEANUP_POLICY_COMPACT,
                false,
                Map.of(TopicConfig.SEGMENT_BYTES_CONFIG, Integer.toString(CHECKPOINT_SEGMENT_BYTES))));
        return wanted;
    }

    private void check(Wanted wanted, TopicDescription there, Config config) {
        int partitions = there.partitions().size();
        if (partitions != wanted.partitions()) {
            throw new SinkException.Refused("topic " + wanted.name() + " has " + partitions + " partitions, expected "
                    + wanted.partitions() + " to preserve commit order. "
                    + (wanted.name().equals(options.topic()) ? "Change the setting partitions, or m" : "M")
                    + "irror to another topic");
        }
        String policy = config.get(TopicConfig.CLEANUP_POLICY_CONFIG).value();
        if (!policy.equals(wanted.policy())) {
            throw new SinkException.Refused(
                    "topic " + wanted.name() + " has " + TopicConfig.CLEANUP_POLICY_CONFIG + "=" + policy + "; "
                            + wanted.policy() + " is required, since otherwise "
                            + (wanted.policy().equals(TopicConfig.CLEANUP_POLICY_COMPACT)
                                    ? "valid records would be deleted"
                                    : "commits would be incomplete"));
        }
        int bytes = maxMessageBytes(config);
        if (wanted.isData() && bytes < options.format().messageBytes()) {
            throw new SinkException.Refused("topic " + wanted.name() + " has " + TopicConfig.MAX_MESSAGE_BYTES_CONFIG
                    + "=" + bytes + "; " + "at least " + options.format().messageBytes()
                    + " is required for the largest values of etcd");
        }
    }

    private static Map<String, String> settings(Wanted wanted) {
        Map<String, String> settings = new HashMap<>(wanted.settings());
        settings.put(TopicConfig.CLEANUP_POLICY_CONFIG, wanted.policy());
        return settings;
    }

    private Uuid create(Wanted wanted) {
        Map<String, String> settings = settings(wanted);
        NewTopic topic =
                new NewTopic(wanted.name(), Optional.of(wanted.partitions()), replicationFactor()).configs(settings);
        Uuid id = await(
                "creating topic " + wanted.name(),
                AclOperation.CREATE,
                admin.createTopics(List.of(topic)).topicId(wanted.name()));
        LOG.atInfo()
                .addKeyValue("name", wanted.name())
                .addKeyValue("partitions", wanted.partitions())
                .addKeyValue("settings", settings)
                .log("topic created");
        return id;
    }

    private Optional<Short> replicationFactor() {
        return options.replicationFactor() < 1 ? Optional.empty() : Optional.of(options.replicationFactor());
    }

    private Optional<TopicDescription> describe(String topic) {
        try {
            return Optional.ofNullable(await(
                            "describing topic " + topic,
                            AclOperation.DESCRIBE,
                            admin.describeTopics(List.of(topic)).allTopicNames())
                    .get(topic));
        } catch (SinkException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Whether an open transaction hides the last records of a partition. */
    boolean hidesRecords(TopicPartition partition) {
        // This order: what is written in between does not count as hidden.
        long all = end(partition, IsolationLevel.READ_UNCOMMITTED);
        return end(partition, IsolationLevel.READ_COMMITTED) < all;
    }

    private long end(TopicPartition partition, IsolationLevel isolation) {
        return await(
                        "reading the end of partition " + partition,
                        AclOperation.DESCRIBE,
                        admin.listOffsets(Map.of(partition, OffsetSpec.latest()), new ListOffsetsOptions(isolation))
                                .partitionResult(partition))
                .offset();
    }

    private static int maxMessageBytes(Config config) {
        return Integer.parseInt(config.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG).value());
    }

    private Config config(String topic) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        String doing = "describing the configuration of topic " + topic;
        return Objects.requireNonNull(
                await(
                                doing,
                                AclOperation.DESCRIBE_CONFIGS,
                                admin.describeConfigs(List.of(resource)).all())
                        .get(resource),
                doing);
    }

    private <T> T await(String doing, AclOperation operation, KafkaFuture<T> future) {
        try {
            return future.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException | TimeoutException | ExecutionException e) {
            throw KafkaFailures.explained(doing, operation, options.kafka(), e);
        }
    }

    /**
     * The largest record that the topics take. A change beyond it is refused before anything of its commit is sent.
     *
     * <p>Invariant M29: no part of a commit with an oversized value is written.
     *
     * @param bytes the least {@code max.message.bytes} of the topics that hold keys
     */
    record RecordLimit(int bytes, String topics) {

        /** Upper bound of headers and the envelope of a batch of one record. */
        private static final int AROUND = 1 << 10;
        /** Inverse of the maximum growth of incompressible data. */
        private static final int GROWTH_DIVISOR = 256;

        /**
         * Checks one record.
         *
         * @param size bytes of key and value
         * @throws SinkException.Refused it may not fit
         */
        void requireFits(ByteString key, long size, Revision revision) {
            long record = size + size / GROWTH_DIVISOR + AROUND;
            if (record > bytes) {
                throw new SinkException.Refused("key \"" + TextFormat.escapeBytes(key) + "\" at revision " + revision
                        + " requires a record of up to " + record + " bytes; max.message.bytes of " + topics + " is "
                        + bytes + ". The mirror stopped before it. Increase max.message.bytes of both topics"
                        + " (kafka-configs --alter --entity-type topics), and the brokers' replica.fetch.max.bytes if"
                        + " lower, then restart the mirror");
            }
        }
    }
}
