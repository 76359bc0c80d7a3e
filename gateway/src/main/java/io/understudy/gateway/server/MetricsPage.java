package io.understudy.gateway.server;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.understudy.metrics.ProcessMetrics;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The page {@code /metrics}: one scrape at a time on a worker thread.
 *
 * <p>A request keeps its place until its scrape has ended and its client has read the answer or has disconnected, so
 * that neither unread answers nor canceled requests add up.
 */
public final class MetricsPage {

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
        AtomicBoolean held = new AtomicBoolean(true);
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
                    request.whenOver(() -> {
                        if (held.getAndSet(false)) {
                            places.giveBack(client);
                        }
                    });
                }));
    }
}
