package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.util.concurrent.EventExecutor;
import io.understudy.config.Binder;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.page.Page;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.rest.Logins.Identification;
import io.understudy.gateway.rest.Query.Percent;
import io.understudy.gateway.server.Field;
import io.understudy.gateway.server.Places;
import io.understudy.gateway.server.RequestListener;
import io.understudy.gateway.server.ServerLimits;
import io.understudy.gateway.server.WebHandler.WebCalls;
import io.understudy.gateway.server.WebRequest;
import io.understudy.gateway.trace.CallTrace;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The routes of the REST port. Thread-safe.
 *
 * <p>Invariant H1: every operation of the OpenAPI document is served as documented, and all pages of a listing have one
 * revision.
 */
public final class RestApi implements WebCalls {

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

    /** Routes of which the calls are traced. */
    public static final Set<String> READS = Set.of(KEYS, KEY, TREE);

    private static final Set<String> FIXED = Set.of(OPENAPI, STATUS, KEYS, TREE, WATCH, OVERVIEW, OVERVIEWS, SAMPLES);
    private static final Set<String> STREAMS = Set.of(WATCH, OVERVIEWS);

    /** Maximum size of path and query; longer keys need another interface. */
    private static final int MAX_TARGET_CHARACTERS = 16 << 10;

    /** By default; browsers keep connections for later. */
    private static final Duration IDLE = Duration.ofMinutes(5);

    private final ReadPermissions permissions;
    private final StreamSource source;
    private final @Nullable Dashboard dashboard;
    private final Identification identification;
    private final KeyReads keys;
    private final TreeReads tree;
    private final OperatorPages operators;
    private final Map<String, RequestListener.Outcomes> outcomes;
    private final AnswerBody openApi = AnswerBody.of(resource("openapi.json"));
    private final Page page;
    private final Map<EventExecutor, Streams> streams = new ConcurrentHashMap<>();
    private volatile boolean closing;

    /**
     * @param permissions decide on access to the full status and the dashboard
     * @param authenticate calls {@code Auth.Authenticate} without a caller identity
     * @param dashboard null if there is none
     * @param listener receives statuses as codes, by route: those of the OpenAPI document, {@code /dashboard} for the
     *     page, and {@code none}
     */
    public RestApi(
            Reads reads,
            ReadPermissions permissions,
            Function<byte[], Future<byte[]>> authenticate,
            StreamSource source,
            StatusReport report,
            @Nullable Dashboard dashboard,
            RequestListener listener) {
        this.permissions = permissions;
        this.source = source;
        this.dashboard = dashboard;
        this.identification = new Identification(new Logins(authenticate));
        this.keys = new KeyReads(reads, identification);
        this.tree = new TreeReads(reads, identification);
        this.operators = new OperatorPages(
                permissions, report, dashboard, identification, new Places(OperatorPages.MAX_SAMPLES));
        this.page = dashboard == null ? Page.none() : Page.load();
        this.outcomes = Stream.concat(ROUTES.stream(), Stream.of(PAGE, NO_ROUTE))
                .collect(Collectors.toMap(Function.identity(), listener::of));
    }

    /** Returns the limits of the port: those of the API, but idle connections are closed. */
    public static ServerLimits limits(ServerLimits api) {
        return api.timeouts().idleTimeout() != null
                ? api
                : Binder.with(api, Binder.with(api.timeouts(), "idleTimeout", IDLE));
    }

    /** The number of open streams of commits. Thread-safe. */
    public int streams() {
        return streams.values().stream().mapToInt(each -> each.commits().size()).sum();
    }

    /** Ends all streams and starts no more. Thread-safe. */
    public void close() {
        closing = true;
        streams.values().forEach(Streams::close);
    }

    /** The streams of one event loop; without a dashboard, no overviews. */
    private record Streams(CommitStreams commits, @Nullable OverviewStreams overviews) {

        void close() {
            commits.close();
            if (overviews != null) {
                overviews.close();
            }
        }
    }

    private Streams streams(EventExecutor loop) {
        Streams here = streams.computeIfAbsent(
                loop,
                absent -> new Streams(
                        new CommitStreams(loop, source),
                        dashboard == null ? null : new OverviewStreams(dashboard, permissions)));
        if (closing) {
            here.close();
        }
        return here;
    }

    @Override
    public boolean serve(String path) {
        return true;
    }

    /** No page of another origin may call. */
    @Override
    public List<Field> fields() {
        return List.of();
    }

    /** Keys are any bytes. */
    @Override
    public boolean rawPaths() {
        return true;
    }

    @Override
    public boolean lasts(WebRequest request) {
        return STREAMS.contains(route(request.path()));
    }

    @Override
    public boolean streamsRequests(String path) {
        return false;
    }

    @Override
    public void refuse(WebRequest request, ApiException why) {
        exchange(request).fail(why);
    }

    @Override
    public void refuseTooLarge(WebRequest request, long most) {
        exchange(request)
                .refuse(new ProblemDetails(
                        413, Status.Code.RESOURCE_EXHAUSTED, "request body larger than " + most + " bytes"));
    }

    @Override
    public void handle(WebRequest request) {
        RestExchange exchange = exchange(request);
        try {
            serve(exchange, request.method(), request.path());
        } catch (ProblemDetails e) {
            exchange.refuse(e);
        } catch (RuntimeException e) {
            exchange.fail(e);
        }
    }

    private RestExchange exchange(WebRequest request) {
        String route = route(request.path());
        RequestListener.Outcomes listener = Objects.requireNonNull(outcomes.get(route));
        boolean traced = request.method().equals("GET") && !STREAMS.contains(route);
        return new RestExchange(request, route, listener, traced ? listener.begins(request) : CallTrace.NONE);
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

    private void serve(RestExchange exchange, String method, String path) throws ProblemDetails {
        String query = exchange.request().rawQuery();
        if (path.length() + (query == null ? 0 : query.length()) > MAX_TARGET_CHARACTERS) {
            throw new ProblemDetails(
                    414,
                    Status.Code.INVALID_ARGUMENT,
                    "request target exceeds " + MAX_TARGET_CHARACTERS + " bytes; use the etcd API for longer keys");
        }
        String route = route(path);
        if (route.equals(NO_ROUTE)) {
            throw ProblemDetails.notFound("no route '" + path + "'; see " + OPENAPI);
        }
        if (!method.equals("GET") && !method.equals("HEAD")) {
            throw ProblemDetails.methodNotAllowed(method);
        }
        switch (route) {
            case OPENAPI -> {
                Query unused = Query.parse(query, Set.of());
                exchange.answer(openApi);
            }
            case PAGE -> exchange.answer(page.at(path).orElseThrow());
            case STATUS -> operators.status(exchange);
            case KEYS -> keys.list(exchange);
            case TREE -> tree.list(exchange);
            case WATCH -> {
                StreamQuery watched = StreamQuery.of(exchange);
                CommitStreams commits = streams(exchange.request().eventLoop()).commits();
                identification.then(
                        exchange,
                        principal -> commits.open(exchange, exchange.caller(principal, Freshness.ANY), watched));
            }
            case OVERVIEW -> operators.overview(exchange);
            case SAMPLES -> operators.samples(exchange);
            case OVERVIEWS ->
                operators.overviews(
                        exchange, streams(exchange.request().eventLoop()).overviews());
            default -> keys.one(exchange, Percent.decode(path.substring(KEYS.length() + 1), false));
        }
    }

    private static byte[] resource(String name) {
        try (InputStream in = RestApi.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is missing from this build");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
