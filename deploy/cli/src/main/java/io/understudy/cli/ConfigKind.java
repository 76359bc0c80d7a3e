package io.understudy.cli;

import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.config.Configuration;
import io.understudy.config.ConfigurationException;
import io.understudy.config.Problem;
import io.understudy.config.Setting;
import io.understudy.gateway.GatewaySettings;
import io.understudy.gateway.SourceSettings;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.settings.MirrorSettings;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kinds of configuration files. */
enum ConfigKind {
    GATEWAY {
        @Override
        Collection<Setting<?>> settings() {
            return GatewaySettings.ROWS;
        }

        @Override
        void check(Path file, Map<String, String> values, StartChecks start, @Nullable ConnectionChecks connections) {
            GatewaySettings settings = GatewaySettings.load(file, System.getenv(), values);
            start.listen("listen", settings.listen().socketAddress());
            if (settings.rest().enabled()) {
                start.listen("rest.listen", settings.rest().listen().socketAddress());
            }
            start.tls("tls", settings.security().files());
            start.tls("dashboard.tls", settings.dashboard().tls());
            start.tls("tracing.tls", settings.tracing().tls());
            if (settings.source() instanceof SourceSettings.Etcd etcd) {
                start.source("source", etcd.cluster().tls(), etcd.forClients());
                SourceSettings.Standby standby = etcd.standby();
                if (standby != null) {
                    start.source("source.standby", standby.cluster().tls(), standby.forClients());
                }
            } else if (settings.source() instanceof SourceSettings.Kafka kafka) {
                start.file("source.kafka.propertiesFile", kafka.kafka().propertiesFile());
            }
            if (connections != null && start.problems().isEmpty()) {
                connections.gateway(settings);
            }
        }
    },
    MIRROR {
        @Override
        Collection<Setting<?>> settings() {
            return MirrorConfiguration.ROWS;
        }

        @Override
        void check(Path file, Map<String, String> values, StartChecks start, @Nullable ConnectionChecks connections) {
            MirrorSettings settings = MirrorFlags.load(file, values);
            start.listen("status.listen", settings.status());
            start.tls("tls", settings.security().files());
            for (MirrorSettings.Mirror mirror : settings.mirrors()) {
                String place = "mirrors." + mirror.name();
                if (mirror.source() instanceof MirrorSettings.Source.Etcd source) {
                    start.tls(place + ".source.tls", source.cluster().tls());
                } else if (mirror.source() instanceof MirrorSettings.Source.Kafka source) {
                    start.file(
                            place + ".source.kafka.propertiesFile",
                            source.kafka().propertiesFile());
                }
                if (mirror.target() instanceof MirrorSettings.Target.Etcd target) {
                    start.tls(place + ".target.etcd.tls", target.cluster().tls());
                } else if (mirror.target() instanceof MirrorSettings.Target.Kafka target) {
                    start.file(
                            place + ".target.kafka.propertiesFile",
                            target.options().kafka().propertiesFile());
                }
            }
            if (connections != null && start.problems().isEmpty()) {
                settings.mirrors().forEach(connections::mirror);
            }
        }
    },
    CLUSTER {
        @Override
        Collection<Setting<?>> settings() {
            return ClusterSettings.ROWS;
        }

        @Override
        void check(Path file, Map<String, String> values, StartChecks start, @Nullable ConnectionChecks connections) {
            ClusterSettings settings = ClusterSettings.load(file, System.getenv(), values);
            start.listen("supervisor.listen", settings.supervisor().listen().socketAddress());
            start.tls("supervisor.tls", settings.supervisor().security().files());
            start.tls("cluster.tls", settings.cluster().tls());
            if (connections != null && start.problems().isEmpty()) {
                connections.etcd("cluster.endpoints", settings.cluster(), false);
            }
        }
    };

    private static final Pattern UNREADABLE = Pattern.compile("cannot read (\\S+): ");

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    abstract Collection<Setting<?>> settings();

    /** @throws ConfigurationException the file is invalid */
    abstract void check(
            Path file, Map<String, String> values, StartChecks start, @Nullable ConnectionChecks connections);

    /**
     * Returns all problems of a file of this kind.
     *
     * @param connections null not to connect
     */
    List<Problem> problems(Path file, StartChecks start, @Nullable ConnectionChecks connections) {
        try {
            check(file, Map.of(), start, connections);
            return start.problems();
        } catch (ConfigurationException e) {
            Map<String, String> secrets = new HashMap<>();
            for (Problem problem : e.problems()) {
                Matcher secret = UNREADABLE.matcher(problem.message());
                if (secret.lookingAt() && !start.isVerifiable(problem.key(), Path.of(secret.group(1)))) {
                    secrets.put(problem.key(), file.toString());
                }
            }
            if (secrets.isEmpty()) {
                return e.problems();
            }
            if (connections != null) {
                start.note("not connected: a password is not verified");
            }
            return problems(file, secrets, start);
        }
    }

    /** @param secrets readable files instead of those of systemd, by key */
    private List<Problem> problems(Path file, Map<String, String> secrets, StartChecks start) {
        try {
            check(file, secrets, start, null);
            return start.problems();
        } catch (ConfigurationException e) {
            return e.problems();
        }
    }

    /** The kind to which most keys of a file belong. */
    static ConfigKind of(Path file) {
        return Stream.of(values())
                .min(Comparator.comparingLong(kind -> Configuration.unknown(file, kind.settings())))
                .orElseThrow();
    }
}
