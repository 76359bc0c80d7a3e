package io.understudy.mirror.status;

import com.sun.net.httpserver.HttpExchange;
import io.understudy.health.HealthPages;
import io.understudy.health.HealthPages.Answer;
import io.understudy.health.PageServer;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.revisions.CheckpointHistory.TargetUnreadableException;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.tls.TlsServer;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code GET /status} ({@link StatusPage}), {@code /translate} ({@link TranslationPage}) and {@code /metrics}.
 * Also serves {@code /livez}, {@code /readyz} and {@code /health}, see {@link HealthPages}, with a check per mirror.
 *
 * <p>Invariant M35: over TLS, the status page is served to permitted clients only.
 */
public final class StatusServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(StatusServer.class);

    private static final String TEXT = "text/plain; charset=utf-8";
    private static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int INTERNAL_ERROR = 500;
    private static final int UNAVAILABLE = 503;

    private static final String JSON = "application/json";

    /** Half of the server's threads. A translation waits while its target does not respond, other pages must not. */
    private static final int MAX_TRANSLATIONS = 16;

    private final Shown shown;
    private final PageServer server;
    private final Semaphore translations = new Semaphore(MAX_TRANSLATIONS);

    /**
     * Starts to listen.
     *
     * @param tls null for plain text; closed with this object, or on failure
     * @param shown read for each request
     * @throws IOException listening fails; the message has the address
     */
    public StatusServer(InetSocketAddress address, @Nullable TlsServer tls, Shown shown) throws IOException {
        this.shown = shown;
        this.server = PageServer.start("status.listen", address, tls, "status", this::answer);
    }

    /** Returns the listening port. */
    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
    }

    private Answer answer(HttpExchange exchange) {
        String method = exchange.getRequestMethod();
        URI uri = exchange.getRequestURI();
        Optional<Answer> health =
                StatusPage.health(reports()).answer(method, uri.getPath(), HealthPages.parameters(uri));
        return health.orElseGet(
                () -> other(method, uri, exchange.getRequestHeaders().getFirst("Accept")));
    }

    private Answer other(String method, URI uri, @Nullable String accept) {
        String path = uri.getPath();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            return new Answer(METHOD_NOT_ALLOWED, TEXT, "method " + method + " not allowed; use GET\n");
        }
        try {
            return switch (path) {
                case "/status" -> new Answer(OK, JSON, StatusPage.json(shown.mirrors()));
                case "/metrics" -> {
                    ProcessMetrics.Scrape scrape = shown.metrics(accept);
                    yield new Answer(OK, scrape.contentType(), scrape.body());
                }
                case "/translate" -> translateInTurn(HealthPages.parameters(uri));
                default ->
                    new Answer(
                            NOT_FOUND,
                            TEXT,
                            path + " not found; available: /status, /translate, /metrics, /livez, /readyz, /health\n");
            };
        } catch (RuntimeException e) {
            LOG.atWarn().addKeyValue("path", path).setCause(e).log("request failed");
            return new Answer(INTERNAL_ERROR, TEXT, e + "\n");
        }
    }

    private Answer translateInTurn(Map<String, List<String>> query) {
        if (!translations.tryAcquire()) {
            return new Answer(UNAVAILABLE, TEXT, MAX_TRANSLATIONS + " translations are in progress; retry later\n");
        }
        try {
            return translate(query);
        } finally {
            translations.release();
        }
    }

    private Answer translate(Map<String, List<String>> query) {
        String mirror = last(query, "mirror")
                .or(() -> reports().size() == 1 ? Optional.of(reports().get(0).mirror()) : Optional.empty())
                .orElse("");
        Optional<Revision> seen = last(query, "revision").flatMap(StatusServer::revision);
        if (seen.isEmpty()) {
            return new Answer(BAD_REQUEST, TEXT, "revision must be a non-negative integer\n");
        }
        Optional<RevisionMap> map = shown.revisions(mirror);
        if (map.isEmpty()) {
            return new Answer(
                    NOT_FOUND,
                    TEXT,
                    "unknown mirror \"" + mirror + "\" (--mirror); mirrors of this process with an etcd target: "
                            + reports().stream()
                                    .map(MirrorReport::mirror)
                                    .filter(name -> shown.revisions(name).isPresent())
                                    .toList()
                            + "\n");
        }
        Revision revision = seen.get();
        try {
            return new Answer(
                    OK, JSON, TranslationPage.json(mirror, revision, map.get().translate(revision)));
        } catch (TargetUnreadableException e) {
            return new Answer(UNAVAILABLE, TEXT, e.getMessage() + "\n");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer(UNAVAILABLE, TEXT, "process is shutting down\n");
        }
    }

    /** The parameter of that name; of several, the last. */
    private static Optional<String> last(Map<String, List<String>> query, String name) {
        return query.getOrDefault(name, List.of()).stream().reduce((one, next) -> next);
    }

    /** Returns a revision; empty if the text is none. */
    private static Optional<Revision> revision(String text) {
        try {
            return Optional.of(new Revision(Long.parseLong(text)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private List<MirrorReport> reports() {
        return shown.mirrors().stream().map(MirrorShown::report).toList();
    }

    /** The data that a status server reads for each request. Any thread. */
    public interface Shown {

        /** Returns the current state of each mirror. */
        List<MirrorShown> mirrors();

        /**
         * Returns all meters as text.
         *
         * @param accept the request's header of that name
         */
        ProcessMetrics.Scrape metrics(@Nullable String accept);

        /** Returns the translation of a mirror's revisions. Empty if the mirror is missing or its target has none. */
        Optional<RevisionMap> revisions(String mirror);
    }
}
