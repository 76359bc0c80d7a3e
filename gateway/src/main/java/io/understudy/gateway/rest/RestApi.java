package io.understudy.gateway.rest;

import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.page.Page;
import io.understudy.gateway.read.Reads;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The routes. For any event loop.
 *
 * <p>Invariant H1: every operation of the OpenAPI document is served as documented, and all pages of a listing have one
 * revision.
 */
final class RestApi {

    private static final String OPENAPI = "/openapi.json";
    private static final String STATUS = "/v1/status";
    private static final String KEYS = "/v1/kv";
    private static final String KEY = "/v1/kv/{key}";
    private static final String TREE = "/v1/tree";
    private static final String WATCH = "/v1/watch";
    private static final String OVERVIEW = "/v1/overview";
    private static final String OVERVIEWS = "/v1/overview/events";
    private static final String SAMPLES = "/v1/overview/samples";
    private static final String PAGE = "/dashboard";
    private static final String NO_ROUTE = "none";

    /** The routes in the terms of the OpenAPI document. */
    static final Set<String> ROUTES = Set.of(OPENAPI, STATUS, KEYS, KEY, TREE, WATCH, OVERVIEW, OVERVIEWS, SAMPLES);

    private static final Set<String> FIXED = Set.of(OPENAPI, STATUS, KEYS, TREE, WATCH, OVERVIEW, OVERVIEWS, SAMPLES);
    private static final Set<String> STREAMS = Set.of(WATCH, OVERVIEWS);

    private final Identification identification;
    private final KeyReads keys;
    private final TreeReads tree;
    private final OperatorPages operators;
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
        this.identification = new Identification(logins);
        this.keys = new KeyReads(reads, identification);
        this.tree = new TreeReads(reads, identification);
        this.operators = new OperatorPages(permissions, report, dashboard, identification);
        this.page = page;
        this.listener = listener;
    }

    /** Serves a request of {@code client}, on its event loop. */
    void handle(HttpServerRequest request, Connections.Client client, Streams streams) {
        String path = request.path();
        String route = route(path);
        RestExchange exchange = new RestExchange(request, route, client, listener);
        if (exchange.enter(STREAMS.contains(route))) {
            serve(exchange, path, client.session(), streams);
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

    /** The streams of one event loop; without a dashboard, no overviews. */
    record Streams(CommitStreams commits, @Nullable OverviewStreams overviews) {

        /** Ends all streams and starts no more. Thread-safe. */
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
                throw ProblemDetails.notFound("no route '" + path + "'; see " + OPENAPI);
            }
            String method = request.method().name();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                throw ProblemDetails.methodNotAllowed(method);
            }
            switch (route) {
                case OPENAPI -> {
                    Query unused = Query.parse(request.query(), Set.of());
                    exchange.answer(openApi);
                }
                case PAGE -> exchange.answer(page.at(path).orElseThrow());
                case STATUS -> operators.status(exchange, session);
                case KEYS -> keys.list(exchange, session);
                case TREE -> tree.list(exchange, session);
                case WATCH -> {
                    StreamQuery query = StreamQuery.of(request);
                    identification.then(exchange, session, principal -> streams.commits()
                            .open(exchange, exchange.caller(principal, session, Freshness.ANY), query));
                }
                case OVERVIEW -> operators.overview(exchange, session);
                case SAMPLES -> operators.samples(exchange, session);
                case OVERVIEWS -> operators.overviews(exchange, session, streams.overviews());
                default -> keys.one(exchange, session, Percent.decode(path.substring(KEYS.length() + 1), false));
            }
        } catch (ProblemDetails e) {
            exchange.refuse(e);
        } catch (RuntimeException e) {
            exchange.fail(e);
        }
    }

    private static Buffer resource(String name) {
        try (InputStream in = RestApi.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing from this build");
            }
            return Buffer.buffer(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
