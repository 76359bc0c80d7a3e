package io.understudy.gateway;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.tls.TlsFiles;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The source of a gateway. */
public sealed interface SourceSettings {

    /**
     * An etcd cluster, or another gateway.
     *
     * @param forClients of connections for forwarded calls, without a common name; null for the cluster's own
     * @param standby the cluster that a mirror's primary role can move to; null for none
     */
    record Etcd(
            EtcdSettings cluster,
            @Configured.Group("clients") @Nullable TlsFiles forClients,
            @Nullable Standby standby) implements SourceSettings {

        public Etcd(EtcdSettings cluster) {
            this(cluster, null);
        }

        public Etcd(EtcdSettings cluster, @Nullable TlsFiles forClients) {
            this(cluster, forClients, null);
        }

        /** The files of connections for forwarded calls. */
        @Nullable TlsFiles clientFiles() {
            return forClients == null ? cluster.tls() : forClients;
        }
    }

    /**
     * The other cluster of a mirror.
     *
     * @param cluster as {@link Etcd#cluster}
     * @param forClients as {@link Etcd#forClients}
     */
    record Standby(
            @Configured(
                    value = "Name of the mirror between source.endpoints and source.standby. The gateway follows its"
                            + " primary.",
                    example = "dr")
            String mirror,

            @Configured.Group("standby") EtcdSettings cluster,
            @Configured.Group("standby.clients") @Nullable TlsFiles forClients) {}

    /** The topics of a mirror in Kafka. */
    @Configured.Group("kafka")
    record Kafka(
            KafkaSettings kafka,
            KafkaFeedOptions feed,

            @Configured(
                    value = "Maximum clock skew between the mirror's host and this host. It is added to the staleness.",
                    byDefault = "1s",
                    range = "0s..1h")
            Duration maxClockSkew)
            implements SourceSettings {

        /** Defaults for everything else. */
        public static Kafka of(String bootstrapServers, String topic) {
            return Binder.defaults(
                    Kafka.class,
                    Map.of("kafka", KafkaSettings.of(bootstrapServers), "feed", KafkaFeedOptions.of(topic)));
        }
    }
}
