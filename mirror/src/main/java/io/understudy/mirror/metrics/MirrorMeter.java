package io.understudy.mirror.metrics;

import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;

/** The meters of a process of mirrors. */
public enum MirrorMeter implements Declared {
    STATE(
            Metric.gauge("understudy.mirror.state", "1 for the current state, 0 for all others"),
            "state",
            "standby, conflict, starting, syncing, synced, torn, differs, retrying, failed, stopped"),
    LAG(Metric.gauge("understudy.mirror.lag", "seconds", "replication lag; NaN if unknown")),
    LAG_REVISIONS(
            Metric.gauge("understudy.mirror.lag.revisions", "replication lag in source revisions; NaN if unknown")),
    WARNINGS(Metric.gauge("understudy.mirror.warnings", "warnings in /status; etcd targets only")),
    CHECKPOINT_REVISION(Metric.gauge(
            "understudy.mirror.checkpoint.revision", "revision of the last stored checkpoint; NaN if there is none")),
    TARGET_RESPONSE_AGE(Metric.gauge(
            "understudy.mirror.target.response.age",
            "seconds",
            "time since the target last confirmed an operation; NaN before the first")),
    CHANGES(Metric.counter("understudy.mirror.changes", "puts and deletes written to the target")),
    TRANSACTIONS(Metric.counter("understudy.mirror.transactions", "transactions written to the target")),
    RETRIES(Metric.counter("understudy.mirror.retries", "failed attempts on the target")),
    COMMITS(Metric.counter("understudy.mirror.commits", "to Kafka: commits written")),
    TRANSACTION(Metric.timer(
            "understudy.mirror.transaction",
            "to Kafka: time from the first record of a transaction to its commit, when readers can see it")),
    ABORTS(Metric.counter(
            "understudy.mirror.aborts",
            "to Kafka: transactions that ended without a confirmed commit; Kafka aborts them, and the mirror"
                    + " repeats their commits")),
    STRAYS(Metric.counter("understudy.mirror.strays", "to Kafka: stray records found in the mirror's topics")),
    PASSED_OVER(
            Metric.counter("understudy.mirror.passed.over", "commits skipped because they originate from the target")),
    REPLICATION_LATENCY(Metric.summary(
            "understudy.mirror.replication.latency",
            "milliseconds",
            "time from the source reaching a revision to the target reaching it")),
    RECORD_AGE(Metric.summary(
            "understudy.mirror.record.age",
            "milliseconds",
            "from Kafka: time from the source reaching a revision to the mirror reading its heartbeat record")),
    ACTIVE(Metric.gauge("understudy.mirror.active", "1 if this process is active, 0 if standby; etcd targets only")),
    ACTIVATIONS(Metric.counter("understudy.mirror.activations", "times this process became active")),
    LEASES(Metric.gauge("understudy.mirror.leases", "leases kept alive in the target")),
    LEASES_RESTORED(Metric.counter(
            "understudy.mirror.leases.restored", "keys restored after their leases expired in the target")),
    AUTH_CHANGES(Metric.counter(
            "understudy.mirror.auth.changes",
            "with auth: copy, changes of roles, permissions and users in the target")),
    AUTH_COMPARISONS(
            Metric.timer(
                    "understudy.mirror.auth.comparisons",
                    "with auth: copy, comparisons of all roles and users, including the resulting changes"),
            "outcome",
            "ok, held (a move of the primary role closed a cluster), overtaken (will be retried), failed"),
    AUTH_LEFT_ALONE(Metric.gauge(
            "understudy.mirror.auth.left.alone",
            "with auth: copy, roles and users not overwritten because the target has its own of the same name")),
    AUTH_WITHOUT_PASSWORD(Metric.gauge(
            "understudy.mirror.auth.without.password",
            "with auth: copy, users created in the target without a password")),
    VERIFY_KEYS(Metric.counter("understudy.mirror.verify.keys", "keys compared by background verification")),
    VERIFY_PASSES(Metric.counter("understudy.mirror.verify.passes", "completed background verifications of all keys")),
    VERIFY_DIFFERENCES(
            Metric.gauge("understudy.mirror.verify.differences", "keys that differed at the last comparison")),
    FOREIGN(Metric.counter("understudy.mirror.foreign", "keys found to differ from the source")),
    REPAIRED(Metric.counter("understudy.mirror.repaired", "differing keys repaired"));

    @SuppressWarnings("ImmutableEnumChecker") // a record of texts and of an unmodifiable list
    private final Metric metric;

    /** A meter with the name of the mirror as tag. */
    MirrorMeter(Metric metric) {
        this.metric = metric.by("mirror", "mirror name");
    }

    /** The same with another tag. */
    MirrorMeter(Metric metric, String tag, String values) {
        this.metric = metric.by("mirror", "mirror name").by(tag, values);
    }

    @Override
    public Metric metric() {
        return metric;
    }
}
