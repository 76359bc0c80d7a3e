package io.understudy.mirror;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.config.Check;
import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorCourses;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.verify.VerifyOptions;
import io.understudy.tls.ListenerSecurity;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A mirror process' settings as rows of a configuration. */
public final class MirrorConfiguration {

    static final String MIRRORS = "mirrors";
    private static final String EACH = MIRRORS + ".*";

    private static final Setting<HostPort> LISTEN = Setting.hostPort(
                    "status.listen", "Listen address of /status, /metrics, /livez and /readyz.")
            .defaultsTo(new HostPort("127.0.0.1", 8081));

    private static final Setting<List<String>> INCLUDE = Setting.texts(
                    "include", "Key prefixes to mirror; by default, all keys.")
            .optionally()
            .example("/registry/");
    private static final Setting<List<String>> EXCLUDE = Setting.texts(
                    "exclude", "Key prefixes to exclude from those included.")
            .optionally()
            .example("/registry/events/");
    private static final Setting<String> RENAME_FROM = Setting.text(
                    "rename.from", "Common prefix of all mirrored keys, replaced by rename.to in the target.")
            .optionally()
            .example("/registry/");
    static final Setting<String> RENAME_TO = Setting.text(
                    "rename.to", "Key prefix in the target that replaces rename.from.")
            .optionally()
            .example("/copy/registry/");
    private static final Setting<Boolean> MARKED = Setting.flag(
                    "marked",
                    "Watch the marks of other mirrors in the source, which prevents loops in rings and two-way mirrors."
                            + " With include, the feed also reads all keys in between. Not supported for Kafka sources.")
            .defaultsTo(true);
    private static final Setting<Duration> COMPACT_AFTER = Setting.duration(
                    "compactTarget",
                    "Retention of the target's history before the mirror compacts it; by default, the mirror does not compact.")
            .optionally()
            .between(Duration.ofMinutes(1), Duration.ofDays(365))
            .example("24h");
    private static final Setting<Duration> ACTIVE_TTL = Setting.duration(
                    "activeTtl", "TTL of the active process's lease; when it expires, a standby process takes over.")
            .defaultsTo(MirrorSettings.Target.Etcd.ACTIVE_TTL)
            .between(Duration.ofSeconds(2), Duration.ofMinutes(5));
    static final Setting<?> ENDPOINTS = Binder.row(EtcdSettings.class, "endpoints");

    /** Every setting of a mirror process. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    List.<Setting<?>>of(LISTEN),
                    Binder.rows(ListenerSecurity.class),
                    Setting.under(EACH + ".source", optional(EtcdSettings.ROWS)),
                    Setting.under(EACH + ".source.kafka", optional(KafkaSettings.ROWS)),
                    Setting.under(EACH + ".source.kafka", optional(KafkaFeedOptions.ROWS)),
                    Setting.under(EACH, List.of(INCLUDE, EXCLUDE, RENAME_FROM, RENAME_TO, MARKED)),
                    Setting.under(EACH + ".feed", Binder.rows(EtcdFeedOptions.class)),
                    Setting.under(EACH + ".target.etcd", optional(EtcdSettings.ROWS)),
                    Setting.under(EACH + ".target.etcd", Binder.rows(EtcdSinkOptions.class)),
                    Setting.under(EACH + ".target.etcd", Binder.rows(VerifyOptions.class)),
                    Setting.under(EACH + ".target.etcd", List.of(COMPACT_AFTER, ACTIVE_TTL)),
                    Setting.under(EACH + ".target.etcd", Binder.rows(AuthOptions.class)),
                    Setting.under(EACH + ".target.kafka", optional(KafkaSettings.WRITER_ROWS)),
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
                Stream.concat(MirrorChecks.ALL.stream(), Stream.of((Check) MirrorConfiguration::checkTogether))
                        .toArray(Check[]::new));
        return settings(configuration);
    }

    /** Reads each part by itself, so that all combinations that can't work are told. */
    private static void checkTogether(Configuration all, Check.Report report) {
        boolean unused = report.part(() -> security(all));
        List<String> whole = all.names(MIRRORS).stream()
                .filter(name -> isWhole(name, each(all, name), report))
                .toList();
        unused = report.part(() -> MirrorCourses.requireSound(
                whole.stream().map(name -> mirror(name, each(all, name))).toList()));
    }

    private static boolean isWhole(String name, Configuration mirror, Check.Report report) {
        boolean isScope = report.part(() -> scope(mirror));
        boolean isSource = MirrorChecks.hasOneSource(mirror) && report.part(() -> source(name, mirror));
        boolean isTarget = MirrorChecks.hasOneTarget(mirror) && report.part(() -> target(name, mirror));
        return isScope && isSource && isTarget;
    }

    private static MirrorSettings settings(Configuration all) {
        return new MirrorSettings(
                all.get(LISTEN).socketAddress(),
                security(all),
                all.names(MIRRORS).stream()
                        .map(name -> mirror(name, each(all, name)))
                        .toList());
    }

    private static ListenerSecurity security(Configuration all) {
        ListenerSecurity security = all.bind(ListenerSecurity.class);
        security.require(LISTEN.key(), all.get(LISTEN));
        return security;
    }

    private static MirrorSettings.Mirror mirror(String name, Configuration mirror) {
        return new MirrorSettings.Mirror(name, source(name, mirror), scope(mirror), target(name, mirror));
    }

    private static MirrorSettings.Source source(String name, Configuration mirror) {
        if (MirrorChecks.isFromKafka(mirror)) {
            Configuration kafka = mirror.at("source.kafka");
            return kafka.make(
                    () -> new MirrorSettings.Source.Kafka(KafkaSettings.from(kafka), KafkaFeedOptions.from(kafka)));
        }
        return new MirrorSettings.Source.Etcd(
                EtcdSettings.from(name + "-source", mirror.at("source")),
                mirror.at("feed").bind(EtcdFeedOptions.class),
                mirror.get(MARKED));
    }

    private static MirrorScope scope(Configuration mirror) {
        return mirror.make(() -> new MirrorScope(
                mirror.find(INCLUDE).map(MirrorConfiguration::bytes).orElse(List.of()),
                mirror.find(EXCLUDE).map(MirrorConfiguration::bytes).orElse(List.of()),
                ByteString.copyFromUtf8(mirror.find(RENAME_FROM).orElse("")),
                ByteString.copyFromUtf8(mirror.find(RENAME_TO).orElse(""))));
    }

    private static List<ByteString> bytes(List<String> texts) {
        return texts.stream().map(ByteString::copyFromUtf8).toList();
    }

    private static MirrorSettings.Target target(String name, Configuration mirror) {
        if (!MirrorChecks.isIntoKafka(mirror)) {
            Configuration etcd = mirror.at("target.etcd");
            return etcd.make(() -> new MirrorSettings.Target.Etcd(
                    EtcdSettings.from(name + "-target", etcd),
                    EtcdSinkOptions.from(etcd),
                    etcd.bind(VerifyOptions.class),
                    etcd.find(COMPACT_AFTER).orElse(null),
                    etcd.get(ACTIVE_TTL),
                    etcd.bind(AuthOptions.class)));
        }
        Configuration kafka = mirror.at("target.kafka");
        return kafka.make(() -> new MirrorSettings.Target.Kafka(KafkaSinkOptions.from(kafka)));
    }

    static Configuration each(Configuration all, String name) {
        return all.at(MIRRORS + "." + name);
    }

    private static List<Setting<?>> optional(List<Setting<?>> rows) {
        return rows.stream().<Setting<?>>map(Setting::optionally).toList();
    }
}
