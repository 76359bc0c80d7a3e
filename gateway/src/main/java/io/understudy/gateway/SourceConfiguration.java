package io.understudy.gateway;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.tls.TlsFiles;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the source of either kind. */
final class SourceConfiguration {

    /** The group, and what logs and metrics call the source. */
    static final String NAME = "source";

    private static final String CLIENTS = "clients";

    /** The other cluster of the mirror. */
    private static final String STANDBY = "standby";

    private static final Setting<?> MIRROR = Binder.row(SourceSettings.Standby.class, "mirror");
    private static final Setting<?> ENDPOINTS = Binder.row(EtcdSettings.class, "endpoints");
    private static final Setting<?> SERVERS = Binder.row(KafkaSettings.class, "bootstrap.servers");

    private SourceConfiguration() {}

    /**
     * The settings of the group.
     *
     * @throws IllegalArgumentException unless exactly one kind of source is given completely
     */
    static SourceSettings from(Configuration group) {
        Configuration kafka = group.at("kafka");
        boolean hasEtcd = group.has(ENDPOINTS);
        boolean hasBrokers = kafka.has(SERVERS);
        boolean hasTopic = kafka.has(KafkaFeedOptions.TOPIC);
        if (hasEtcd && (hasBrokers || hasTopic)) {
            throw new IllegalArgumentException(
                    "source.endpoints and source.kafka are both set; set source.endpoints for"
                            + " etcd, or source.kafka.bootstrap.servers and source.kafka.topic for Kafka");
        }
        if (hasEtcd) {
            return new SourceSettings.Etcd(
                    EtcdSettings.from(NAME, group),
                    group.at(CLIENTS).find(TlsFiles.class).orElse(null),
                    standby(group));
        }
        if (!hasBrokers && !hasTopic) {
            throw new IllegalArgumentException("source is not set; set source.endpoints for etcd or another gateway, or"
                    + " source.kafka.bootstrap.servers and source.kafka.topic for the topic of a mirror");
        }
        if (!hasBrokers || !hasTopic) {
            throw new IllegalArgumentException(
                    "source.kafka.bootstrap.servers and source.kafka.topic must both be set; one of them is missing");
        }
        return group.bind(
                SourceSettings.Kafka.class,
                Map.of("kafka", KafkaSettings.from(kafka), "feed", KafkaFeedOptions.from(kafka)));
    }

    private static SourceSettings.@Nullable Standby standby(Configuration group) {
        Configuration standby = group.at(STANDBY);
        if (standby.has(ENDPOINTS) != group.has(MIRROR)) {
            throw new IllegalArgumentException(
                    "source.standby.endpoints and source.mirror must both be set; one of them is missing");
        }
        return group.find(MIRROR)
                .map(mirror -> new SourceSettings.Standby(
                        String.valueOf(mirror),
                        EtcdSettings.from(STANDBY, standby),
                        standby.at(CLIENTS).find(TlsFiles.class).orElse(null)))
                .orElse(null);
    }
}
