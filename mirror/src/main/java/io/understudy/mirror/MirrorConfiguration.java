package io.understudy.mirror;

import com.google.protobuf.ByteString;
import io.understudy.config.Check;
import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.VerifyOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A mirror process' settings as rows of a configuration. */
public final class MirrorConfiguration {

    private static final String MIRRORS = "mirrors";
    private static final String EACH = MIRRORS + ".*";

    private static final Setting<HostPort> LISTEN = Setting.hostPort(
                    "status.listen", "Where /status, /metrics, /livez and /readyz are served.")
            .defaultsTo(new HostPort("127.0.0.1", 8081));

    private static final Setting<List<String>> INCLUDE = Setting.texts(
                    "include", "Prefixes of the keys that are copied; by default all keys are.")
            .optionally()
            .example("/registry/");
    private static final Setting<List<String>> EXCLUDE = Setting.texts(
                    "exclude", "Prefixes of keys among those that are not copied.")
            .optionally()
            .example("/registry/events/");
    private static final Setting<String> RENAME_FROM = Setting.text(
                    "rename.from", "A prefix that all copied keys have, which rename.to replaces in the target.")
            .optionally()
            .example("/registry/");
    private static final Setting<String> RENAME_TO = Setting.text(
                    "rename.to", "What the target's keys begin with instead of rename.from.")
            .optionally()
            .example("/copy/registry/");
    private static final Setting<Boolean> MARKED = Setting.flag(
                    "marked",
                    "Whether to watch the marks of other mirrors into the source, so that in rings and two-way mirrors"
                            + " no commit comes back; with include this means to read all keys in between as well.")
            .defaultsTo(true);
    private static final Setting<Duration> COMPACT_AFTER = Setting.duration(
                    "compactTarget",
                    "How long the target's history is kept before the mirror compacts it; by default it doesn't.")
            .optionally()
            .between(Duration.ofMinutes(1), Duration.ofDays(365))
            .example("24h");
    private static final Setting<Duration> ACTIVE_TTL = Setting.duration(
                    "activeTtl",
                    "After how long without a word of the active process another one takes the mirror over.")
            .defaultsTo(MirrorSettings.Target.Etcd.ACTIVE_TTL)
            .between(Duration.ofSeconds(2), Duration.ofMinutes(5));
    private static final Setting<?> ENDPOINTS = EtcdSettings.ROWS.stream()
            .filter(row -> row.key().equals("endpoints"))
            .findFirst()
            .orElseThrow();

    /** Every setting of a mirror process. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    List.<Setting<?>>of(LISTEN),
                    Setting.under(EACH + ".source", EtcdSettings.ROWS),
                    Setting.under(EACH, List.of(INCLUDE, EXCLUDE, RENAME_FROM, RENAME_TO, MARKED)),
                    Setting.under(EACH + ".feed", EtcdFeedOptions.ROWS),
                    Setting.under(EACH + ".target.etcd", optional(EtcdSettings.ROWS)),
                    Setting.under(EACH + ".target.etcd", EtcdSinkOptions.ROWS),
                    Setting.under(EACH + ".target.etcd", VerifyOptions.ROWS),
                    Setting.under(EACH + ".target.etcd", List.of(COMPACT_AFTER, ACTIVE_TTL)),
                    Setting.under(EACH + ".target.kafka", KafkaSinkOptions.ROWS))
            .flatMap(List::stream)
            .toList();

    private MirrorConfiguration() {}

    /**
     * Reads everything, and tells everything that is wrong with it.
     *
     * @param file null for none
     * @param environment of the process
     * @param flags values by key
     * @throws io.understudy.config.ConfigurationException something is
     */
    public static MirrorSettings load(@Nullable Path file, Map<String, String> environment, Map<String, String> flags) {
        Configuration configuration = Configuration.load(
                file,
                environment,
                flags,
                ROWS,
                MirrorConfiguration::requireMirrors,
                MirrorConfiguration::requireOneTargetEach,
                MirrorConfiguration::requireTopicsOfTheirOwn,
                MirrorConfiguration::requireNamesAsTheyAreInTopics,
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
        return new MirrorSettings.Mirror(
                name,
                EtcdSettings.from(name + "-source", mirror.at("source")),
                EtcdFeedOptions.from(mirror.at("feed")),
                scope(mirror),
                mirror.get(MARKED),
                target(name, mirror));
    }

    private static MirrorScope scope(Configuration mirror) {
        return new MirrorScope(
                mirror.find(INCLUDE).map(MirrorConfiguration::bytes).orElse(List.of()),
                mirror.find(EXCLUDE).map(MirrorConfiguration::bytes).orElse(List.of()),
                ByteString.copyFromUtf8(mirror.find(RENAME_FROM).orElse("")),
                ByteString.copyFromUtf8(mirror.find(RENAME_TO).orElse("")));
    }

    private static List<ByteString> bytes(List<String> texts) {
        return texts.stream().map(ByteString::copyFromUtf8).toList();
    }

    private static MirrorSettings.Target target(String name, Configuration mirror) {
        Configuration etcd = mirror.at("target.etcd");
        if (etcd.has(ENDPOINTS)) {
            return new MirrorSettings.Target.Etcd(
                    EtcdSettings.from(name + "-target", etcd),
                    EtcdSinkOptions.from(etcd),
                    VerifyOptions.from(etcd),
                    etcd.find(COMPACT_AFTER).orElse(null),
                    etcd.get(ACTIVE_TTL));
        }
        return new MirrorSettings.Target.Kafka(KafkaSinkOptions.from(mirror.at("target.kafka")));
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
            if (hasEtcd && kafka.has(KafkaSinkOptions.BOOTSTRAP_SERVERS)) {
                report.problem(
                        kafka,
                        KafkaSinkOptions.BOOTSTRAP_SERVERS,
                        "is given beside target.etcd.endpoints; a mirror has one target");
            } else if (!hasEtcd && !kafka.has(KafkaSinkOptions.BOOTSTRAP_SERVERS)) {
                report.problem(mirror.at("target.etcd"), ENDPOINTS, "or target.kafka.bootstrapServers is needed");
            } else if (kafka.has(KafkaSinkOptions.BOOTSTRAP_SERVERS) != kafka.has(KafkaSinkOptions.TOPIC)) {
                report.problem(
                        kafka,
                        KafkaSinkOptions.TOPIC,
                        "and bootstrapServers go together; one is given without the other");
            }
        }
    }

    private static void requireTopicsOfTheirOwn(Configuration all, Check.Report report) {
        Set<String> topics = new HashSet<>();
        for (String name : all.names(MIRRORS)) {
            Configuration kafka = each(all, name).at("target.kafka");
            kafka.find(KafkaSinkOptions.TOPIC)
                    .filter(topic -> !topics.add(topic))
                    .ifPresent(topic -> report.problem(
                            kafka,
                            KafkaSinkOptions.TOPIC,
                            "is " + topic + ", as another mirror's; each needs its own"));
        }
    }

    private static void requireNamesAsTheyAreInTopics(Configuration all, Check.Report report) {
        for (String name : all.names(MIRRORS)) {
            Configuration mirror = each(all, name);
            if (mirror.at("target.kafka").has(KafkaSinkOptions.TOPIC)) {
                mirror.find(RENAME_TO)
                        .ifPresent(to ->
                                report.problem(mirror, RENAME_TO, "is " + to + ", but in Kafka keys keep their names"));
            }
        }
    }

    private static boolean hasOneTarget(Configuration mirror) {
        Configuration kafka = mirror.at("target.kafka");
        return mirror.at("target.etcd").has(ENDPOINTS)
                ? !kafka.has(KafkaSinkOptions.BOOTSTRAP_SERVERS)
                : kafka.has(KafkaSinkOptions.BOOTSTRAP_SERVERS) && kafka.has(KafkaSinkOptions.TOPIC);
    }

    private static Configuration each(Configuration all, String name) {
        return all.at(MIRRORS + "." + name);
    }

    private static List<Setting<?>> optional(List<Setting<?>> rows) {
        return rows.stream().<Setting<?>>map(Setting::optionally).toList();
    }
}
