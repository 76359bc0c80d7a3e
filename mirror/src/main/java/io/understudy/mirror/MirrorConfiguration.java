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
import io.understudy.vocabulary.KeyRange;
import java.nio.file.Path;
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

    private static final Setting<String> PREFIX = Setting.text(
                    "prefix", "Only keys that begin with this are copied; by default all keys are.")
            .optionally()
            .example("/registry/");
    private static final Setting<?> ENDPOINTS = EtcdSettings.ROWS.stream()
            .filter(row -> row.key().equals("endpoints"))
            .findFirst()
            .orElseThrow();

    /** Every setting of a mirror process. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    List.<Setting<?>>of(LISTEN),
                    Setting.under(EACH + ".source", EtcdSettings.ROWS),
                    Setting.under(EACH, List.of(PREFIX)),
                    Setting.under(EACH + ".feed", EtcdFeedOptions.ROWS),
                    Setting.under(EACH + ".target.etcd", optional(EtcdSettings.ROWS)),
                    Setting.under(EACH + ".target.etcd", EtcdSinkOptions.ROWS),
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
        KeyRange range = mirror.find(PREFIX)
                .map(prefix -> KeyRange.prefix(ByteString.copyFromUtf8(prefix)))
                .orElseGet(KeyRange::all);
        return new MirrorSettings.Mirror(
                name,
                EtcdSettings.from(name + "-source", mirror.at("source")),
                EtcdFeedOptions.from(mirror.at("feed")),
                range,
                target(name, mirror));
    }

    private static MirrorSettings.Target target(String name, Configuration mirror) {
        Configuration etcd = mirror.at("target.etcd");
        if (etcd.has(ENDPOINTS)) {
            return new MirrorSettings.Target.Etcd(
                    EtcdSettings.from(name + "-target", etcd), EtcdSinkOptions.from(etcd));
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
