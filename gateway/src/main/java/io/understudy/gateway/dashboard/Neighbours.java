package io.understudy.gateway.dashboard;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.BoundedBody;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.tls.TlsContext;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Polls the status of the other processes, with one request at a time for each. Thread-safe. */
final class Neighbours implements AutoCloseable {

    static final Duration DEADLINE = Duration.ofSeconds(1);

    /** Maximum size of a status. */
    static final int MOST_BYTES = 4 << 20;

    private static final int OK = 200;

    private final TlsContext tls;
    private final HttpClient http;
    private final MeterRegistry registry;
    private final Map<Neighbour, State> states = new LinkedHashMap<>();

    /**
     * Sends no request yet.
     *
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    Neighbours(DashboardSettings settings, MeterRegistry registry) {
        this.registry = registry;
        this.tls = TlsContext.of("dashboard", settings.tls(), registry);
        this.http = tls.applyTo(HttpClient.newBuilder())
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(DEADLINE)
                .build();
        Stream.of(
                        settings.gateways().stream().map(url -> new Neighbour(Neighbour.Kind.GATEWAY, url)),
                        settings.mirrors().stream().map(url -> new Neighbour(Neighbour.Kind.MIRROR, url)),
                        settings.supervisors().stream().map(url -> new Neighbour(Neighbour.Kind.SUPERVISOR, url)))
                .flatMap(some -> some)
                .forEach(neighbour -> states.put(neighbour, new State()));
    }

    /**
     * The last report of a process.
     *
     * @param status null before the first response
     * @param problem why the last request failed; null if it succeeded
     */
    record Report(
            Neighbour neighbour,
            @Nullable JsonObject status,
            @Nullable String problem) {}

    private static final class State {
        private final AtomicBoolean inFlight = new AtomicBoolean();
        private volatile @Nullable JsonObject status;
        private volatile @Nullable String problem = "not queried yet";
    }

    /** Returns the reports of a kind, in configured order. */
    List<Report> of(Neighbour.Kind kind) {
        return states.entrySet().stream()
                .filter(each -> each.getKey().kind() == kind)
                .map(each -> new Report(each.getKey(), each.getValue().status, each.getValue().problem))
                .toList();
    }

    /** Polls all processes that have no request in flight. */
    void poll() {
        states.forEach(this::poll);
    }

    private void poll(Neighbour neighbour, State state) {
        if (!state.inFlight.compareAndSet(false, true)) {
            return;
        }
        long began = System.nanoTime();
        CompletableFuture<HttpResponse<String>> answered = http.sendAsync(
                HttpRequest.newBuilder(neighbour.page()).timeout(DEADLINE).build(), BoundedBody.text(MOST_BYTES));
        var unused = answered.thenApply(Neighbours::status)
                // The request's own timeout ends with the headers of the response.
                .orTimeout(DEADLINE.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((status, failure) -> {
                    if (failure == null) {
                        state.status = status;
                    } else {
                        // The rest of its answer would hold the connection.
                        answered.cancel(true);
                    }
                    state.problem = failure == null ? null : problem(failure);
                    GatewayMeter.DASHBOARD_QUESTIONS
                            .timer()
                            .tags("kind", neighbour.kind().word(), "outcome", failure == null ? "ok" : "failed")
                            .register(registry)
                            .record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
                    state.inFlight.set(false);
                });
    }

    private static JsonObject status(HttpResponse<String> answer) {
        if (answer.statusCode() != OK) {
            throw new CompletionException(new IOException("HTTP " + answer.statusCode()));
        }
        try {
            return new JsonObject(answer.body());
        } catch (DecodeException e) {
            throw new CompletionException(new IOException("response is not a status document"));
        }
    }

    private static String problem(Throwable failure) {
        Throwable why =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (why instanceof TimeoutException || why instanceof HttpTimeoutException) {
            return "no response within " + DEADLINE.toMillis() + " ms";
        }
        return why.getMessage() == null ? "unreachable" : why.getMessage();
    }

    @Override
    public void close() {
        tls.close();
    }
}
