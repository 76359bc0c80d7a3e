package io.understudy.mirror.settings;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.VerifyOptions;
import io.understudy.mirror.verify.VerifyOptions.ForeignWrites;
import io.understudy.tls.ListenerSecurity;
import io.understudy.tls.TlsFileException;
import io.understudy.tls.TlsFiles;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a mirror process.
 *
 * @param status address of status and metrics; port 0 for any free one
 * @param security security of the status page
 * @param mirrors at least one, with unique names
 */
public record MirrorSettings(InetSocketAddress status, ListenerSecurity security, List<Mirror> mirrors) {

    public MirrorSettings {
        mirrors = List.copyOf(mirrors);
        Set<String> names = new HashSet<>();
        for (Mirror mirror : mirrors) {
            if (!names.add(mirror.name())) {
                throw new IllegalArgumentException("duplicate mirror name: " + mirror.name());
            }
        }
        if (mirrors.isEmpty()) {
            throw new IllegalArgumentException("no mirrors; at least one is required");
        }
        MirrorCourses.requireSound(mirrors);
    }

    /** Creates settings with a status page in plain text. */
    public MirrorSettings(InetSocketAddress status, List<Mirror> mirrors) {
        this(status, ListenerSecurity.PLAIN, mirrors);
    }

    /**
     * Returns the URL of the status page on the process's own host.
     *
     * @throws IllegalArgumentException the port is 0
     */
    public URI statusUrl() {
        if (status.getPort() == 0) {
            throw new IllegalArgumentException(
                    "status.listen has port 0 (any free port); see the mirror's log for the actual port");
        }
        InetAddress address = status.getAddress();
        boolean isAny = address != null && address.isAnyLocalAddress();
        String host = isAny ? InetAddress.getLoopbackAddress().getHostAddress() : status.getHostString();
        String literal = host.contains(":") ? "[" + host + "]" : host;
        return URI.create((security.files() == null ? "http://" : "https://") + literal + ":" + status.getPort());
    }

    /**
     * One mirror.
     *
     * @param name distinguishes its checkpoint from others in the same target
     * @param scope the part of the source that is copied
     */
    public record Mirror(String name, Source source, MirrorScope scope, Target target) {

        /**
         * Returns the mirror's opposite direction; empty unless both are etcd clusters. It is used while the target is
         * the primary. It deletes keys that the new primary lacks, within the limit, and repairs nothing.
         */
        public Optional<Mirror> reversed() {
            if (!(source instanceof Source.Etcd from) || !(target instanceof Target.Etcd to)) {
                return Optional.empty();
            }
            return Optional.of(new Mirror(
                    name,
                    new Source.Etcd(to.cluster(), from.feed(), from.marked()),
                    scope.reversed(),
                    new Target.Etcd(
                            from.cluster(),
                            to.options().back(),
                            new VerifyOptions(to.verify().keysPerSecond(), ForeignWrites.REPORT),
                            to.compactAfter(),
                            to.activeTtl(),
                            AuthOptions.DEFAULTS)));
        }

        /**
         * Reads the certificates and keys of both clusters.
         *
         * @throws TlsFileException one cannot be read
         */
        public void requireReadableFiles() {
            if (source instanceof Source.Etcd from) {
                requireReadable("source.tls", from.cluster());
            }
            if (target instanceof Target.Etcd to) {
                requireReadable("target.etcd.tls", to.cluster());
            }
        }

        private void requireReadable(String group, EtcdSettings cluster) {
            TlsFiles files = cluster.tls();
            if (files != null) {
                var unused = TlsFileException.at("mirrors." + name + "." + group, () -> {
                    files.requireReadable();
                    return files;
                });
            }
        }
    }

    /** The source of a mirror. */
    public sealed interface Source {

        /** Returns the endpoints, or servers and topic, for messages. */
        String shown();

        /** Returns the maximum time of unanswered requests, which must cover a change of member. */
        Duration patience();

        /**
         * An etcd cluster, or a gateway.
         *
         * @param marked whether the marks of other mirrors into the source are watched, to prevent loops
         */
        record Etcd(EtcdSettings cluster, EtcdFeedOptions feed, boolean marked) implements Source {

            /** Returns one with the configuration's defaults for the rest. */
            public static Etcd of(EtcdSettings cluster) {
                return new Etcd(cluster, EtcdFeedOptions.DEFAULTS, true);
            }

            @Override
            public String shown() {
                return MirrorSettings.shown(cluster);
            }

            @Override
            public Duration patience() {
                return cluster.requestTimeout().plus(feed.stallTimeout());
            }
        }

        /** The topics of a mirror into Kafka. */
        record Kafka(KafkaSettings kafka, KafkaFeedOptions options) implements Source {

            @Override
            public String shown() {
                return MirrorSettings.shown(kafka, options.topic());
            }

            @Override
            public Duration patience() {
                return kafka.timeout().multipliedBy(2);
            }
        }
    }

    /** The target of a mirror. */
    public sealed interface Target {

        /** Returns the endpoints, or servers and topic, for messages. */
        String shown();

        /**
         * Another etcd cluster.
         *
         * @param compactAfter null for no compaction
         * @param auth how the source's roles and users are handled
         */
        record Etcd(
                EtcdSettings cluster,
                EtcdSinkOptions options,
                VerifyOptions verify,

                @Configured(
                        key = "compactTarget",
                        value =
                                "Retention of the target's history before the mirror compacts it; by default, the mirror"
                                        + " does not compact.",
                        range = "1m..365d",
                        example = "24h")
                @Nullable Duration compactAfter,

                @Configured(
                        value = "TTL of the active process's lease; when it expires, a standby process takes over.",
                        byDefault = "3s",
                        range = "2s..5m")
                Duration activeTtl,

                AuthOptions auth)
                implements Target {

            /** Returns one with the configuration's defaults for the rest. */
            public static Etcd of(EtcdSettings cluster, EtcdSinkOptions options) {
                return Binder.defaults(Etcd.class, Map.of("cluster", cluster, "options", options));
            }

            /** Returns the same with other options for roles and users. */
            public Etcd with(AuthOptions other) {
                return Binder.with(this, other);
            }

            @Override
            public String shown() {
                return MirrorSettings.shown(cluster);
            }
        }

        /** A Kafka topic. */
        record Kafka(KafkaSinkOptions options) implements Target {

            @Override
            public String shown() {
                return MirrorSettings.shown(options.kafka(), options.topic());
            }
        }
    }

    private static String shown(EtcdSettings cluster) {
        return "etcd " + cluster.endpoints();
    }

    private static String shown(KafkaSettings kafka, String topic) {
        return "kafka " + kafka.bootstrapServers() + " topic " + topic;
    }
}
