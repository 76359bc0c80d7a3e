package io.understudy.cluster.metrics;

import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;

/** The meters of a supervisor. */
public enum ClusterMeter implements Declared {
    VOTERS(Metric.gauge("understudy.cluster.voters", "voters, as of the last look")),
    VOTERS_HEALTHY(Metric.gauge("understudy.cluster.voters.healthy", "those of them that are healthy")),
    LEARNERS(Metric.gauge("understudy.cluster.learners", "learners, as of the last look")),
    LEARNERS_LAG(Metric.gauge(
            "understudy.cluster.learners.lag",
            "revisions",
            "revisions that the last learner is behind the first voter, of those that answer")),
    LEARNERS_RECEIVED(Metric.gauge(
            "understudy.cluster.learners.received",
            "bytes",
            "of the snapshot that a member is being sent which runs beside this supervisor; 0 if none is")),
    TOLERANCE(Metric.gauge("understudy.cluster.tolerance", "failures survived; negative without a quorum")),
    SETTLED(Metric.gauge("understudy.cluster.settled", "1 if the cluster is as declared")),
    SUPERVISOR_ACTIVE(Metric.gauge("understudy.cluster.supervisor.active", "1 if this supervisor acts")),
    SUPERVISOR_PAUSED(Metric.gauge("understudy.cluster.supervisor.paused", "1 if nobody is to act")),
    DECISIONS(Metric.counter("understudy.cluster.decisions", "decisions that differed from the one before")
            .by("rule", "whose it is, such as standby-failover")
            .by("outcome", "done, refused, failed, unknown, paused, not-active, none")),
    LOOKS(Metric.timer("understudy.cluster.looks", "looks at all members of the cluster")
            .by("outcome", "ok, failed")),
    REQUESTS(Metric.timer("understudy.cluster.requests", "requests that change the cluster's membership or its leader")
            .by("request", "add, promote, remove, update, move-leader")
            .by("outcome", "done, refused, unknown")),
    SNAPSHOTS(Metric.timer("understudy.cluster.snapshots", "to take a snapshot").by("outcome", "ok, failed")),
    SNAPSHOT_UPLOADS(Metric.timer("understudy.cluster.snapshot.uploads", "to upload a snapshot")
            .by("outcome", "ok, failed")),
    SNAPSHOT_AGE(Metric.gauge(
            "understudy.cluster.snapshot.age", "seconds", "since the newest snapshot was begun; -1 if there is none")),
    SNAPSHOT_SIZE(Metric.gauge("understudy.cluster.snapshot.size", "bytes", "of the newest snapshot"));

    @SuppressWarnings("ImmutableEnumChecker") // a record of texts and of an unmodifiable list
    private final Metric metric;

    ClusterMeter(Metric metric) {
        this.metric = metric;
    }

    @Override
    public Metric metric() {
        return metric;
    }
}
