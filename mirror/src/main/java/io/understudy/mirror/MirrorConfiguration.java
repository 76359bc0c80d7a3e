package io.understudy.mirror;

import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.config.Check;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorCourses;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.tls.ListenerSecurity;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A mirror process' settings as rows of a configuration. */
public final class MirrorConfiguration {

    static final String MIRRORS = "mirrors";
    private static final String EACH = MIRRORS + ".*";

    private record Page(
            @Configured(
                    key = "status.listen",
                    value = "Listen address of /status, /metrics, /livez and /readyz.",
                    byDefault = "127.0.0.1:8081")
            HostPort listen) {}

    private record Scope(
            @Configured(
                    value = "Key prefixes to mirror; by default, all keys.",
                    optional = true,
                    example = "/registry/")
            List<String> include,

            @Configured(
                    value = "Key prefixes to exclude from those included.",
                    optional = true,
                    example = "/registry/events/")
            List<String> exclude,

            @Configured(
                    key = "rename.from",
                    value = "Common prefix of all mirrored keys, replaced by rename.to in the target.",
                    example = "/registry/")
            Optional<String> from,

            @Configured(
                    key = "rename.to",
                    value = "Key prefix in the target that replaces rename.from.",
                    example = "/copy/registry/")
            Optional<String> to,

            @Configured(
                    value = "Watch the marks of other mirrors in the source, which prevents loops in rings and two-way"
                            + " mirrors. With include, the feed also reads all keys in between. Not supported for Kafka"
                            + " sources.",
                    byDefault = "true")
            boolean marked) {

        MirrorScope keys() {
            return new MirrorScope(
                    bytes(include),
                    bytes(exclude),
                    ByteString.copyFromUtf8(from.orElse("")),
                    ByteString.copyFromUtf8(to.orElse("")));
        }

        private static List<ByteString> bytes(List<String> texts) {
            return texts.stream().map(ByteString::copyFromUtf8).toList();
        }
    }

    static final Setting<?> INCLUDE = Binder.row(Scope.class, "include");
    static final Setting<?> RENAME_TO = Binder.row(Scope.class, "rename.to");
    static final Setting<?> ENDPOINTS = Binder.row(EtcdSettings.class, "endpoints");

    /** All settings of a mirror process. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    Binder.rows(Page.class),
                    Binder.rows(ListenerSecurity.class),
                    Setting.under(EACH + ".source", optional(EtcdSettings.ROWS)),
                    Setting.under(EACH + ".source.kafka", optional(Binder.rows(MirrorSettings.Source.Kafka.class))),
                    Setting.under(EACH, Binder.rows(Scope.class)),
                    Setting.under(EACH + ".feed", Binder.rows(EtcdFeedOptions.class)),
                    Setting.under(EACH + ".target.etcd", optional(Binder.rows(MirrorSettings.Target.Etcd.class))),
                    Setting.under(EACH + ".target.kafka", optional(Binder.rows(KafkaSinkOptions.class))))
            .flatMap(List::stream)
            .toList();

    private MirrorConfiguration() {}

    /**
     * Reads the configuration and checks it as a whole.
     *
     * @param file null for none
     * @param environment of the process
     * @param flags values by key
     * @throws io.understudy.config.ConfigurationException with all problems
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

    /** Reads each part by itself, so that all impossible combinations are reported. */
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
                all.bind(Page.class).listen().socketAddress(),
                security(all),
                all.names(MIRRORS).stream()
                        .map(name -> mirror(name, each(all, name)))
                        .toList());
    }

    private static ListenerSecurity security(Configuration all) {
        ListenerSecurity security = all.bind(ListenerSecurity.class);
        security.require("status.listen", all.bind(Page.class).listen());
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
                mirror.bind(Scope.class).marked());
    }

    private static MirrorScope scope(Configuration mirror) {
        return mirror.make(() -> mirror.bind(Scope.class).keys());
    }

    private static MirrorSettings.Target target(String name, Configuration mirror) {
        if (!MirrorChecks.isIntoKafka(mirror)) {
            Configuration etcd = mirror.at("target.etcd");
            return etcd.make(() -> etcd.bind(
                    MirrorSettings.Target.Etcd.class,
                    Map.of(
                            "cluster",
                            EtcdSettings.from(name + "-target", etcd),
                            "options",
                            EtcdSinkOptions.from(etcd))));
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
