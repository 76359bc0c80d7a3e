package io.understudy.gateway.server;

import io.understudy.gateway.health.HealthChecks;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What is served over plain HTTP beside gRPC, as etcd serves it: {@code /health}, {@code /livez}, {@code /readyz} and
 * single checks below them, {@code /version}, {@code /metrics}.
 *
 * @param metrics gives Prometheus' text format; asked on a worker thread
 */
public record WebPages(HealthChecks live, HealthChecks ready, String version, Supplier<String> metrics) {

    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    /** Pages for one event loop. */
    Handler<HttpServerRequest> on(Vertx vertx) {
        Router router = Router.router(vertx);
        router.get("/health").handler(this::health);
        checks(router, "/livez", live);
        checks(router, "/readyz", ready);
        router.get("/version").handler(this::version);
        router.get("/metrics").handler(context -> metrics(vertx, context));
        router.errorHandler(404, context -> end(context, 404, TEXT, "404 page not found\n"));
        router.errorHandler(405, context -> end(context, 405, TEXT, "Method Not Allowed\n"));
        return router;
    }

    private static void checks(Router router, String path, HealthChecks checks) {
        router.get(path).handler(context -> report(context, checks.run(Set.copyOf(context.queryParam("exclude")))));
        for (String name : checks.names()) {
            router.get(path + "/" + name)
                    .handler(context -> report(context, checks.run(name).orElseThrow()));
        }
    }

    private static void report(RoutingContext context, HealthChecks.Report report) {
        context.response().putHeader("x-content-type-options", "nosniff");
        if (!report.healthy()) {
            end(context, 503, TEXT, report.lines() + "\n");
        } else if (context.queryParams().contains("verbose")) {
            end(context, 200, TEXT, report.lines() + "ok\n");
        } else {
            end(context, 200, TEXT, "ok\n");
        }
    }

    private void health(RoutingContext context) {
        Optional<String> problem = ready.problem();
        String body = new JsonObject()
                .put("health", problem.isEmpty() ? "true" : "false")
                .put("reason", problem.orElse(""))
                .encode();
        end(context, problem.isEmpty() ? 200 : 503, JSON, body);
    }

    private void version(RoutingContext context) {
        end(context, 200, JSON, version);
    }

    private void metrics(Vertx vertx, RoutingContext context) {
        vertx.executeBlocking(metrics::get, false)
                .onSuccess(body -> end(context, 200, PROMETHEUS, body))
                .onFailure(context::fail);
    }

    private static void end(RoutingContext context, int status, String type, String body) {
        context.response().setStatusCode(status).putHeader("content-type", type).end(body);
    }
}
