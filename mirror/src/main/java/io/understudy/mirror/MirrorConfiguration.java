package io.understudy.mirror;

import com.google.protobuf.ByteString;
import io.understudy.config.Check;
import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.ForeignKeys;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.vocabulary.KeyRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A mirror process' settings as rows of a configuration. */
public final class MirrorConfiguration {

    private static final String MIRRORS = "mirrors";
    private static final String EACH = MIRRORS + ".*";
    private static final Pattern TOPIC_NAME = Pattern.compile("[a-zA-Z0-9._-]{1,238}");

    private static final Setting<HostPort> LISTEN = Setting.hostPort(
                    "status.listen", "Where /status, /metrics, /livez and /readyz are served.")
            .defaultsTo(new HostPort("127.0.0.1", 8081));

    private static final Setting<String> PREFIX = Setting.text(
                    "prefix", "Only keys that begin with this are copied; by default all keys are.")
            .optionally()
            .example("/registry/");
    private static final Setting<Integer> CATCH_UP_REVISIONS = Setting.integer(
                    "feed.catchUpRevisions",
                    "A mirror into etcd that is further behind compares the two sides instead of replaying.")
            .defaultsTo((int) EtcdFeedOptions.DEFAULTS.catchUpRevisions())
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Long> MAX_COMMIT_BYTES = Setting.bytes(
                    "feed.maxCommitBytes", "A commit of more keys and values ends the mirror; it is held in memory.")
            .defaultsTo(EtcdFeedOptions.DEFAULTS.maxCommitBytes())
            .between(1L << 20, 1L << 30);

    private static final Setting<ForeignKeys> ON_FOREIGN_KEYS = Setting.choice(
                    "onForeignKeys",
                    ForeignKeys.class,
                    "What to do with keys that the target's range holds before its first synchronisation: fail, or"
                            + " delete or keep those that the source doesn't have.")
            .defaultsTo(EtcdSinkOptions.DEFAULTS.onForeignKeys());
    private static final Setting<Long> MAX_REQUEST_BYTES = Setting.bytes(
                    "maxRequestBytes", "The target's --max-request-bytes; a larger commit is written in parts.")
            .defaultsTo((long) EtcdSinkOptions.DEFAULTS.maxRequestBytes())
            .between((long) EtcdSinkOptions.LEAST_REQUEST_BYTES, 1L << 30);
    private static final Setting<Integer> MAX_TXN_OPS = Setting.integer(
                    "maxTxnOps", "The target's --max-txn-ops; a longer commit is nested.")
            .defaultsTo(EtcdSinkOptions.DEFAULTS.maxTxnOps())
            .between(EtcdSinkOptions.LEAST_TXN_OPS, 1_000_000);

    private static final Setting<String> BOOTSTRAP_SERVERS = Setting.text(
                    "bootstrapServers", "Some of Kafka's brokers, host:port separated by commas.")
            .optionally()
            .example("127.0.0.1:9092");
    private static final Setting<String> TOPIC = Setting.text(
                    "topic",
                    "The topic that changes go to; the checkpoint goes to the topic of this name and .checkpoint.")
            .checkedBy(MirrorConfiguration::requireTopicName)
            .optionally()
            .example("understudy");
    private static final Setting<Integer> REPLICATION_FACTOR = Setting.integer(
                    "replicationFactor", "Of topics that are created; by default the broker's.")
            .between(1, (int) Short.MAX_VALUE)
            .optionally()
            .example("3");
    private static final Setting<Duration> KAFKA_TIMEOUT = Setting.duration(
                    "timeout", "How long one step may take before the connection is given up and opened anew.")
            .defaultsTo(Duration.ofSeconds(20))
            .between(Duration.ofSeconds(1), Duration.ofMinutes(10));
    private static final Setting<Duration> CHECKPOINT_INTERVAL = Setting.duration(
                    "checkpointInterval",
                    "How often the checkpoint is stored while changes keep coming; as much may be repeated after a crash.")
            .defaultsTo(Duration.ofSeconds(1))
            .between(Duration.ofMillis(10), Duration.ofMinutes(1));
    private static final Setting<Integer> MAX_MERGE_KEYS = Setting.integer(
                    "maxMergeKeys",
                    "How many keys a merge of a snapshot may hold in memory, about 100 bytes and the key each.")
            .defaultsTo(5_000_000)
            .between(1, Integer.MAX_VALUE);

    private static final Setting<?> ENDPOINTS = EtcdSettings.ROWS.stream()
            .filter(row -> row.key().equals("endpoints"))
            .findFirst()
            .orElseThrow();

    /** Every setting of a mirror process. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    List.<Setting<?>>of(LISTEN),
                    Setting.under(EACH + ".source", EtcdSettings.ROWS),
                    Setting.under(EACH, List.of(PREFIX, CATCH_UP_REVISIONS, MAX_COMMIT_BYTES)),
                    Setting.under(EACH + ".target.etcd", optional(EtcdSettings.ROWS)),
                    Setting.under(EACH + ".target.etcd", List.of(ON_FOREIGN_KEYS, MAX_REQUEST_BYTES, MAX_TXN_OPS)),
                    Setting.under(
                            EACH + ".target.kafka",
                            List.of(
                                    BOOTSTRAP_SERVERS,
                                    TOPIC,
                                    REPLICATION_FACTOR,
                                    KAFKA_TIMEOUT,
                                    CHECKPOINT_INTERVAL,
                                    MAX_MERGE_KEYS)))
            .flatMap(List::stream)
            .toList();

    private MirrorConfiguration() {}

    /**
     * Reads everything, and tells everything that is wrong with it.
     *
     * @param file null for none
     * @param environment of the process
     * @throws io.understudy.config.ConfigurationException something is
     */
    public static MirrorSettings load(@Nullable Path file, Map<String, String> environment) {
        Configuration configuration = Configuration.load(
                file,
                environment,
                Map.of(),
                ROWS,
                MirrorConfiguration::requireMirrors,
                MirrorConfiguration::requireOneTargetEach,
                MirrorConfiguration::requireTopicsOfTheirOwn,
                (all, report) -> settings(all));
        return settings(configuration);
    }

    private static MirrorSettings settings(Configuration all) {
        return new MirrorSettings(
                all.get(LISTEN).socketAddress(),
                all.names(MIRRORS).stream()
                        .filter(name -> hasOneTarget(each(all, name)))
                        .map(name -> mirror(name, each(all, name)))
                        .toList());
    }

    private static MirrorSettings.Mirror mirror(String name, Configuration mirror) {
        EtcdFeedOptions feed = EtcdFeedOptions.DEFAULTS
                .withCatchUpRevisions(mirror.get(CATCH_UP_REVISIONS))
                .withMaxCommitBytes(mirror.get(MAX_COMMIT_BYTES));
        KeyRange range = mirror.find(PREFIX)
                .map(prefix -> KeyRange.prefix(ByteString.copyFromUtf8(prefix)))
                .orElseGet(KeyRange::all);
        return new MirrorSettings.Mirror(
                name, EtcdSettings.from(name + "-source", mirror.at("source")), feed, range, target(name, mirror));
    }

    private static MirrorSettings.Target target(String name, Configuration mirror) {
        Configuration etcd = mirror.at("target.etcd");
        if (etcd.has(ENDPOINTS)) {
            return new MirrorSettings.Target.Etcd(
                    EtcdSettings.from(name + "-target", etcd),
                    new EtcdSinkOptions(
                            etcd.get(ON_FOREIGN_KEYS),
                            Math.toIntExact(etcd.get(MAX_REQUEST_BYTES)),
                            etcd.get(MAX_TXN_OPS),
                            EtcdSinkOptions.DEFAULTS.progressInterval()));
        }
        Configuration kafka = mirror.at("target.kafka");
        return new MirrorSettings.Target.Kafka(new KafkaSinkOptions(
                kafka.get(BOOTSTRAP_SERVERS),
                kafka.get(TOPIC),
                kafka.find(REPLICATION_FACTOR).map(Integer::shortValue).orElse((short) -1),
                kafka.get(KAFKA_TIMEOUT),
                kafka.get(CHECKPOINT_INTERVAL),
                kafka.get(MAX_MERGE_KEYS)));
    }

    private static void requireMirrors(Configuration all, Check.Report report) {
        if (all.names(MIRRORS).isEmpty()) {
            throw new IllegalArgumentException("no mirror is configured; at least one is needed, such as mirrors.dr");
        }
    }

    private static void requireOneTargetEach(Configuration all, Check.Report report) {
        for (String name : all.names(MIRRORS)) {
            Configuration mirror = each(all, name);
            Configuration kafka = mirror.at("target.kafka");
            boolean hasEtcd = mirror.at("target.etcd").has(ENDPOINTS);
            if (hasEtcd && kafka.has(BOOTSTRAP_SERVERS)) {
                report.problem(
                        kafka, BOOTSTRAP_SERVERS, "is given beside target.etcd.endpoints; a mirror has one target");
            } else if (!hasEtcd && !kafka.has(BOOTSTRAP_SERVERS)) {
                report.problem(mirror.at("target.etcd"), ENDPOINTS, "or target.kafka.bootstrapServers is needed");
            } else if (kafka.has(BOOTSTRAP_SERVERS) != kafka.has(TOPIC)) {
                report.problem(kafka, TOPIC, "and bootstrapServers go together; one is given without the other");
            }
        }
    }

    private static void requireTopicsOfTheirOwn(Configuration all, Check.Report report) {
        Set<String> topics = new HashSet<>();
        for (String name : all.names(MIRRORS)) {
            Configuration kafka = each(all, name).at("target.kafka");
            kafka.find(TOPIC)
                    .filter(topic -> !topics.add(topic))
                    .ifPresent(topic ->
                            report.problem(kafka, TOPIC, "is " + topic + ", as another mirror's; each needs its own"));
        }
    }

    private static boolean hasOneTarget(Configuration mirror) {
        Configuration kafka = mirror.at("target.kafka");
        return mirror.at("target.etcd").has(ENDPOINTS)
                ? !kafka.has(BOOTSTRAP_SERVERS)
                : kafka.has(BOOTSTRAP_SERVERS) && kafka.has(TOPIC);
    }

    private static Configuration each(Configuration all, String name) {
        return all.at(MIRRORS + "." + name);
    }

    private static List<Setting<?>> optional(List<Setting<?>> rows) {
        return rows.stream().<Setting<?>>map(Setting::optionally).toList();
    }

    private static void requireTopicName(String topic) {
        if (!TOPIC_NAME.matcher(topic).matches() || topic.equals(".") || topic.equals("..")) {
            throw new IllegalArgumentException(
                    "a topic's name has 1 to 238 letters, digits, dots, underscores and hyphens");
        }
    }
}
