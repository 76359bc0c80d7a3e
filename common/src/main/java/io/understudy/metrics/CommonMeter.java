package io.understudy.metrics;

/** The meters shared by several kinds of processes: build, TLS, etcd clusters, feeds. */
public enum CommonMeter implements Declared {
    BUILD(Metric.gauge("understudy.build", "always 1, labelled with the build").by("version", "running version")),
    RESIDENT_MEMORY(Metric.gauge("process.resident.memory", "bytes", "resident memory, without tags, as of etcd")),
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
    ETCD_MEMBERS(
            ofCluster(Metric.gauge("understudy.etcd.members", "known cluster members and gateways by role and health"))
                    .by("role", "voter, learner, gateway")
                    .by("health", "healthy, leaderless, unreachable, unknown")),
    ETCD_FAULTS(
            ofCluster(Metric.gauge("understudy.etcd.version.faults", "known faults of the versions that members run"))),
    ETCD_REQUESTS(ofCluster(Metric.counter("understudy.etcd.requests", "completed requests by outcome"))
            .by("duty", "snapshot, watch, read_index, write")
            .by("outcome", "ok, or the failure class: elsewhere, later, outcome_unknown, callers_fault, fatal")),
    ETCD_PROBES(
            ofCluster(Metric.timer("understudy.etcd.probes", "endpoint probes")).by("outcome", "ok, failed")),
    ETCD_READINDEX(ofCluster(Metric.timer("understudy.etcd.readindex", "read index requests"))
            .by("role", "role of the serving endpoint: voter, learner, gateway")
            .by("outcome", "ok, failed")),
    ETCD_LOGINS(ofCluster(Metric.counter("understudy.etcd.logins", "login requests for an auth token"))
            .by("outcome", "ok, failed")),
    FEED_COMMITS(ofFeed(Metric.counter("understudy.feed.commits", "commits delivered"))),
    FEED_CHANGES(ofFeed(Metric.counter("understudy.feed.changes", "puts and deletes in delivered commits"))),
    FEED_BYTES(ofFeed(Metric.counter("understudy.feed", "bytes", "size of delivered changes"))),
    FEED_SNAPSHOTS(ofFeed(Metric.counter("understudy.feed.snapshots", "snapshots started"))),
    FEED_SNAPSHOT_KEYS(ofFeed(Metric.counter("understudy.feed.snapshot.keys", "snapshot keys delivered"))),
    FEED_REVISION(ofFeed(Metric.gauge("understudy.feed.revision", "revision up to which all changes are delivered"))),
    FEED_REOPENS(ofFeed(Metric.counter("understudy.feed.reopens", "times the feed reopened its watch"))
            .by("reason", "stream_ended, too_large, stalled, behind, canceled")),
    FEED_ENDED(ofFeed(Metric.counter("understudy.feed.ended", "feeds that terminated"))
            .by("cause", "Gap, AnotherCluster, AnotherHistory, Unexplained")),
    FEED_RECORDS(ofFeed(Metric.counter("understudy.feed.records", "from Kafka: records read"))),
    FEED_REPEATS(ofFeed(Metric.counter("understudy.feed.repeats", "from Kafka: duplicate changes read"))),
    FEED_STRAYS(ofFeed(Metric.counter("understudy.feed.strays", "from Kafka: stray records skipped"))),
    FEED_OUTAGES(ofFeed(Metric.counter("understudy.feed.outages", "from Kafka: outages"))),
    FEED_RECORD_AGE(ofFeed(Metric.gauge(
            "understudy.feed.record.age",
            "milliseconds",
            "from Kafka: age of the last record when read, subject to clock skew between writer and reader")));

    @SuppressWarnings("ImmutableEnumChecker") // a record of texts and of an unmodifiable list
    private final Metric metric;

    CommonMeter(Metric metric) {
        this.metric = metric;
    }

    private static Metric ofFeed(Metric metric) {
        return metric.by("feed", "source name in the configuration");
    }

    private static Metric ofCluster(Metric metric) {
        return metric.by("cluster", "cluster name in the configuration");
    }

    @Override
    public Metric metric() {
        return metric;
    }
}
