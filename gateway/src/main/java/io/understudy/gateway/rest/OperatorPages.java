package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.rest.Logins.Identification;
import io.understudy.gateway.server.Places;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The pages for operators on this gateway and its neighbours. Thread-safe.
 *
 * <p>Invariant D1c: where the source requires authentication, only users with the role root can read the overview.
 *
 * @param dashboard null if there is none
 * @param samples places for requests of them, which the dashboard's thread encodes
 */
record OperatorPages(
        ReadPermissions permissions,
        StatusReport report,
        @Nullable Dashboard dashboard,
        Identification identification,
        Places samples) {

    /** Requests for samples that wait or are not yet read. */
    static final int MAX_SAMPLES = 32;

    /** Sent by a browser that reconnects. */
    private static final String LAST_EVENT_ID = "Last-Event-ID";

    private static final String FROM = "from";

    /** Readiness for all clients; replica contents for those that etcd permits its status. */
    void status(RestExchange exchange) throws ProblemDetails {
        Query unused = Query.parse(exchange.request().rawQuery(), Set.of());
        Optional<String> problem = report.ready().problem();
        JsonObject status = new JsonObject()
                .put("name", report.name())
                .put("version", report.version())
                .put("member_id", report.memberId())
                .put("source", report.source())
                .put("ready", problem.isEmpty());
        problem.ifPresent(why -> status.put("problem", why));
        identification.then(exchange, principal -> permissions
                .check(principal, Permission.Standing.ROOT)
                .onSuccess(permitted ->
                        exchange.answer(AnswerBody.of(withHeld(status).encode())))
                .onFailure(refused -> {
                    if (!exchange.retries(refused)) {
                        exchange.answer(AnswerBody.of(status.encode()));
                    }
                }));
    }

    private JsonObject withHeld(JsonObject status) {
        StatusReport.Held held = report.replica().get();
        status.put("cluster_id", held.clusterId())
                .put("revision", held.revision())
                .put("keys", held.keys())
                .put("bytes", held.bytes());
        Dashboard.Moment seen = dashboard == null ? null : dashboard.latest();
        if (seen != null) {
            status.put("reads_per_s", seen.readsPerSecond()).put("watchers", seen.watchers());
        }
        Duration staleness = held.staleness();
        return staleness == null ? status : status.put("staleness_ms", staleness.toMillis());
    }

    /** The overview of contents and neighbours, for clients that etcd permits its status. */
    void overview(RestExchange exchange) throws ProblemDetails {
        Query unused = Query.parse(exchange.request().rawQuery(), Set.of());
        Dashboard shown = shown();
        identification.then(exchange, principal -> permissions
                .check(principal, Permission.Standing.ROOT)
                .onSuccess(permitted -> {
                    Dashboard.Moment latest = shown.latest();
                    if (latest == null) {
                        exchange.refuse(new ProblemDetails(
                                503, Status.Code.UNAVAILABLE, "understudy: dashboard has no data yet"));
                    } else {
                        exchange.answer(new OverviewJson(latest.overview()));
                    }
                })
                .onFailure(exchange::fail));
    }

    /** The samples since a time, by the clock of this gateway. */
    void samples(RestExchange exchange) throws ProblemDetails {
        Query query = Query.parse(exchange.request().rawQuery(), Set.of(FROM));
        long from = query.number(FROM, 0, 0, Long.MAX_VALUE);
        Dashboard shown = shown();
        identification.then(exchange, principal -> permissions
                .check(principal, Permission.Standing.ROOT)
                .onSuccess(permitted -> samples(exchange, shown, from))
                .onFailure(exchange::fail));
    }

    /** A request keeps its place until its client has read the samples or has disconnected. */
    private void samples(RestExchange exchange, Dashboard shown, long from) {
        String client = exchange.request().client();
        if (!samples.take(client)) {
            exchange.refuse(new ProblemDetails(
                    429,
                    Status.Code.RESOURCE_EXHAUSTED,
                    "understudy: too many requests for samples; allowed: " + samples.allowed()));
            return;
        }
        var unused = shown.samples(from)
                .whenCompleteAsync(
                        (json, failure) -> {
                            if (failure == null) {
                                exchange.answer(AnswerBody.of(json));
                            } else {
                                exchange.fail(failure);
                            }
                            exchange.request().whenOver(() -> samples.giveBack(client));
                        },
                        exchange.request().eventLoop());
    }

    /** The overview, which all its readers share. */
    private record OverviewJson(Buffer overview) implements AnswerBody {

        @Override
        public long length() {
            return overview.length();
        }

        @Override
        public boolean appendTo(ByteBuf out, int wanted) {
            out.writeBytes(overview.getBytes());
            return false;
        }
    }

    /** The overview as a stream. */
    void overviews(RestExchange exchange, @Nullable OverviewStreams streams) throws ProblemDetails {
        Query unused = Query.parse(exchange.request().rawQuery(), Set.of());
        if (streams == null) {
            throw noDashboard();
        }
        String last = exchange.header("last-event-id");
        long after = last == null ? 0 : Query.number(LAST_EVENT_ID, last, 0, Long.MAX_VALUE);
        identification.then(exchange, principal -> permissions
                .check(principal, Permission.Standing.ROOT)
                .onSuccess(permitted -> streams.open(exchange, principal, after))
                .onFailure(exchange::fail));
    }

    private Dashboard shown() throws ProblemDetails {
        if (dashboard == null) {
            throw noDashboard();
        }
        return dashboard;
    }

    private static ProblemDetails noDashboard() {
        return ProblemDetails.notFound("dashboard is disabled; set dashboard.enabled to true");
    }
}
