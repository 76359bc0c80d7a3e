package io.understudy.metrics;

/** The meters shared by several kinds of processes: build, TLS, etcd clusters, feeds. */
public enum CommonMeter implements Declared {
    BUILD(Metric.gauge("understudy.build", "always 1, labelled with the build").by("version", "running version")),
    TLS_RELOADS(Metric.counter("understudy.tls.reloads", "TLS file reloads by outcome")
            .by("name", "listener, or the connected cluster")
            .by("outcome", "ok, failed")),
    TLS_HANDSHAKES(Metric.counter("understudy.tls.handshakes", "TLS handshakes of gateway clients")
            .by("name", "listener")
            .by("outcome", "ok, failed")),
    TLS_EXPIRY(Metric.gauge(
                    "understudy.tls.expiry",
                    "seconds",
                    "time until the own certificate expires; negative after expiry, absent without a certificate")
            .by("name", "listener, or the connected cluster")),
    ETCD_MEMBERS(Metric.gauge("understudy.etcd.members", "known cluster members and gateways by role and health")
            .by("cluster", "cluster name in the configuration")
            .by("role", "voter, learner, gateway")
            .by("health", "healthy, leaderless, unreachable, unknown")),
    ETCD_FAULTS(Metric.gauge("understudy.etcd.version.faults", "known faults of the versions that members run")
            .by("cluster", "cluster name in the configuration")),
    ETCD_REQUESTS(Metric.counter("understudy.etcd.requests", "completed requests by outcome")
            .by("cluster", "cluster name in the configuration")
            .by("duty", "snapshot, watch, read_index, write")
            .by("outcome", "ok, or the failure class: elsewhere, later, outcome_unknown, callers_fault, fatal")),
    ETCD_PROBES(Metric.timer("understudy.etcd.probes", "endpoint probes")
            .by("cluster", "cluster name in the configuration")
            .by("outcome", "ok, failed")),
    ETCD_READINDEX(Metric.timer("understudy.etcd.readindex", "read index requests")
            .by("cluster", "cluster name in the configuration")
            .by("role", "role of the serving endpoint: voter, learner, gateway")
            .by("outcome", "ok, failed")),
    ETCD_LOGINS(Metric.counter("understudy.etcd.logins", "login requests for an auth token")
            .by("cluster", "cluster name in the configuration")
            .by("outcome", "ok, failed")),
    FEED_COMMITS(Metric.counter("understudy.feed.commits", "commits delivered")
            .by("feed", "source name in the configuration")),
    FEED_CHANGES(Metric.counter("understudy.feed.changes", "puts and deletes in delivered commits")
            .by("feed", "source name in the configuration")),
    FEED_BYTES(Metric.counter("understudy.feed", "bytes", "size of delivered changes")
            .by("feed", "source name in the configuration")),
    FEED_SNAPSHOTS(Metric.counter("understudy.feed.snapshots", "snapshots started")
            .by("feed", "source name in the configuration")),
    FEED_SNAPSHOT_KEYS(Metric.counter("understudy.feed.snapshot.keys", "snapshot keys delivered")
            .by("feed", "source name in the configuration")),
    FEED_REVISION(Metric.gauge("understudy.feed.revision", "revision up to which all changes are delivered")
            .by("feed", "source name in the configuration")),
    FEED_REOPENS(Metric.counter("understudy.feed.reopens", "times the feed reopened its watch")
            .by("feed", "source name in the configuration")
            .by("reason", "stream_ended, too_large, stalled, behind, canceled")),
    FEED_ENDED(Metric.counter("understudy.feed.ended", "feeds that terminated")
            .by("feed", "source name in the configuration")
            .by("cause", "Gap, AnotherCluster, AnotherHistory, Unexplained")),
    FEED_RECORDS(Metric.counter("understudy.feed.records", "from Kafka: records read")
            .by("feed", "source name in the configuration")),
    FEED_REPEATS(Metric.counter("understudy.feed.repeats", "from Kafka: duplicate changes read")
            .by("feed", "source name in the configuration")),
    FEED_STRAYS(Metric.counter("understudy.feed.strays", "from Kafka: stray records skipped")
            .by("feed", "source name in the configuration")),
    FEED_OUTAGES(Metric.counter("understudy.feed.outages", "from Kafka: outages")
            .by("feed", "source name in the configuration")),
    FEED_RECORD_AGE(Metric.gauge(
                    "understudy.feed.record.age",
                    "milliseconds",
                    "from Kafka: age of the last record when read, subject to clock skew between writer and reader")
            .by("feed", "source name in the configuration"));

    @SuppressWarnings("ImmutableEnumChecker") // a record of texts and of an unmodifiable list
    private final Metric metric;

    CommonMeter(Metric metric) {
        this.metric = metric;
    }

    @Override
    public Metric metric() {
        return metric;
    }
}
