package io.understudy.gateway.metrics;

import io.understudy.metrics.Declared;
import io.understudy.metrics.Metric;

/** The meters of a gateway. */
public enum GatewayMeter implements Declared {
    READY(Metric.gauge("understudy.gateway.ready", "1 if all /readyz checks pass, otherwise 0")),
    REPLICA_REVISION(Metric.gauge("understudy.gateway.replica.revision", "revision of the replica")),
    REPLICA_KEYS(Metric.gauge("understudy.gateway.replica.keys", "keys in the replica")),
    REPLICA_BYTES(Metric.gauge("understudy.gateway.replica", "bytes", "size of the keys and values in the replica")),
    REPLICA_HEAP(Metric.gauge(
            "understudy.gateway.replica.heap",
            "bytes",
            "estimated heap memory of the replica, past revisions included")),
    REPLICA_LAG(Metric.gauge(
            "understudy.gateway.replica.lag",
            "revisions",
            "revisions behind the newest revision reported by any member")),
    REPLICA_READY(Metric.gauge(
            "understudy.gateway.replica.ready",
            "1 if the replica is loaded; 0 before the first snapshot completes and after the replica is dropped")),
    REPLICA_APPLY(Metric.timer("understudy.gateway.replica.apply", "time to apply and publish a commit")),
    REPLICA_DROPS(
            Metric.counter("understudy.gateway.replica.drops", "times the replica was dropped for a later rebuild")),
    STALENESS(Metric.gauge(
            "understudy.gateway.staleness", "seconds", "upper bound of the replica's staleness; NaN if unknown")),
    WINDOW_COMMITS(Metric.gauge("understudy.gateway.window.commits", "past commits kept in memory")),
    WINDOW_BYTES(Metric.gauge("understudy.gateway.window", "bytes", "memory of the past commits")),
    RESPONSES_KEPT(Metric.gauge(
            "understudy.gateway.responses.kept",
            "bytes",
            "memory of old versions that only slowly read responses and watches keep")),
    RESPONSES_ENDED(Metric.counter(
            "understudy.gateway.responses.ended",
            "slowly read responses and watches ended because old versions took too much memory")),
    VERIFY_KEYS(Metric.counter("understudy.gateway.verify.keys", "source keys compared with the replica")),
    VERIFY_DIFFERENCES(
            Metric.counter("understudy.gateway.verify.differences", "keys that differ between source and replica")
                    .by("side", "side with the wrong data: replica, source")),
    FEED_SILENCE(Metric.gauge("understudy.gateway.feed.silence", "seconds", "time since the last feed progress")),
    FEED_RESYNCS(Metric.counter("understudy.gateway.feed.resyncs", "resynchronizations by snapshot after a gap")),
    READS(Metric.counter("understudy.gateway.reads", "successful reads")
            .by("consistency", "serializable, bounded, at-least, linearizable")
            .by("origin", "origin of the data: replica, learner, gateway, voter")),
    READS_WAIT(Metric.timer(
                    "understudy.gateway.reads.wait",
                    "time that reads wait for the requested freshness, timeouts included")
            .by("consistency", "as for understudy.gateway.reads")
            .by("outcome", "met, expired")),
    READS_EVALUATION(Metric.timer(
            "understudy.gateway.reads.evaluation", "time to evaluate large reads outside the event loops")),
    READS_EVALUATION_WAITING(
            Metric.gauge("understudy.gateway.reads.evaluation.waiting", "large reads queued for evaluation")),
    READINDEX_ROUNDS(Metric.timer("understudy.gateway.readindex.rounds", "duration of read-index rounds")
            .by("outcome", "ok, failed")),
    HEARTBEATS(Metric.counter("understudy.gateway.heartbeats", "mirror heartbeats read from Kafka")
            .by("outcome", "accepted; future: rejected, further ahead than maxClockSkew")),
    PASSEDTHROUGH(Metric.gauge(
            "understudy.gateway.passedthrough",
            "bytes",
            "memory held or reserved for responses proxied from the source")),
    REQUESTS(Metric.timer("understudy.gateway.requests", "latency of unary requests")
            .by("method", "gRPC method, or unknown")
            .by("code", "gRPC status code")),
    REQUESTS_INFLIGHT(Metric.gauge("understudy.gateway.requests.inflight", "unary requests in flight")),
    REQUESTS_HELD(Metric.gauge(
            "understudy.gateway.requests.held",
            "bytes",
            "memory held for requests that arrive, wait or are forwarded; limit: 1/8 of the heap")),
    CALLS(Metric.gauge("understudy.gateway.calls", "open calls: unary requests and streams")),
    REQUESTS_REFUSED(Metric.counter(
                    "understudy.gateway.requests.refused", "requests rejected by a limit; clients may retry them")
            .by(
                    "reason",
                    "overload; in-flight limit of the loop or the connection; rate; bytes held for the connection;"
                            + " total_bytes held for all requests")),
    CONNECTIONS(Metric.gauge("understudy.gateway.connections", "open client connections")),
    CONNECTIONS_CLOSED(
            Metric.counter("understudy.gateway.connections.closed", "client connections closed by the gateway")
                    .by("reason", "connections (limit reached), abuse, protocol, stall, idle, dead")),
    LOOP_TURNS(
            Metric.timer("understudy.gateway.loop.turns", "duration of event-loop turns longer than one millisecond")),
    REST_REQUESTS(Metric.timer("understudy.gateway.rest.requests", "latency of REST requests")
            .by("route", "REST route, or none")
            .by("status", "HTTP status code")),
    REST_STREAMS(Metric.gauge("understudy.gateway.rest.streams", "open REST commit streams")),
    WATCH_STREAMS(Metric.gauge("understudy.gateway.watch.streams", "open watch streams")),
    WATCHERS(Metric.gauge("understudy.gateway.watchers", "watchers by state")
            .by(
                    "state",
                    "live: synced; behind: unsynced, catching up; slow: blocked by the client; future: not started")),
    WATCH_EVENTS(Metric.counter("understudy.gateway.watch.events", "events sent to watchers")),
    WATCH_SLOW(Metric.counter(
            "understudy.gateway.watch.slow", "times a watcher became unsynced because its client reads too slowly")),
    WATCH_COMPACTED(Metric.counter(
            "understudy.gateway.watch.compacted", "watchers cancelled because their next revision was compacted")),
    WATCH_HISTORY_COMMITS(
            Metric.counter("understudy.gateway.watch.history.commits", "commits read from the source's history")),
    WATCH_DELIVERY(Metric.timer(
            "understudy.gateway.watch.delivery",
            "time from applying a commit to writing it for synced watchers, per event loop")),
    DASHBOARD_QUESTIONS(
            Metric.timer("understudy.gateway.dashboard.questions", "latency of the dashboard's status requests")
                    .by("kind", "gateway, mirror, supervisor")
                    .by("outcome", "ok, failed")),
    FORWARD_CALLS(Metric.timer("understudy.gateway.forward.calls", "duration of forwarded calls")
            .by("method", "gRPC method")
            .by("code", "gRPC status code")),
    FORWARD_STREAMS(Metric.gauge("understudy.gateway.forward.streams", "open forwarded streams")),
    FORWARD_WATCHES(Metric.gauge("understudy.gateway.forward.watches", "open forwarded watches")),
    FORWARD_HELD(Metric.gauge(
            "understudy.gateway.forward.held",
            "calls that wait unsent, for a reachable member or a move of the primary")),
    FORWARD_ELSEWHERE(Metric.counter(
            "understudy.gateway.forward.elsewhere",
            "forwarded requests retried on another member, being unsent or rejected unprocessed")),
    TRACING_SPANS(Metric.counter("understudy.gateway.tracing.spans", "spans of sampled calls, if tracing is on")
            .by("outcome", "exported; failed: rejected by the collector or not delivered; dropped: queue full")),
    PERMISSIONS_ENFORCED(Metric.gauge(
            "understudy.gateway.permissions.enforced",
            "1 if authentication is enabled at the source, 0 if disabled; NaN if unknown")),
    PERMISSIONS_CHECKS(
            Metric.timer("understudy.gateway.permissions.checks", "latency of permission checks at the source")
                    .by("outcome", "granted, refused, unknown")),
    PERMISSIONS_ROLE_READS(Metric.timer(
                    "understudy.gateway.permissions.role.reads", "latency of user and role reads for certificate names")
            .by("outcome", "ok, failed")),
    PERMISSIONS_CACHED(Metric.gauge("understudy.gateway.permissions.cached", "cached permissions")),
    PERMISSIONS_REVOCATIONS(Metric.counter(
            "understudy.gateway.permissions.revocations",
            "watchers and commit streams ended because their permission was revoked or could not be verified"));

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
