package io.understudy.mirror.metrics;

import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;

/** The meters of a process of mirrors. */
public enum MirrorMeter implements Declared {
    STATE(Metric.gauge("understudy.mirror.state", "1 for the state it is in, 0 for the others")
            .by("mirror", "its name")
            .by("state", "standby, starting, syncing, synced, retrying, failed, stopped")),
    LAG(Metric.gauge(
                    "understudy.mirror.lag",
                    "seconds",
                    "since when the source has had something that the target doesn't have; no number while nobody knows")
            .by("mirror", "its name")),
    LAG_REVISIONS(Metric.gauge(
                    "understudy.mirror.lag.revisions", "revisions the source is ahead; no number while nobody knows")
            .by("mirror", "its name")),
    WARNINGS(Metric.gauge("understudy.mirror.warnings", "warnings that /status has; etcd targets")
            .by("mirror", "its name")),
    CHECKPOINT_REVISION(Metric.gauge(
                    "understudy.mirror.checkpoint.revision",
                    "of the checkpoint as last stored; no number while there is none")
            .by("mirror", "its name")),
    CHANGES(Metric.counter("understudy.mirror.changes", "puts and deletes written to the target")
            .by("mirror", "its name")),
    TRANSACTIONS(Metric.counter("understudy.mirror.transactions", "writes to the target")
            .by("mirror", "its name")),
    RETRIES(Metric.counter("understudy.mirror.retries", "failed attempts on the target")
            .by("mirror", "its name")),
    COMMITS(Metric.counter("understudy.mirror.commits", "to Kafka: commits written")
            .by("mirror", "its name")),
    TRANSACTION(Metric.timer(
                    "understudy.mirror.transaction",
                    "to Kafka: from the first record of a transaction until it is committed, which is how long after the mirror a reader has it")
            .by("mirror", "its name")),
    PASSED_OVER(Metric.counter(
                    "understudy.mirror.passed.over", "commits not written, since they have been at the target before")
            .by("mirror", "its name")),
    REPLICATION_LATENCY(Metric.summary(
                    "understudy.mirror.replication.latency",
                    "milliseconds",
                    "from when the source had nothing beyond a revision until the target held everything up to it")
            .by("mirror", "its name")),
    RECORD_AGE(Metric.summary(
                    "understudy.mirror.record.age",
                    "milliseconds",
                    "from Kafka: from then until the mirror read the heartbeat that says so")
            .by("mirror", "its name")),
    ACTIVE(Metric.gauge(
                    "understudy.mirror.active",
                    "1 if this process is the active one of the mirror, else 0; etcd targets")
            .by("mirror", "its name")),
    ACTIVATIONS(Metric.counter("understudy.mirror.activations", "times that it became so")
            .by("mirror", "its name")),
    LEASES(Metric.gauge("understudy.mirror.leases", "leases of the target that are kept alive")
            .by("mirror", "its name")),
    LEASES_RESTORED(Metric.counter(
                    "understudy.mirror.leases.restored", "keys put back after their leases had run out in the target")
            .by("mirror", "its name")),
    AUTH_CHANGES(Metric.counter(
                    "understudy.mirror.auth.changes", "with auth: copy, roles, grants and users changed in the target")
            .by("mirror", "its name")),
    AUTH_COMPARISONS(
            Metric.timer(
                            "understudy.mirror.auth.comparisons",
                            "with auth: copy, of all roles and users of both sides, changes included")
                    .by("mirror", "its name")
                    .by(
                            "outcome",
                            "ok, held (a hand-over has withdrawn permissions on either side), overtaken (to be made again), failed")),
    AUTH_LEFT_ALONE(Metric.gauge(
                    "understudy.mirror.auth.left.alone",
                    "with auth: copy, the target's own roles and users that are named as some of the source's")
            .by("mirror", "its name")),
    AUTH_WITHOUT_PASSWORD(Metric.gauge(
                    "understudy.mirror.auth.without.password",
                    "with auth: copy, users in the target that the mirror has given no password")
            .by("mirror", "its name")),
    VERIFY_KEYS(Metric.counter("understudy.mirror.verify.keys", "keys compared in the background")
            .by("mirror", "its name")),
    VERIFY_PASSES(Metric.counter("understudy.mirror.verify.passes", "times all keys were compared")
            .by("mirror", "its name")),
    VERIFY_DIFFERENCES(
            Metric.gauge("understudy.mirror.verify.differences", "keys that differed when they were last looked at")
                    .by("mirror", "its name")),
    FOREIGN(Metric.counter("understudy.mirror.foreign", "keys found that differ from the source")
            .by("mirror", "its name")),
    REPAIRED(Metric.counter("understudy.mirror.repaired", "keys put right that differed")
            .by("mirror", "its name"));

    @SuppressWarnings("ImmutableEnumChecker") // a record of texts and of an unmodifiable list
    private final Metric metric;

    MirrorMeter(Metric metric) {
        this.metric = metric;
    }

    @Override
    public Metric metric() {
        return metric;
    }
}
