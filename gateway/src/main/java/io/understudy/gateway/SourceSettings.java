package io.understudy.gateway;

import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import java.time.Duration;

/** What a gateway follows. */
public sealed interface SourceSettings {

    /** An etcd cluster, or another gateway. */
    record Etcd(EtcdSettings cluster) implements SourceSettings {}

    /**
     * What a mirror writes to Kafka.
     *
     * @param maxClockSkew how far the mirror's clock and this host's may be apart
     */
    record Kafka(KafkaSettings kafka, KafkaFeedOptions feed, Duration maxClockSkew) implements SourceSettings {

        public static final Duration DEFAULT_MAX_CLOCK_SKEW = Duration.ofSeconds(1);

        public Kafka {
            if (maxClockSkew.isNegative()) {
                throw new IllegalArgumentException("clocks " + maxClockSkew + " apart");
            }
        }

        /** Defaults for everything else. */
        public static Kafka of(String bootstrapServers, String topic) {
            return new Kafka(KafkaSettings.of(bootstrapServers), KafkaFeedOptions.of(topic), DEFAULT_MAX_CLOCK_SKEW);
        }
    }
}
