package io.understudy.gateway;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.tls.TlsFiles;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** How a source is configured, whatever kind it is of. */
final class SourceConfiguration {

    /** The group, and what logs and metrics call the source. */
    static final String NAME = "source";

    private static final String KAFKA = "kafka";

    /** Of connections on which calls of clients are passed on: certificates without a common name. */
    private static final String CLIENTS = "clients";

    /** The other cluster of the mirror. */
    private static final String STANDBY = "standby";

    private static final Setting<String> MIRROR = Setting.text(
                    "mirror",
                    "Name of the mirror between source.endpoints and source.standby. The gateway follows its primary.")
            .optionally()
            .example("dr");

    private static final Setting<?> ENDPOINTS = Binder.row(EtcdSettings.class, "endpoints");
    private static final Setting<?> TOPIC = Binder.row(KafkaFeedOptions.class, "topic");

    private static final Setting<Duration> MAX_CLOCK_SKEW = Setting.duration(
                    "maxClockSkew",
                    "Maximum clock skew between the mirror's host and this host. It is added to the staleness.")
            .defaultsTo(SourceSettings.Kafka.DEFAULT_MAX_CLOCK_SKEW)
            .between(Duration.ZERO, Duration.ofHours(1));

    /** Of both kinds, relative to the group; one of them is used. */
    static final List<Setting<?>> ROWS = Stream.of(
                    EtcdSettings.ROWS,
                    Setting.under(CLIENTS, Binder.rows(TlsFiles.class)),
                    List.<Setting<?>>of(MIRROR),
                    Setting.under(STANDBY, EtcdSettings.ROWS),
                    Setting.under(STANDBY, Setting.under(CLIENTS, Binder.rows(TlsFiles.class))),
                    Setting.under(KAFKA, KafkaSettings.ROWS),
                    Setting.under(KAFKA, KafkaFeedOptions.ROWS),
                    Setting.under(KAFKA, List.<Setting<?>>of(MAX_CLOCK_SKEW)))
            .flatMap(List::stream)
            .<Setting<?>>map(Setting::optionally)
            .toList();

    private SourceConfiguration() {}

    /**
     * What {@link #ROWS} say.
     *
     * @throws IllegalArgumentException neither kind is given, or both are, or one by half
     */
    static SourceSettings from(Configuration group) {
        Configuration kafka = group.at(KAFKA);
        boolean hasEtcd = group.has(ENDPOINTS);
        boolean hasBrokers = kafka.has(KafkaSettings.BOOTSTRAP_SERVERS);
        boolean hasTopic = kafka.has(TOPIC);
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
        return new SourceSettings.Kafka(
                KafkaSettings.from(kafka), KafkaFeedOptions.from(kafka), kafka.get(MAX_CLOCK_SKEW));
    }

    private static SourceSettings.@Nullable Standby standby(Configuration group) {
        Configuration standby = group.at(STANDBY);
        String mirror = group.find(MIRROR).orElse(null);
        if (standby.has(ENDPOINTS) != (mirror != null)) {
            throw new IllegalArgumentException(
                    "source.standby.endpoints and source.mirror must both be set; one of them is missing");
        }
        return mirror == null
                ? null
                : new SourceSettings.Standby(
                        EtcdSettings.from(STANDBY, standby),
                        standby.at(CLIENTS).find(TlsFiles.class).orElse(null),
                        mirror);
    }
}
