package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.page.Page;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.rest.Query.Manner;
import io.understudy.gateway.server.LoopLoad;
import io.understudy.vocabulary.KeyRange;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The routes. For any event loop. */
final class RestApi {

    private static final String OPENAPI = "/openapi.json";
    private static final String STATUS = "/v1/status";
    private static final String KEYS = "/v1/kv";
    private static final String KEY = "/v1/kv/{key}";
    private static final String WATCH = "/v1/watch";
    private static final String OVERVIEW = "/v1/overview";
    private static final String OVERVIEWS = "/v1/overview/events";
    private static final String PAGE = "/dashboard";
    private static final String NO_ROUTE = "none";

    /** All that is served, as the OpenAPI document names it. */
    static final Set<String> ROUTES = Set.of(OPENAPI, STATUS, KEYS, KEY, WATCH, OVERVIEW, OVERVIEWS);

    private static final Set<String> FIXED = Set.of(OPENAPI, STATUS, KEYS, WATCH, OVERVIEW, OVERVIEWS);
    private static final Set<String> STREAMS = Set.of(WATCH, OVERVIEWS);

    /** A browser sends it when it connects again. */
    private static final String LAST_EVENT_ID = "Last-Event-ID";

    private static final long STANDARD_PAGE = 100;
    private static final long LARGEST_PAGE = 1_000;

    private static final Set<String> KEY_PARAMETERS = Query.OF_READS;
    private static final Set<String> LIST_PARAMETERS = with(Query.OF_READS, "prefix", "limit", "cursor");

    private final Reads reads;
    private final ReadPermissions permissions;
    private final Logins logins;
    private final StatusReport report;
    private final @Nullable Dashboard dashboard;
    private final RestListener listener;
    private final Buffer openApi = resource("openapi.json");
    private final Page page;

    /** @param dashboard null if there is none */
    RestApi(
            Reads reads,
            ReadPermissions permissions,
            Logins logins,
            StatusReport report,
            @Nullable Dashboard dashboard,
            Page page,
            RestListener listener) {
        this.reads = reads;
        this.permissions = permissions;
        this.logins = logins;
        this.report = report;
        this.dashboard = dashboard;
        this.page = page;
        this.listener = listener;
    }

    /** Answers a request that came on the connection of {@code session}; on its event loop. */
    void handle(HttpServerRequest request, Session session, Streams streams, LoopLoad load) {
        String path = request.path();
        String route = route(path);
        RestExchange exchange =
                new RestExchange(request, route, load.admission(() -> client(request, session)), listener);
        if (exchange.enter(STREAMS.contains(route))) {
            serve(exchange, path, session, streams);
        }
    }

    private String route(String path) {
        if (FIXED.contains(path)) {
            return path;
        }
        if (path.startsWith(KEYS + "/") && path.length() > KEYS.length() + 1) {
            return KEY;
        }
        return page.at(path).isPresent() ? PAGE : NO_ROUTE;
    }

    /** As at the API's port. */
    private static String client(HttpServerRequest request, Session session) {
        return LoopLoad.client(session.peer(), request.connection().remoteAddress());
    }

    private void identified(RestExchange exchange, Session session, Identified then) {
        String authorization = exchange.request().getHeader("Authorization");
        Principal otherwise = session.peer();
        logins.who(authorization, otherwise)
                .onSuccess(who -> {
                    exchange.onInvalidToken(() -> {
                        if (logins.forget(authorization)) {
                            logins.who(authorization, otherwise)
                                    .onSuccess(anew -> guarded(exchange, then, anew))
                                    .onFailure(exchange::fail);
                            return true;
                        }
                        return false;
                    });
                    guarded(exchange, then, who);
                })
                .onFailure(exchange::fail);
    }

    @FunctionalInterface
    private interface Identified {
        void serve(Principal who) throws Problem;
    }

    private static void guarded(RestExchange exchange, Identified then, Principal who) {
        try {
            then.serve(who);
        } catch (Problem e) {
            exchange.refuse(e);
        } catch (RuntimeException e) {
            exchange.fail(e);
        }
    }

    /** Those of one event loop; nobody watches a dashboard if there is none. */
    record Streams(CommitStreams commits, @Nullable OverviewStreams overviews) {

        /** Ends all, and begins no more. For any thread. */
        void close() {
            commits.close();
            if (overviews != null) {
                overviews.close();
            }
        }
    }

    private void serve(RestExchange exchange, String path, Session session, Streams streams) {
        HttpServerRequest request = exchange.request();
        String route = exchange.route();
        try {
            if (route.equals(NO_ROUTE)) {
                throw Problem.notFound("there is nothing at '" + path + "'; " + OPENAPI + " says what there is");
            }
            String method = request.method().name();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                throw Problem.methodNotAllowed(method);
            }
            switch (route) {
                case OPENAPI -> {
                    Query unused = Query.parse(request.query(), Set.of());
                    exchange.answer(openApi);
                }
                case PAGE -> exchange.answer(page.at(path).orElseThrow());
                case STATUS -> status(exchange, session);
                case KEYS -> list(exchange, session);
                case WATCH -> {
                    StreamQuery query = StreamQuery.of(request);
                    identified(exchange, session, who -> streams.commits()
                            .open(exchange, caller(exchange, who, session, Freshness.ANY), query));
                }
                case OVERVIEW -> overview(exchange, session);
                case OVERVIEWS -> overviews(exchange, session, streams.overviews());
                default -> key(exchange, session, Percent.decode(path.substring(KEYS.length() + 1), false));
            }
        } catch (Problem e) {
            exchange.refuse(e);
        } catch (RuntimeException e) {
            exchange.fail(e);
        }
    }

    private void key(RestExchange exchange, Session session, ByteString key) throws Problem {
        Query query = Query.parse(exchange.request().query(), KEY_PARAMETERS);
        Manner manner = query.manner();
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(key)
                .setRevision(query.revision())
                .setSerializable(manner.serializable())
                .build();
        identified(exchange, session, who -> reads.range(caller(exchange, who, session, manner.freshness()), request)
                .onSuccess(answer -> found(exchange, key, answer))
                .onFailure(exchange::fail));
    }

    private static void found(RestExchange exchange, ByteString key, Answer<RangeResult> answer) {
        exchange.tell(answer);
        if (answer.result().entries().size() == 0) {
            exchange.refuse(Problem.notFound("there is no key '" + key.toStringUtf8() + "' at this revision"));
            return;
        }
        Entry entry = answer.result().entries().iterator().next();
        // A key that was changed, even to what it was, has another revision.
        if (exchange.isKnown("\"" + entry.modRevision() + "\"")) {
            exchange.notModified();
        } else {
            JsonBytes out = new JsonBytes(JsonForm.GRPC_GATEWAY_2);
            KeyJson.write(out, entry);
            exchange.answer(Buffer.buffer(out.toByteArray()));
        }
    }

    private void list(RestExchange exchange, Session session) throws Problem {
        Query query = Query.parse(exchange.request().query(), LIST_PARAMETERS);
        long limit = query.number("limit", STANDARD_PAGE, 1, LARGEST_PAGE);
        Optional<Cursor> cursor = query.has("cursor")
                ? Optional.of(Cursor.decode(query.bytes("cursor").toStringUtf8()))
                : Optional.empty();
        Manner manner = query.manner();
        if (cursor.isPresent()) {
            if (query.has("prefix")
                    && !query.bytes("prefix").equals(cursor.get().prefix())) {
                throw Problem.badRequest("'cursor' is of a listing with another prefix");
            }
            if (Query.OF_READS.stream().anyMatch(query::has)) {
                throw Problem.badRequest("with 'cursor' the revision is that of the first page; leave out "
                        + String.join(", ", Query.OF_READS.stream().sorted().toList()));
            }
            // What was answered once is there, or comes soon.
            manner = new Manner(true, new Freshness(null, cursor.get().revision()));
        }
        ByteString prefix = cursor.map(Cursor::prefix).orElse(query.bytes("prefix"));
        KeyRange range = KeyRange.prefix(prefix);
        long revision = cursor.isPresent() ? cursor.get().revision() : query.revision();
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(cursor.map(Cursor::from).orElse(range.etcdKey()))
                .setRangeEnd(range.etcdRangeEnd())
                .setLimit(limit)
                .setRevision(revision)
                .setSerializable(manner.serializable())
                .build();
        Freshness freshness = manner.freshness();
        identified(exchange, session, who -> reads.range(caller(exchange, who, session, freshness), request)
                .onSuccess(answer -> {
                    exchange.tell(answer);
                    long pinned = revision > 0 ? revision : answer.revision();
                    exchange.answer(new PageJson(
                            answer.result(),
                            cursor.orElse(new Cursor(pinned, answer.result().count(), prefix, ByteString.EMPTY))));
                })
                .onFailure(exchange::fail));
    }

    /** How it is, for everybody; what it holds, for those whom etcd would tell its own status. */
    private void status(RestExchange exchange, Session session) throws Problem {
        Query unused = Query.parse(exchange.request().query(), Set.of());
        Optional<String> problem = report.ready().problem();
        JsonObject status = new JsonObject()
                .put("name", report.name())
                .put("version", report.version())
                .put("member_id", report.memberId())
                .put("source", report.source())
                .put("ready", problem.isEmpty());
        problem.ifPresent(why -> status.put("problem", why));
        identified(exchange, session, who -> permissions
                .check(who, Permission.Standing.ROOT)
                .onSuccess(permitted -> exchange.answer(withHeld(status).toBuffer()))
                .onFailure(refused -> exchange.answer(status.toBuffer())));
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

    /** For those whom etcd would tell its own status: it says what is held, and who else is there. */
    private void overview(RestExchange exchange, Session session) throws Problem {
        Query unused = Query.parse(exchange.request().query(), Set.of());
        Dashboard shown = shown();
        identified(exchange, session, who -> permissions
                .check(who, Permission.Standing.ROOT)
                .onSuccess(permitted -> {
                    Dashboard.Moment latest = shown.latest();
                    if (latest == null) {
                        exchange.refuse(new Problem(503, Status.Code.UNAVAILABLE, "understudy: nothing was seen yet"));
                    } else {
                        exchange.request().response().putHeader("Cache-Control", "no-store");
                        exchange.answer(latest.overview());
                    }
                })
                .onFailure(exchange::fail));
    }

    private void overviews(RestExchange exchange, Session session, @Nullable OverviewStreams streams) throws Problem {
        Query unused = Query.parse(exchange.request().query(), Set.of());
        if (streams == null) {
            throw noDashboard();
        }
        String last = exchange.request().getHeader(LAST_EVENT_ID);
        long after = last == null ? 0 : Query.number(LAST_EVENT_ID, last, 0, Long.MAX_VALUE);
        identified(exchange, session, who -> permissions
                .check(who, Permission.Standing.ROOT)
                .onSuccess(permitted -> streams.open(exchange, who, after))
                .onFailure(exchange::fail));
    }

    private Dashboard shown() throws Problem {
        if (dashboard == null) {
            throw noDashboard();
        }
        return dashboard;
    }

    private static Problem noDashboard() {
        return Problem.notFound("there is no dashboard here: dashboard.enabled is false");
    }

    private static Caller caller(RestExchange exchange, Principal who, Session session, Freshness freshness) {
        return new Caller(who, session, freshness, Caller.NO_DEADLINE, exchange::over, exchange::whenOver);
    }

    private static Set<String> with(Set<String> some, String... more) {
        Set<String> all = new HashSet<>(some);
        all.addAll(Set.of(more));
        return Set.copyOf(all);
    }

    private static Buffer resource(String name) {
        try (InputStream in = RestApi.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing in this build");
            }
            return Buffer.buffer(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
