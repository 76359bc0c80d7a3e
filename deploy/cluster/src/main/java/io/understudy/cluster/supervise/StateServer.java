package io.understudy.cluster.supervise;

import com.sun.net.httpserver.HttpExchange;
import io.understudy.cluster.supervise.elect.PauseNotAcknowledgedException;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.health.HealthCheck;
import io.understudy.health.HealthChecks;
import io.understudy.health.HealthPages;
import io.understudy.health.HealthPages.Answer;
import io.understudy.health.PageServer;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.TlsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Serves the state, metrics, health pages and pauses of a supervisor over HTTP. Paths: {@code GET /state} (JSON, see
 * {@link StatePage}), {@code /metrics} (as text), {@code /livez}, {@code /readyz} and {@code /health} (see {@link
 * HealthPages}); and, from this machine only, {@code POST /pause} and {@code /resume}.
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
    private final HealthPages health;
    private final PageServer server;

    /**
     * Listens at once.
     *
     * @param tls null for plain text; closed with this object, or if it can't be made
     * @param stale a supervisor that has not looked for so long is not healthy
     * @throws IOException the address can't be listened at; the message names it
     */
    StateServer(
            InetSocketAddress address,
            @Nullable TlsServer tls,
            Supervisor supervisor,
            ProcessMetrics metrics,
            Duration stale)
            throws IOException {
        this.tls = tls;
        this.supervisor = supervisor;
        this.metrics = metrics;
        this.health = health(supervisor, stale);
        this.server = PageServer.start("supervisor.listen", address, tls, "supervisor-http", this::answer);
    }

    int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
    }

    private Answer answer(HttpExchange exchange) {
        URI uri = exchange.getRequestURI();
        Optional<Answer> page = health.answer(exchange.getRequestMethod(), uri.getPath(), HealthPages.parameters(uri));
        return page.orElseGet(() -> other(exchange));
    }

    private Answer other(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        boolean posts = path.equals("/pause") || path.equals("/resume");
        String wanted = posts ? "POST" : "GET";
        if (!exchange.getRequestMethod().equals(wanted)) {
            return new Answer(METHOD_NOT_ALLOWED, TEXT, path + " allows only " + wanted + "\n");
        }
        return switch (path) {
            case "/state" -> new Answer(OK, JSON, StatePage.json(supervisor.state()));
            case "/metrics" -> {
                ProcessMetrics.Scrape scrape =
                        metrics.scrape(exchange.getRequestHeaders().getFirst("Accept"));
                yield new Answer(OK, scrape.contentType(), scrape.body());
            }
            case "/pause", "/resume" ->
                Operators.include(exchange, tls == null ? ClientCertificates.NONE : tls.clients())
                        ? switched(path)
                        : new Answer(
                                FORBIDDEN,
                                TEXT,
                                path
                                        + " is accepted only from this machine and, if client certificates are required, only"
                                        + " with a valid certificate\n");
            default ->
                new Answer(
                        NOT_FOUND,
                        TEXT,
                        "not found; available: /state, /metrics, /livez, /readyz, /health, POST /pause, POST /resume\n");
        };
    }

    private Answer switched(String path) {
        try {
            if (path.equals("/pause")) {
                supervisor.pause("by an operator at " + Instant.now());
                return new Answer(OK, TEXT, "paused\n");
            }
            supervisor.resume();
            return new Answer(OK, TEXT, "resumed\n");
        } catch (PauseNotAcknowledgedException e) {
            String state = supervisor.state().paused().isPresent() ? "paused: " : "not paused: ";
            return new Answer(UNAVAILABLE, TEXT, state + e.getMessage() + "\n");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer(UNAVAILABLE, TEXT, "the supervisor is shutting down\n");
        }
    }

    /** Healthy while the supervisor observes the cluster; the state of cluster and election are remarks. */
    private static HealthPages health(Supervisor supervisor, Duration stale) {
        HealthCheck looks = new HealthCheck("looks", () -> late(supervisor.state(), stale));
        HealthCheck standing = new HealthCheck(
                "standing",
                Optional::empty,
                () -> Optional.of(String.valueOf(supervisor.state().standing())));
        HealthCheck cluster = new HealthCheck(
                "cluster",
                Optional::empty,
                () -> supervisor.state().last().map(Event::decision).map(StateServer::line));
        return new HealthPages(new HealthChecks(looks), new HealthChecks(looks, standing, cluster));
    }

    private static Optional<String> late(SupervisorState state, Duration stale) {
        boolean looks = state.lookedAt()
                .filter(at -> at.plus(stale).isAfter(Instant.now()))
                .isPresent();
        return looks
                ? Optional.empty()
                : Optional.of(state.lookedAt()
                        .map(at -> "has not observed the cluster since " + at)
                        .orElse("has not observed the cluster yet"));
    }

    private static String line(Decision decision) {
        return decision.rule() + ": " + decision.observed() + "; " + decision.action();
    }
}
