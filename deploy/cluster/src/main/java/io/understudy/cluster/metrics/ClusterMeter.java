package io.understudy.cluster.metrics;

import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;

/** The meters of a supervisor. */
public enum ClusterMeter implements Declared {
    VOTERS(Metric.gauge("understudy.cluster.voters", "voting members")),
    VOTERS_HEALTHY(Metric.gauge("understudy.cluster.voters.healthy", "healthy voting members")),
    LEARNERS(Metric.gauge("understudy.cluster.learners", "learners")),
    LEARNERS_LAG(Metric.gauge(
            "understudy.cluster.learners.lag",
            "revisions",
            "lag of the slowest learner behind the most recent voting member, of responding members")),
    LEARNERS_RECEIVED(Metric.gauge(
            "understudy.cluster.learners.received",
            "bytes",
            "received bytes of the snapshot of a joining member on this machine; 0 if none is joining")),
    TOLERANCE(Metric.gauge(
            "understudy.cluster.tolerance",
            "member failures that the cluster tolerates; negative without a quorum, NaN if unknown")),
    MEMBERS_DIFFERING(Metric.gauge(
            "understudy.cluster.members.differing",
            "members that differ from the others in member list or cluster ID")),
    ALARMS(Metric.gauge("understudy.cluster.alarms", "raised alarms, and other errors that members report")
            .by("kind", "NOSPACE, CORRUPT, other")),
    DATABASE_FILL(Metric.gauge(
            "understudy.cluster.database.fill",
            "largest part of a quota that a member's database file takes, 0 to 1; NaN if unknown")),
    SETTLED(Metric.gauge("understudy.cluster.settled", "1 if the cluster has its declared shape")),
    SUPERVISOR_ACTIVE(Metric.gauge("understudy.cluster.supervisor.active", "1 if this supervisor is active")),
    SUPERVISOR_PAUSED(Metric.gauge("understudy.cluster.supervisor.paused", "1 if supervisors are paused")),
    DECISIONS(Metric.counter("understudy.cluster.decisions", "decisions that differ from the previous one")
            .by("rule", "rule of the decision, such as standby-failover")
            .by("outcome", "done, ordered, refused, failed, unknown, paused, not-active, none")),
    LOOKS(Metric.timer("understudy.cluster.looks", "observations of all members")
            .by("outcome", "ok, failed")),
    REQUESTS(Metric.timer("understudy.cluster.requests", "requests that change membership or leader")
            .by(
                    "request",
                    "add, promote, remove, update, move-leader, compact, defragment, disarm, downgrade, append-entry")
            .by("outcome", "done, ordered, refused, unknown")),
    SNAPSHOTS(Metric.timer("understudy.cluster.snapshots", "snapshots taken").by("outcome", "ok, failed")),
    SNAPSHOT_UPLOADS(Metric.timer("understudy.cluster.snapshot.uploads", "snapshot uploads")
            .by("outcome", "ok, failed")),
    SNAPSHOT_AGE(Metric.gauge(
            "understudy.cluster.snapshot.age", "seconds", "age of the newest snapshot; -1 without a snapshot")),
    SNAPSHOT_SIZE(Metric.gauge("understudy.cluster.snapshot.size", "bytes", "size of the newest snapshot"));

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
