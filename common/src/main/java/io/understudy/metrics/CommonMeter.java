package io.understudy.metrics;

/** The meters that processes of several kinds have: of the build, of TLS, of clusters of etcd, and of feeds. */
public enum CommonMeter implements Declared {
    BUILD(Metric.gauge("understudy.build", "always 1").by("version", "the one that runs")),
    TLS_RELOADS(Metric.counter(
                    "understudy.tls.reloads",
                    "files of certificates and keys that had changed, by whether they can be used")
            .by("name", "listener, or the cluster that is connected to")
            .by("outcome", "ok, failed")),
    TLS_HANDSHAKES(Metric.counter("understudy.tls.handshakes", "handshakes of clients of the gateway's API")
            .by("name", "listener")
            .by("outcome", "ok, failed")),
    TLS_EXPIRY(Metric.gauge(
                    "understudy.tls.expiry",
                    "seconds",
                    "until this side's certificate expires, negative afterwards; only where it has one")
            .by("name", "listener, or the cluster that is connected to")),
    ETCD_MEMBERS(Metric.gauge("understudy.etcd.members", "members of the cluster, and gateways, as last seen")
            .by("cluster", "name of the cluster in the configuration")
            .by("role", "voter, learner, gateway")
            .by("health", "healthy, leaderless, unreachable, unknown")),
    ETCD_REQUESTS(
            Metric.counter("understudy.etcd.requests", "requests whose outcome is known")
                    .by("cluster", "name of the cluster in the configuration")
                    .by("duty", "snapshot, watch, read_index, write")
                    .by(
                            "outcome",
                            "ok, or what can be done about the failure: elsewhere, later, outcome_unknown, callers_fault, fatal")),
    ETCD_PROBES(Metric.timer("understudy.etcd.probes", "looks at single endpoints")
            .by("cluster", "name of the cluster in the configuration")
            .by("outcome", "ok, failed")),
    ETCD_READINDEX(Metric.timer("understudy.etcd.readindex", "attempts to have a revision confirmed by the quorum")
            .by("cluster", "name of the cluster in the configuration")
            .by("role", "of who was asked: voter, learner, gateway")
            .by("outcome", "ok, failed")),
    ETCD_LOGINS(Metric.counter("understudy.etcd.logins", "tokens asked for")
            .by("cluster", "name of the cluster in the configuration")
            .by("outcome", "ok, failed")),
    FEED_COMMITS(Metric.counter("understudy.feed.commits", "commits handed on")
            .by("feed", "name of the source in the configuration")),
    FEED_CHANGES(Metric.counter("understudy.feed.changes", "puts and deletes in them")
            .by("feed", "name of the source in the configuration")),
    FEED_BYTES(Metric.counter("understudy.feed", "bytes", "bytes of them")
            .by("feed", "name of the source in the configuration")),
    FEED_SNAPSHOTS(Metric.counter("understudy.feed.snapshots", "snapshots begun")
            .by("feed", "name of the source in the configuration")),
    FEED_SNAPSHOT_KEYS(Metric.counter("understudy.feed.snapshot.keys", "keys of snapshots handed on")
            .by("feed", "name of the source in the configuration")),
    FEED_REVISION(Metric.gauge("understudy.feed.revision", "up to which all was handed on")
            .by("feed", "name of the source in the configuration")),
    FEED_REOPENS(Metric.counter("understudy.feed.reopens", "times the feed had to begin to listen anew")
            .by("feed", "name of the source in the configuration")
            .by("reason", "stream_ended, too_large, stalled, behind, canceled")),
    FEED_ENDED(Metric.counter("understudy.feed.ended", "feeds that ended for good")
            .by("feed", "name of the source in the configuration")
            .by("cause", "Gap, AnotherCluster, AnotherHistory, CommitTooLarge, Unexplained")),
    FEED_RECORDS(Metric.counter("understudy.feed.records", "from Kafka: records read")
            .by("feed", "name of the source in the configuration")),
    FEED_REPEATS(Metric.counter("understudy.feed.repeats", "from Kafka: changes that were told again")
            .by("feed", "name of the source in the configuration")),
    FEED_OUTAGES(Metric.counter("understudy.feed.outages", "from Kafka: times that it stopped to answer as it should")
            .by("feed", "name of the source in the configuration")),
    FEED_RECORD_AGE(Metric.gauge(
                    "understudy.feed.record.age",
                    "milliseconds",
                    "from Kafka: age of the last record when it was read, by its writer's clock and ours")
            .by("feed", "name of the source in the configuration"));

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
