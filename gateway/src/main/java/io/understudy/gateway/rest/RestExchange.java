package io.understudy.gateway.rest;

import io.netty.util.AsciiString;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.page.Asset;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.server.Field;
import io.understudy.gateway.server.RequestListener;
import io.understudy.gateway.server.WebRequest;
import io.understudy.gateway.server.WebStream;
import io.understudy.gateway.trace.CallTrace;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request until its response, on its event loop. Only the first response is sent. */
final class RestExchange {

    private static final Logger LOG = LoggerFactory.getLogger(RestExchange.class);

    /** The status in metrics after the client has disconnected; as nginx has it. */
    private static final int GONE = 499;

    /** Headers of pages: only own scripts and files, no frames. */
    private static final Map<String, String> PAGE_HEADERS = Map.of(
            "content-security-policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
            "x-content-type-options",
            "nosniff",
            "x-frame-options",
            "DENY",
            "referrer-policy",
            "no-referrer",
            "vary",
            "Accept-Encoding");

    private static final Pattern GZIP = Pattern.compile("\\bgzip\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))");

    private final WebRequest request;
    private final String route;
    private final RequestListener.Outcomes outcomes;
    private final CallTrace trace;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private boolean over;
    private Runnable gone = () -> {};
    private @Nullable BooleanSupplier again;

    RestExchange(WebRequest request, String route, RequestListener.Outcomes outcomes, CallTrace trace) {
        this.request = request;
        this.route = route;
        this.outcomes = outcomes;
        this.trace = trace;
        // By default: revisions and permissions change.
        setHeader("cache-control", "no-store");
        request.whenGone(() -> {
            boolean unused = over(GONE);
            gone.run();
        });
    }

    WebRequest request() {
        return request;
    }

    /** Runs {@code task} if the client disconnects before the end of the response. One task. */
    void whenGone(Runnable task) {
        gone = task;
    }

    /** Sets a retry, used once if the source rejects the token. The retry returns whether it serves the request. */
    void onInvalidToken(BooleanSupplier more) {
        again = more;
    }

    /** A field of the request; {@code name} is in lower case. */
    @Nullable String header(String name) {
        CharSequence value = request.header(AsciiString.of(name));
        return value == null ? null : value.toString();
    }

    List<String> headers(String name) {
        return request.headers(AsciiString.of(name));
    }

    /** Sets a header of the response; {@code name} is in lower case. */
    void setHeader(String name, String value) {
        headers.put(name, value);
    }

    /** Sets the response headers of a read. */
    void setHeaders(Answer<?> answer) {
        trace.answered(answer);
        setHeader(Answer.REVISION_KEY, Long.toString(answer.revision()));
        Duration staleness = answer.staleness();
        if (staleness != null) {
            setHeader(Answer.STALENESS_KEY, Long.toString(staleness.toMillis()));
        }
    }

    /** Sets the entity tag; returns whether the client has it already. */
    boolean isKnown(String tag) {
        setHeader("etag", tag);
        setHeader("cache-control", "no-cache");
        return headers("if-none-match").stream()
                .flatMap(known -> Arrays.stream(known.split(",")))
                .map(String::strip)
                .anyMatch(each -> each.equals("*") || each.equals(tag) || each.equals("W/" + tag));
    }

    void notModified() {
        end(304, null, AnswerBody.of(""));
    }

    /** Writes a body of JSON at the client's pace. */
    void answer(AnswerBody json) {
        end(200, "application/json", json);
    }

    /** Sends a file of the page, unless the client has it. */
    void answer(Asset asset) {
        headers.putAll(PAGE_HEADERS);
        boolean packed = headers("accept-encoding").stream().anyMatch(GZIP.asPredicate());
        if (isKnown(packed ? asset.packedTag() : asset.tag())) {
            notModified();
            return;
        }
        if (packed) {
            setHeader("content-encoding", "gzip");
        }
        end(200, asset.type(), AnswerBody.of(packed ? asset.packed() : asset.content()));
    }

    /** Starts a response that its writer ends. Returns null if it is over, or only its head was requested. */
    @Nullable WebStream stream(String type) {
        WebStream stream = over(200) ? request.stream() : null;
        if (stream == null) {
            return null;
        }
        setHeader("content-type", type);
        // Otherwise a buffering proxy would retain it.
        setHeader("x-accel-buffering", "no");
        stream.begin(200, fields());
        if (request.method().equals("HEAD")) {
            stream.end();
            return null;
        }
        return stream;
    }

    /** Whether the source rejected the token and the request is served by the retry. */
    boolean retries(Throwable why) {
        BooleanSupplier more = again;
        again = null;
        return more != null && ProblemDetails.of(why).status() == 401 && more.getAsBoolean();
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
            case 401 -> setHeader("www-authenticate", challenge());
            case 405 -> setHeader("allow", "GET, HEAD");
            case 429, 503 -> setHeader("retry-after", "1");
            default -> {
                // No further header.
            }
        }
        end(why.status(), ProblemDetails.CONTENT_TYPE, request.held(why.body().getBytes(StandardCharsets.UTF_8)));
    }

    /** Scripts prompt for credentials themselves: Basic would open the browser's dialog before the page. */
    private String challenge() {
        return header("x-requested-with") != null ? "Bearer realm=\"etcd\"" : "Basic realm=\"etcd\", charset=\"UTF-8\"";
    }

    private void end(int status, @Nullable String type, AnswerBody body) {
        if (over(status)) {
            request.answer(status, type, fields(), body);
        }
    }

    private List<Field> fields() {
        return headers.entrySet().stream()
                .map(header -> new Field(header.getKey(), header.getValue()))
                .toList();
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
        outcomes.answered(Integer.toString(status), System.nanoTime() - request.arrivedNanos());
        trace.end(status);
        return true;
    }

    Caller caller(Principal principal, Freshness freshness) {
        return caller(principal, freshness, request::whenOver);
    }

    /** As {@link #caller(Principal, Freshness)}, for a read with a result that is released before the response ends. */
    Caller caller(Principal principal, Freshness freshness, Consumer<Runnable> whenOver) {
        return new Caller(principal, request.session(), freshness, Caller.NO_DEADLINE, this::over, whenOver);
    }
}
