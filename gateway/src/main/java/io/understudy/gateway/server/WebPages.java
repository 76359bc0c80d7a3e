package io.understudy.gateway.server;

import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.health.HealthChecks;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What is served over plain HTTP beside gRPC, as etcd serves it: {@code /health}, {@code /livez}, {@code /readyz} and
 * single checks below them, {@code /version}, {@code /metrics}.
 *
 * @param version of the server; that of the cluster is the oldest whose API is served
 * @param metrics gives Prometheus' text format; asked on a worker thread
 */
public record WebPages(Vertx vertx, HealthChecks live, HealthChecks ready, String version, Supplier<String> metrics)
        implements WebHandler {

    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
    private static final List<Field> NO_SNIFFING = List.of(new Field("x-content-type-options", "nosniff"));

    @Override
    public void handle(WebRequest request) {
        String path = request.path();
        Page page =
                switch (path) {
                    case "/health" -> this::health;
                    case "/version" -> this::version;
                    case "/metrics" -> this::metrics;
                    default ->
                        checks(path, "/livez", live)
                                .or(() -> checks(path, "/readyz", ready))
                                .orElse(null);
                };
        if (page == null) {
            request.answer(404, TEXT, "404 page not found\n");
        } else if (!request.method().equals("GET")) {
            request.answer(405, TEXT, "Method Not Allowed\n");
        } else {
            page.show(request);
        }
    }

    private interface Page {
        void show(WebRequest request);
    }

    private static Optional<Page> checks(String path, String root, HealthChecks checks) {
        if (path.equals(root)) {
            return Optional.of(request ->
                    report(request, checks.run(Set.copyOf(request.query().getOrDefault("exclude", List.of())))));
        }
        return path.startsWith(root + "/")
                ? checks.run(path.substring(root.length() + 1)).map(report -> request -> report(request, report))
                : Optional.empty();
    }

    private static void report(WebRequest request, HealthChecks.Report report) {
        int status = report.healthy() ? 200 : 503;
        String body = !report.healthy()
                ? report.lines() + "\n"
                : request.query().containsKey("verbose") ? report.lines() + "ok\n" : "ok\n";
        request.answer(status, TEXT, NO_SNIFFING, AnswerBody.of(body));
    }

    private void version(WebRequest request) {
        request.answer(
                200,
                JSON,
                new JsonObject()
                        .put("etcdserver", version)
                        .put("etcdcluster", "3.5.0")
                        .encode());
    }

    private void health(WebRequest request) {
        Optional<String> problem = ready.problem();
        String body = new JsonObject()
                .put("health", problem.isEmpty() ? "true" : "false")
                .put("reason", problem.orElse(""))
                .encode();
        request.answer(problem.isEmpty() ? 200 : 503, JSON, body);
    }

    private void metrics(WebRequest request) {
        vertx.executeBlocking(metrics::get, false)
                .onSuccess(body -> request.answer(200, PROMETHEUS, body))
                .onFailure(failure -> request.answer(500, TEXT, failure + "\n"));
    }
}
