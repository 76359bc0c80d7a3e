package io.understudy.gateway;

import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.tls.TlsFiles;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a gateway follows. */
public sealed interface SourceSettings {

    /**
     * An etcd cluster, or another gateway.
     *
     * @param forClients of the connections on which calls of clients are passed on; null for the cluster's own
     * @param standby the cluster that a mirror's primary role can move to; null for none
     */
    record Etcd(
            EtcdSettings cluster,
            @Nullable TlsFiles forClients,
            @Nullable Standby standby) implements SourceSettings {

        public Etcd(EtcdSettings cluster) {
            this(cluster, null);
        }

        public Etcd(EtcdSettings cluster, @Nullable TlsFiles forClients) {
            this(cluster, forClients, null);
        }

        /** The files of connections on which calls of clients are passed on. */
        @Nullable TlsFiles clientFiles() {
            return forClients == null ? cluster.tls() : forClients;
        }
    }

    /**
     * The other cluster of a mirror.
     *
     * @param cluster as {@link Etcd#cluster}
     * @param forClients as {@link Etcd#forClients}
     * @param mirror name of the mirror
     */
    record Standby(EtcdSettings cluster, @Nullable TlsFiles forClients, String mirror) {}

    /**
     * What a mirror writes to Kafka.
     *
     * @param maxClockSkew how far the mirror's clock and this host's may be apart
     */
    record Kafka(KafkaSettings kafka, KafkaFeedOptions feed, Duration maxClockSkew) implements SourceSettings {

        public static final Duration DEFAULT_MAX_CLOCK_SKEW = Duration.ofSeconds(1);

        public Kafka {
            if (maxClockSkew.isNegative()) {
                throw new IllegalArgumentException("maxClockSkew is " + maxClockSkew + "; allowed: 0 or more");
            }
        }

        /** Defaults for everything else. */
        public static Kafka of(String bootstrapServers, String topic) {
            return new Kafka(KafkaSettings.of(bootstrapServers), KafkaFeedOptions.of(topic), DEFAULT_MAX_CLOCK_SKEW);
        }
    }
}
