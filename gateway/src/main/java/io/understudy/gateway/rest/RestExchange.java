package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.page.Asset;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.trace.CallTrace;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request until its response, on its event loop. Only the first response is sent. */
final class RestExchange {

    private static final Logger LOG = LoggerFactory.getLogger(RestExchange.class);
    private static final int PIECE_BYTES = 64 << 10;

    /** The status in metrics after the client has disconnected; as nginx has it. */
    private static final int GONE = 499;

    /** Headers of pages: only own scripts and files, no frames. */
    private static final Map<String, String> PAGE_HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
            "X-Content-Type-Options",
            "nosniff",
            "X-Frame-Options",
            "DENY",
            "Referrer-Policy",
            "no-referrer",
            "Vary",
            "Accept-Encoding");

    private static final Pattern GZIP = Pattern.compile("\\bgzip\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))");

    private final HttpServerRequest request;
    private final String route;
    private final RestListener listener;
    private final Connections.Client client;
    private boolean lasts;
    private boolean admitted;
    private final long beginNanos = System.nanoTime();
    private boolean over;
    private @Nullable BooleanSupplier again;
    private CallTrace trace = CallTrace.NONE;
    private final Context context = Objects.requireNonNull(Vertx.currentContext());
    /** Ends the count of the body that waits for the client. */
    private @Nullable Runnable kept;

    RestExchange(HttpServerRequest request, String route, Connections.Client client, RestListener listener) {
        this.request = request;
        this.route = route;
        this.client = client;
        this.listener = listener;
        // By default: revisions and permissions change.
        request.response().putHeader("Cache-Control", "no-store");
        request.response().exceptionHandler(gone -> {
            boolean unused = over(GONE);
            release();
        });
    }

    /**
     * Admits the request, or rejects it for lack of capacity.
     *
     * @param stream whether it continues after its first response, from which on it counts among the watchers
     */
    boolean enter(boolean stream) {
        if (!stream && request.method().equals(HttpMethod.GET)) {
            trace = listener.begins(route, name -> request.getHeader(name));
        }
        client.admission().reading();
        try {
            client.admission().enter(stream, System.nanoTime());
            lasts = stream;
        } catch (ApiException e) {
            fail(e);
            return false;
        }
        admitted = true;
        return true;
    }

    /** Runs {@code task} once the response was sent or the client is gone. One task, which may run twice. */
    void whenOver(Runnable task) {
        if (request.response().ended() || request.response().closed()) {
            task.run();
        } else {
            request.response().endHandler(ended -> task.run()).closeHandler(closed -> task.run());
        }
    }

    /** The matched route. */
    String route() {
        return route;
    }

    /** Sets a retry, used once if the source rejects the token. The retry returns whether it serves the request. */
    void onInvalidToken(BooleanSupplier more) {
        again = more;
    }

    /** The client's name for limits. */
    String client() {
        return client.name();
    }

    HttpServerRequest request() {
        return request;
    }

    /** Sets the response headers of a read. */
    void setHeaders(Answer<?> answer) {
        trace.answered(answer);
        request.response().putHeader("Understudy-Revision", Long.toString(answer.revision()));
        Duration staleness = answer.staleness();
        if (staleness != null) {
            request.response().putHeader("Understudy-Staleness-Ms", Long.toString(staleness.toMillis()));
        }
    }

    /** Sets the entity tag; returns whether the client has it already. */
    boolean isKnown(String tag) {
        request.response().putHeader("ETag", tag).putHeader("Cache-Control", "no-cache");
        return request.headers().getAll("If-None-Match").stream()
                .flatMap(known -> Arrays.stream(known.split(",")))
                .map(String::strip)
                .anyMatch(each -> each.equals("*") || each.equals(tag) || each.equals("W/" + tag));
    }

    void notModified() {
        if (over(304)) {
            request.response().setStatusCode(304).end();
        }
    }

    void answer(Buffer json) {
        end(200, "application/json", json);
    }

    /** Sends a file of the page, unless the client has it. */
    void answer(Asset asset) {
        PAGE_HEADERS.forEach(request.response()::putHeader);
        boolean packed = request.headers().getAll("Accept-Encoding").stream().anyMatch(GZIP.asPredicate());
        if (isKnown(packed ? asset.packedTag() : asset.tag())) {
            notModified();
        } else if (packed) {
            request.response().putHeader("Content-Encoding", "gzip");
            end(200, asset.type(), Buffer.buffer(asset.packed()));
        } else {
            end(200, asset.type(), Buffer.buffer(asset.content()));
        }
    }

    /** Writes the body at the client's pace. */
    void answer(AnswerBody body) {
        ByteBuf piece = Unpooled.buffer();
        boolean more;
        try {
            more = body.appendTo(piece, PIECE_BYTES);
        } catch (RuntimeException e) {
            piece.release();
            fail(e);
            return;
        }
        if (!more) {
            answer(BufferInternal.buffer(piece));
        } else if (over(200)) {
            HttpServerResponse response =
                    request.response().setChunked(true).putHeader("Content-Type", "application/json");
            if (request.method().equals(HttpMethod.HEAD)) {
                response.end();
            } else {
                response.write(BufferInternal.buffer(piece));
                pump(response, body, response::end);
            }
        }
    }

    /** Starts a response that its writer ends. Returns null if it is over, or only its head was requested. */
    @Nullable HttpServerResponse stream(String type) {
        if (!over(200)) {
            return null;
        }
        HttpServerResponse response = request.response()
                .setChunked(true)
                .putHeader("Content-Type", type)
                // Otherwise a buffering proxy would retain it.
                .putHeader("X-Accel-Buffering", "no");
        if (request.method().equals(HttpMethod.HEAD)) {
            response.end();
            return null;
        }
        return response;
    }

    /** Whether the source rejected the token and the request is served by the retry. */
    boolean retries(Throwable why) {
        BooleanSupplier more = again;
        again = null;
        return why instanceof ApiException refusal
                && refusal.code() == Status.Code.UNAUTHENTICATED
                && more != null
                && more.getAsBoolean();
    }

    void fail(Throwable why) {
        if (retries(why)) {
            return;
        }
        ProblemDetails problem = ProblemDetails.of(why);
        if (problem.isFault()) {
            LOG.atError().addKeyValue("route", route).setCause(why).log("request failed");
        }
        refuse(problem);
    }

    void refuse(ProblemDetails why) {
        switch (why.status()) {
            case 401 -> request.response().putHeader("WWW-Authenticate", challenge());
            case 405 -> request.response().putHeader("Allow", "GET, HEAD");
            case 429, 503 -> request.response().putHeader("Retry-After", "1");
            default -> {
                // No further header.
            }
        }
        end(why.status(), ProblemDetails.CONTENT_TYPE, Buffer.buffer(why.body()));
    }

    /** Scripts prompt for credentials themselves: Basic would open the browser's dialog before the page. */
    private String challenge() {
        return request.headers().contains("X-Requested-With")
                ? "Bearer realm=\"etcd\""
                : "Basic realm=\"etcd\", charset=\"UTF-8\"";
    }

    private void end(int status, String type, Buffer body) {
        if (over(status)) {
            HttpServerResponse response = request.response()
                    .setStatusCode(status)
                    .putHeader("Content-Type", type)
                    .putHeader("Content-Length", Integer.toString(body.length()));
            if (request.method().equals(HttpMethod.HEAD)) {
                response.end();
            } else {
                response.end(body);
            }
        }
    }

    /**
     * Writes a body at the client's pace; {@code done} is not run if that fails, or the client is gone. Ends the
     * response if clients that read slowly keep too much memory.
     */
    void pump(HttpServerResponse response, AnswerBody body, Runnable done) {
        while (!response.closed()) {
            if (response.writeQueueFull()) {
                if (kept == null) {
                    kept = body.keep(() -> context.runOnContext(now -> {
                        if (kept != null) {
                            release();
                            Future<Void> unused = response.reset();
                        }
                    }));
                }
                response.drainHandler(drained -> pump(response, body, done));
                return;
            }
            ByteBuf piece = Unpooled.buffer(PIECE_BYTES + (PIECE_BYTES >> 2));
            boolean more;
            try {
                more = body.appendTo(piece, PIECE_BYTES);
            } catch (RuntimeException e) {
                piece.release();
                LOG.atError().addKeyValue("route", route).setCause(e).log("response failed");
                release();
                // Too late for another status; a reset shows that the response is incomplete.
                Future<Void> unused = response.reset();
                return;
            }
            response.write(BufferInternal.buffer(piece));
            if (!more) {
                release();
                done.run();
                return;
            }
        }
        release();
    }

    /** Ends the count of the body that waits for the client. */
    void release() {
        if (kept != null) {
            kept.run();
            kept = null;
        }
    }

    /** Whether a response was sent, or the client is gone. */
    boolean over() {
        return over;
    }

    /** Ends the exchange; true for the first call only. */
    private boolean over(int status) {
        if (over) {
            return false;
        }
        over = true;
        if (admitted) {
            client.admission().leave(lasts);
        }
        listener.answered(route, status, Duration.ofNanos(System.nanoTime() - beginNanos));
        trace.end(status);
        return true;
    }

    Caller caller(Principal principal, Session session, Freshness freshness) {
        return new Caller(principal, session, freshness, Caller.NO_DEADLINE, this::over, this::whenOver);
    }
}
