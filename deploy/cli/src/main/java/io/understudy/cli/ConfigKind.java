package io.understudy.cli;

import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.config.Configuration;
import io.understudy.config.ConfigurationException;
import io.understudy.config.Problem;
import io.understudy.config.Setting;
import io.understudy.gateway.GatewaySettings;
import io.understudy.mirror.MirrorConfiguration;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** The kinds of configuration files. */
enum ConfigKind {
    GATEWAY {
        @Override
        Collection<Setting<?>> settings() {
            return GatewaySettings.ROWS;
        }

        @Override
        void load(Path file, Map<String, String> environment) {
            var unused = GatewaySettings.load(file, environment, Map.of());
        }
    },
    MIRROR {
        @Override
        Collection<Setting<?>> settings() {
            return MirrorConfiguration.ROWS;
        }

        @Override
        void load(Path file, Map<String, String> environment) {
            var unused = MirrorConfiguration.load(file, environment, Map.of());
        }
    },
    CLUSTER {
        @Override
        Collection<Setting<?>> settings() {
            return ClusterSettings.ROWS;
        }

        @Override
        void load(Path file, Map<String, String> environment) {
            var unused = ClusterSettings.load(file, environment, Map.of());
        }
    };

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    abstract Collection<Setting<?>> settings();

    abstract void load(Path file, Map<String, String> environment);

    /** Returns all problems of a file of this kind. */
    List<Problem> problems(Path file, Map<String, String> environment) {
        try {
            load(file, environment);
            return List.of();
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
