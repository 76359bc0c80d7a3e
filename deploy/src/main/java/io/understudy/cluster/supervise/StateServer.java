package io.understudy.cluster.supervise;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.understudy.cluster.supervise.elect.UntoldException;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.HttpServers;
import io.understudy.tls.TlsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Serves {@code GET /state} (JSON, see {@link StatePage}), {@code /metrics} (Prometheus text) and {@code /healthz} (200 while
 * the supervisor looks at the cluster, else 503); and, from this machine only, {@code POST /pause} and {@code /resume}.
 */
final class StateServer implements AutoCloseable {

    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";
    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int UNAVAILABLE = 503;

    private final @Nullable TlsServer tls;
    private final Supervisor supervisor;
    private final ProcessMetrics metrics;
    private final Duration stale;
    private final HttpServer server;
    private final ExecutorService workers;

    private StateServer(
            @Nullable TlsServer tls, Supervisor supervisor, ProcessMetrics metrics, Duration stale, HttpServer server) {
        this.tls = tls;
        this.supervisor = supervisor;
        this.metrics = metrics;
        this.stale = stale;
        this.server = server;
        this.workers = HttpServers.workers("supervisor-http");
    }

    private record Answer(int status, String type, String body) {}

    /**
     * Listens at once.
     *
     * @param tls null for plain text; closed with this object, or if it can't be made
     * @param stale a supervisor that has not looked for so long is not healthy
     * @throws IOException the address can't be listened at; the message names it
     */
    static StateServer start(
            InetSocketAddress address,
            @Nullable TlsServer tls,
            Supervisor supervisor,
            ProcessMetrics metrics,
            Duration stale)
            throws IOException {
        HttpServer server = HttpServers.bind("supervisor.listen", address, tls);
        StateServer state = new StateServer(tls, supervisor, metrics, stale, server);
        server.createContext("/", state::handle);
        server.setExecutor(state.workers);
        server.start();
        return state;
    }

    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        workers.shutdownNow();
        if (tls != null) {
            tls.close();
        }
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Answer answer = answer(exchange);
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", answer.type());
            exchange.sendResponseHeaders(answer.status(), body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private Answer answer(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        boolean posts = path.equals("/pause") || path.equals("/resume");
        String wanted = posts ? "POST" : "GET";
        if (!exchange.getRequestMethod().equals(wanted)) {
            return new Answer(METHOD_NOT_ALLOWED, TEXT, path + " takes " + wanted + "\n");
        }
        return switch (path) {
            case "/state" -> new Answer(OK, JSON, StatePage.json(supervisor.state()));
            case "/metrics" -> {
                ProcessMetrics.Scrape scrape =
                        metrics.scrape(exchange.getRequestHeaders().getFirst("Accept"));
                yield new Answer(OK, scrape.contentType(), scrape.body());
            }
            case "/healthz" -> health();
            case "/pause", "/resume" ->
                Operators.include(exchange, tls == null ? ClientCertificates.NONE : tls.clients())
                        ? switched(path)
                        : new Answer(
                                FORBIDDEN,
                                TEXT,
                                path + " is taken from this machine only, and where clients are asked for a certificate"
                                        + " from those who show one\n");
            default ->
                new Answer(NOT_FOUND, TEXT, "served are /state, /metrics and /healthz, and POST /pause and /resume\n");
        };
    }

    private Answer switched(String path) {
        try {
            if (path.equals("/pause")) {
                supervisor.pause("by hand, at " + Instant.now());
                return new Answer(OK, TEXT, "paused\n");
            }
            supervisor.resume();
            return new Answer(OK, TEXT, "resumed\n");
        } catch (UntoldException e) {
            String state = supervisor.state().paused().isPresent() ? "paused: " : "not paused: ";
            return new Answer(UNAVAILABLE, TEXT, state + e.getMessage() + "\n");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer(UNAVAILABLE, TEXT, "the supervisor is ending\n");
        }
    }

    private Answer health() {
        SupervisorState state = supervisor.state();
        boolean looks = state.lookedAt()
                .filter(at -> at.plus(stale).isAfter(Instant.now()))
                .isPresent();
        String line = state.last().map(Event::decision).map(StateServer::line).orElse("has not looked yet");
        return new Answer(looks ? OK : UNAVAILABLE, TEXT, state.standing() + "; " + line + "\n");
    }

    private static String line(Decision decision) {
        return decision.rule() + ": " + decision.observed() + "; " + decision.told();
    }
}
