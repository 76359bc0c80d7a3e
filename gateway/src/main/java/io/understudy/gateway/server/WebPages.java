package io.understudy.gateway.server;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.health.HealthPages;
import io.understudy.metrics.ProcessMetrics;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Pages over plain HTTP, as in etcd. They are {@code /health}, {@code /livez}, {@code /readyz} with single checks
 * below, {@code /version} and {@code /metrics}.
 *
 * @param versions fields of {@code /version}; none while the source is unknown
 */
public record WebPages(HealthPages health, Supplier<Map<String, String>> versions, MetricsPage scrapes)
        implements WebHandler {

    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final Field NO_SNIFFING = new Field("x-content-type-options", "nosniff");
    private static final List<Field> ONLY_GET = List.of(new Field("allow", "GET"), NO_SNIFFING);

    @Override
    public void handle(WebRequest request) {
        switch (request.path()) {
            case "/version" -> version(request);
            case "/metrics" -> scrapes.answer(request);
            default ->
                health.answer(request.method(), request.path(), request.query())
                        .ifPresentOrElse(
                                answer -> show(request, answer),
                                () -> request.answer(
                                        404, TEXT, List.of(NO_SNIFFING), AnswerBody.of("404 page not found\n")));
        }
    }

    private static void show(WebRequest request, HealthPages.Answer answer) {
        List<Field> head = answer.head().entrySet().stream()
                .map(field -> new Field(field.getKey(), field.getValue()))
                .toList();
        request.answer(answer.status(), answer.contentType(), head, AnswerBody.of(answer.body()));
    }

    private void version(WebRequest request) {
        if (!request.method().equals("GET")) {
            request.answer(405, TEXT, ONLY_GET, AnswerBody.of(HealthPages.METHOD_NOT_ALLOWED));
            return;
        }
        Map<String, String> known = versions.get();
        if (known.isEmpty()) {
            request.answer(503, TEXT, "version of the source unknown\n");
            return;
        }
        JsonObject page = new JsonObject();
        known.forEach(page::put);
        request.answer(200, JSON, page.encode());
    }

    /**
     * The page {@code /metrics}: one scrape at a time on a worker thread.
     *
     * <p>A request keeps its place until its scrape has ended and its client has read the answer or has disconnected, so
     * that neither unread answers nor canceled requests add up.
     */
    public static final class MetricsPage {

        /** Scrapes that wait, are under way or are not yet read. */
        static final int MAX_SCRAPES = 32;

        private static final String TEXT = "text/plain; charset=utf-8";

        private final Context worker;
        private final Function<@Nullable String, ProcessMetrics.Scrape> metrics;
        private final Places places = new Places(MAX_SCRAPES);

        /** @param metrics called on a worker thread */
        public MetricsPage(Vertx vertx, Function<@Nullable String, ProcessMetrics.Scrape> metrics) {
            worker = vertx.getOrCreateContext();
            this.metrics = metrics;
        }

        /** For any method, as in etcd. */
        void answer(WebRequest request) {
            String client = request.client();
            if (!places.take(client)) {
                request.answer(429, TEXT, "understudy: too many scrapes; allowed: " + places.allowed() + "\n");
                return;
            }
            CharSequence accept = request.header(HttpHeaderNames.ACCEPT);
            String wanted = accept == null ? null : accept.toString();
            worker.executeBlocking(() -> metrics.apply(wanted), true)
                    .onComplete(scraped -> request.loop().execute(() -> {
                        if (scraped.succeeded()) {
                            request.answer(
                                    200,
                                    scraped.result().contentType(),
                                    scraped.result().body());
                        } else {
                            request.answer(500, TEXT, scraped.cause() + "\n");
                        }
                        request.whenOver(() -> places.giveBack(client));
                    }));
        }
    }
}
