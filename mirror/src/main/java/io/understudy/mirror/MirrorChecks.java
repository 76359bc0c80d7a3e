package io.understudy.mirror;

import io.understudy.config.Binder;
import io.understudy.config.Check;
import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.auth.AuthMode;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.auth.PasswordFile;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.kafka.KafkaNames;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.verify.VerifyOptions;
import io.understudy.mirror.verify.VerifyOptions.ForeignWrites;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks combinations of settings of mirrors. */
final class MirrorChecks {

    private static final Setting<?> SERVERS = Binder.row(KafkaSettings.class, "bootstrap.servers");
    private static final Setting<?> TOPIC = KafkaFeedOptions.TOPIC;
    private static final Setting<?> LEASES = Binder.row(EtcdSinkOptions.class, "leases");
    private static final Setting<?> ON_FOREIGN_WRITES = Binder.row(VerifyOptions.class, "onForeignWrites");
    private static final Setting<?> AUTH = Binder.row(AuthOptions.class, "auth");
    private static final Setting<?> PASSWORDS = Binder.row(AuthOptions.class, "authPasswords");

    /** All checks. */
    static final List<Check> ALL = List.of(
            (all, report) -> requireMirrors(all),
            each(MirrorChecks::requireOneSource),
            each(MirrorChecks::requireOneTarget),
            each(MirrorChecks::requireSupportedByTopics),
            each(MirrorChecks::requireAuthBetweenClusters),
            each(MirrorChecks::requirePasswords),
            each(MirrorChecks::requireReversible),
            MirrorChecks::requireTopicsOfTheirOwn);

    private MirrorChecks() {}

    /** Whether there is a source, and one only, so that it can be read. */
    static boolean hasOneSource(Configuration mirror) {
        return isOne(mirror.at("source"), mirror.at("source.kafka"));
    }

    static boolean hasOneTarget(Configuration mirror) {
        return isOne(mirror.at("target.etcd"), mirror.at("target.kafka"));
    }

    static boolean isFromKafka(Configuration mirror) {
        return mirror.at("source.kafka").has(SERVERS);
    }

    static boolean isIntoKafka(Configuration mirror) {
        return mirror.at("target.kafka").has(SERVERS);
    }

    private static boolean isOne(Configuration etcd, Configuration kafka) {
        return etcd.has(MirrorConfiguration.ENDPOINTS) ? !kafka.has(SERVERS) : kafka.has(SERVERS) && kafka.has(TOPIC);
    }

    private static Check each(Check ofMirror) {
        return (all, report) -> {
            for (String name : all.names(MirrorConfiguration.MIRRORS)) {
                boolean unused = report.part(() -> ofMirror.check(MirrorConfiguration.each(all, name), report));
            }
        };
    }

    private static void requireMirrors(Configuration all) {
        if (all.names(MirrorConfiguration.MIRRORS).isEmpty()) {
            throw new IllegalArgumentException("no mirror is configured; configure at least one, such as mirrors.dr");
        }
    }

    private static void requireOneSource(Configuration mirror, Check.Report report) {
        requireOne(
                mirror.at("source"),
                mirror.at("source.kafka"),
                "conflicts with source.endpoints; set only one source",
                "or source.kafka.bootstrap.servers is required",
                report);
    }

    private static void requireOneTarget(Configuration mirror, Check.Report report) {
        requireOne(
                mirror.at("target.etcd"),
                mirror.at("target.kafka"),
                "conflicts with target.etcd.endpoints; set only one target",
                "or target.kafka.bootstrap.servers is required",
                report);
    }

    private static void requireOne(
            Configuration etcd, Configuration kafka, String both, String none, Check.Report report) {
        boolean hasEtcd = etcd.has(MirrorConfiguration.ENDPOINTS);
        if (hasEtcd && kafka.has(SERVERS)) {
            report.problem(kafka, SERVERS, both);
        } else if (!hasEtcd && !kafka.has(SERVERS)) {
            report.problem(etcd, MirrorConfiguration.ENDPOINTS, none);
        } else if (kafka.has(SERVERS) != kafka.has(TOPIC)) {
            report.problem(kafka, TOPIC, "and bootstrap.servers must be set together");
        }
    }

    private static void requireSupportedByTopics(Configuration mirror, Check.Report report) {
        if (!isFromKafka(mirror)) {
            return;
        }
        if (isIntoKafka(mirror)) {
            report.problem(
                    mirror.at("target.kafka"),
                    SERVERS,
                    "conflicts with source.kafka.bootstrap.servers; a mirror from Kafka requires an etcd target. Use MirrorMaker"
                            + " to copy topics between Kafka clusters");
            return;
        }
        Configuration etcd = mirror.at("target.etcd");
        if (etcd.get(LEASES) == LeaseMode.TTL) {
            report.problem(
                    etcd,
                    LEASES,
                    "is ttl, but the source is Kafka, where records contain neither the TTL nor the state of a"
                            + " lease; allowed: drop");
        }
        if (etcd.get(ON_FOREIGN_WRITES) == ForeignWrites.REPAIR) {
            report.problem(
                    etcd,
                    ON_FOREIGN_WRITES,
                    "is repair, but the source is Kafka, which cannot be read by key; allowed: report");
        }
    }

    private static void requireAuthBetweenClusters(Configuration mirror, Check.Report report) {
        Configuration etcd = mirror.at("target.etcd");
        if (etcd.get(AUTH) != AuthMode.COPY) {
            return;
        }
        if (isIntoKafka(mirror) || isFromKafka(mirror)) {
            report.problem(
                    etcd,
                    AUTH,
                    "is copy, but " + (isIntoKafka(mirror) ? "the target" : "the source")
                            + " is Kafka, and topics contain no roles and users; allowed: none");
        }
        mirror.find(MirrorConfiguration.RENAME_TO)
                .ifPresent(to -> report.problem(
                        etcd,
                        AUTH,
                        "is copy, but " + MirrorConfiguration.RENAME_TO.key() + " is " + to
                                + ", and permissions refer to the source's keys; set none, or remove "
                                + MirrorConfiguration.RENAME_TO.key()));
    }

    /** A switchover reverses the mirror: each target key must have a name at the source. */
    private static void requireReversible(Configuration mirror, Check.Report report) {
        boolean includesAll = mirror.find(MirrorConfiguration.INCLUDE)
                .map(List.class::cast)
                .filter(prefixes -> !prefixes.isEmpty() && !prefixes.contains(""))
                .isEmpty();
        if (!includesAll || isFromKafka(mirror) || isIntoKafka(mirror)) {
            return;
        }
        mirror.find(MirrorConfiguration.RENAME_TO)
                .ifPresent(to -> report.problem(
                        mirror,
                        MirrorConfiguration.RENAME_TO,
                        "is " + to + ", but include is not set, so a mirror back after a switchover could write"
                                + " Understudy's own keys; set include to the prefixes to mirror, or remove "
                                + MirrorConfiguration.RENAME_TO.key()));
    }

    private static void requirePasswords(Configuration mirror, Check.Report report) {
        Configuration etcd = mirror.at("target.etcd");
        etcd.find(PASSWORDS).map(Path.class::cast).ifPresent(file -> {
            if (etcd.get(AUTH) != AuthMode.COPY) {
                report.problem(etcd, PASSWORDS, "is " + file + ", but auth is none; set auth: copy or remove it");
                return;
            }
            try {
                PasswordFile.require(file);
            } catch (IllegalArgumentException e) {
                report.problem(etcd, PASSWORDS, "is invalid: " + e.getMessage());
            }
        });
    }

    private static void requireTopicsOfTheirOwn(Configuration all, Check.Report report) {
        Set<List<Object>> topics = new HashSet<>();
        Set<List<Object>> ids = new HashSet<>();
        each((mirror, each) -> {
                    Configuration kafka = mirror.at("target.kafka");
                    Object cluster = kafka.find(SERVERS);
                    KafkaNames.of(kafka).ifPresent(names -> {
                        names.topics().forEach((setting, topic) -> {
                            if (!topics.add(List.of(cluster, topic))) {
                                each.problem(
                                        kafka,
                                        setting,
                                        "is " + topic + ", which is already used; each mirror requires its own topics");
                            }
                        });
                        if (!ids.add(List.of(cluster, names.transactionalId()))) {
                            each.problem(
                                    kafka,
                                    Binder.row(KafkaNames.class, "transactionalIdPrefix"),
                                    "and topic form transactional.id " + names.transactionalId()
                                            + ", which another mirror has; choose another prefix");
                        }
                    });
                })
                .check(all, report);
    }
}
