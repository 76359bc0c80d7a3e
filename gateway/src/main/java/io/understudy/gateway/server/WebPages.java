package io.understudy.gateway.server;

import io.understudy.gateway.api.AnswerBody;
import io.understudy.health.HealthPages;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

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
}
