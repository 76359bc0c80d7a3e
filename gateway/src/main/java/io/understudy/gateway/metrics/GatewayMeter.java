package io.understudy.gateway.metrics;

import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;

/** The meters of a gateway. */
public enum GatewayMeter implements Declared {
    READY(Metric.gauge("understudy.gateway.ready", "1 while all checks of /readyz pass")),
    REPLICA_REVISION(Metric.gauge("understudy.gateway.replica.revision", "revision of the published state")),
    REPLICA_KEYS(Metric.gauge("understudy.gateway.replica.keys", "keys in it")),
    REPLICA_BYTES(Metric.gauge("understudy.gateway.replica", "bytes", "of their keys and values")),
    REPLICA_HEAP(Metric.gauge(
            "understudy.gateway.replica.heap",
            "bytes",
            "memory that it takes, its past revisions included, by its own account")),
    REPLICA_LAG(Metric.gauge(
            "understudy.gateway.replica.lag", "revisions", "behind the newest revision that any member has told")),
    REPLICA_READY(Metric.gauge(
            "understudy.gateway.replica.ready",
            "1 while there is a state: not before the first snapshot is complete, nor once it was dropped")),
    REPLICA_APPLY(Metric.timer("understudy.gateway.replica.apply", "to apply and publish a commit")),
    REPLICA_DROPS(Metric.counter("understudy.gateway.replica.drops", "times it was given up, to be built anew later")),
    STALENESS(Metric.gauge(
            "understudy.gateway.staleness",
            "seconds",
            "since the replica is known to have been current; no number while nobody knows")),
    WINDOW_COMMITS(Metric.gauge("understudy.gateway.window.commits", "past commits that are held")),
    WINDOW_BYTES(Metric.gauge("understudy.gateway.window", "bytes", "memory that they take")),
    VERIFY_KEYS(
            Metric.counter("understudy.gateway.verify.keys", "keys of the source that the replica was compared with")),
    VERIFY_DIFFERENCES(
            Metric.counter("understudy.gateway.verify.differences", "keys that were not the same on both sides")
                    .by("side", "whose fault it is: replica, source")),
    FEED_SILENCE(Metric.gauge("understudy.gateway.feed.silence", "seconds", "since the feed told anything")),
    FEED_RESYNCS(Metric.counter("understudy.gateway.feed.resyncs", "gaps answered by a new snapshot")),
    READS(Metric.counter("understudy.gateway.reads", "reads answered")
            .by("consistency", "serializable, bounded, at-least, linearizable")
            .by("origin", "who had it: replica, learner, gateway, voter")),
    READS_WAIT(Metric.timer(
                    "understudy.gateway.reads.wait",
                    "of reads that were not answered at once, until they were fresh enough or given up")
            .by("consistency", "as of reads")
            .by("outcome", "met, expired")),
    READS_EVALUATION(Metric.timer(
            "understudy.gateway.reads.evaluation",
            "to put answers together that look at many entries, beside the event loops")),
    READS_EVALUATION_WAITING(Metric.gauge("understudy.gateway.reads.evaluation.waiting", "answers that wait for that")),
    READINDEX_ROUNDS(Metric.timer("understudy.gateway.readindex.rounds", "read-index rounds")
            .by("outcome", "ok, failed")),
    HEARTBEATS(Metric.counter("understudy.gateway.heartbeats", "heartbeats of a mirror, where the source is Kafka")
            .by("outcome", "believed, or future: from further in the future than maxClockSkew")),
    PASSEDTHROUGH(Metric.gauge(
            "understudy.gateway.passedthrough",
            "bytes",
            "held of the source's answers until their clients have taken them, or kept free for them")),
    REQUESTS(Metric.timer("understudy.gateway.requests", "to answer")
            .by("method", "one of those served, else unknown")
            .by("code", "gRPC's")),
    REQUESTS_INFLIGHT(
            Metric.gauge("understudy.gateway.requests.inflight", "requests with one answer that are under way")),
    CALLS(Metric.gauge("understudy.gateway.calls", "open calls: those and streams")),
    REQUESTS_REFUSED(
            Metric.counter("understudy.gateway.requests.refused", "requests refused that may be welcome another time")
                    .by(
                            "reason",
                            "overload; too much under way on the loop or the connection; rate; bytes kept for the connection")),
    CONNECTIONS(Metric.gauge("understudy.gateway.connections", "open connections of clients")),
    CONNECTIONS_CLOSED(Metric.counter(
                    "understudy.gateway.connections.closed", "connections closed that their clients would have kept")
            .by("reason", "connections (too many), abuse, stall, idle, dead")),
    LOOP_TURNS(Metric.timer(
            "understudy.gateway.loop.turns",
            "for all that had arrived on an event loop, where it took more than a millisecond")),
    REST_REQUESTS(Metric.timer("understudy.gateway.rest.requests", "to answer REST")
            .by("route", "one of those served, else none")
            .by("status", "HTTP's")),
    REST_STREAMS(Metric.gauge("understudy.gateway.rest.streams", "streams of commits over REST that are open")),
    WATCH_STREAMS(Metric.gauge("understudy.gateway.watch.streams", "open streams of watchers")),
    WATCHERS(Metric.gauge("understudy.gateway.watchers", "watchers, by where they stand")
            .by("state", "live; behind, catching up; slow, waiting for their client; future, not begun")),
    WATCH_EVENTS(Metric.counter("understudy.gateway.watch.events", "events handed to watchers")),
    WATCH_SLOW(Metric.counter(
            "understudy.gateway.watch.slow",
            "times that a watcher fell behind, its client not having taken what it had")),
    WATCH_COMPACTED(Metric.counter(
            "understudy.gateway.watch.compacted",
            "watchers that were ended, the source having compacted what would have come next")),
    WATCH_HISTORY_COMMITS(
            Metric.counter("understudy.gateway.watch.history.commits", "commits read from the source's history")),
    WATCH_DELIVERY(Metric.timer(
            "understudy.gateway.watch.delivery",
            "from a commit's application to its being written for live watchers, by event loop")),
    DASHBOARD_QUESTIONS(
            Metric.timer("understudy.gateway.dashboard.questions", "to learn how a process beside this one is")
                    .by("kind", "gateway, mirror, supervisor")
                    .by("outcome", "ok, failed")),
    FORWARD_CALLS(Metric.timer("understudy.gateway.forward.calls", "of calls passed on, from start to end")
            .by("method", "one of etcd's")
            .by("code", "gRPC's")),
    FORWARD_STREAMS(Metric.gauge("understudy.gateway.forward.streams", "streams passed on that are open")),
    FORWARD_ELSEWHERE(Metric.counter(
            "understudy.gateway.forward.elsewhere",
            "attempts repeated at another member, the request having not left, or been refused unread")),
    TRACING_SPANS(Metric.counter("understudy.gateway.tracing.spans", "spans of sampled calls, where tracing is on")
            .by("outcome", "exported; failed, the collector not having taken them; dropped, too many waiting for it")),
    PERMISSIONS_ENFORCED(Metric.gauge(
            "understudy.gateway.permissions.enforced",
            "1 while the source has authentication enabled, 0 while it hasn't; no number while nobody has told")),
    PERMISSIONS_CHECKS(Metric.timer("understudy.gateway.permissions.checks", "to ask the source what somebody may do")
            .by("outcome", "granted, refused, unknown")),
    PERMISSIONS_ROLE_READS(Metric.timer(
                    "understudy.gateway.permissions.role.reads",
                    "to ask the source about users or roles, for names in certificates")
            .by("outcome", "ok, failed")),
    PERMISSIONS_CACHED(Metric.gauge(
            "understudy.gateway.permissions.cached", "what was granted lately, and is not asked for again")),
    PERMISSIONS_REVOCATIONS(Metric.counter(
            "understudy.gateway.permissions.revocations",
            "watchers and streams of commits ended, since they may not be read any more, or nobody could tell"));

    @SuppressWarnings("ImmutableEnumChecker") // a record of texts and of an unmodifiable list
    private final Metric metric;

    GatewayMeter(Metric metric) {
        this.metric = metric;
    }

    @Override
    public Metric metric() {
        return metric;
    }
}
