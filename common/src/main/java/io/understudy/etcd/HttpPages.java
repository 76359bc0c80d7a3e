package io.understudy.etcd;

import io.understudy.tls.TlsContext;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Fetches pages from members' client ports, with a lazily created client. Thread-safe. */
final class HttpPages {

    /** Metrics of a member have less than 1 MiB. */
    private static final int MOST_BYTES = 16 << 20;

    private final TlsContext tls;
    private final Duration connectTimeout;
    private @Nullable HttpClient made;

    HttpPages(TlsContext tls, Duration connectTimeout) {
        this.tls = tls;
        this.connectTimeout = connectTimeout;
    }

    /**
     * Fetches one.
     *
     * @param path such as {@code /metrics}
     * @return fails with an {@link java.io.IOException}, or by the deadline with a {@link
     *     java.util.concurrent.TimeoutException}
     */
    CompletableFuture<HttpResponse<String>> get(Endpoint endpoint, String path, Duration deadline) {
        HttpRequest request = HttpRequest.newBuilder(endpoint.uri().resolve(path))
                .timeout(deadline)
                .build();
        // The request's own time-out ends with the headers of the answer.
        CompletableFuture<HttpResponse<String>> exchange = http().sendAsync(request, BoundedBody.text(MOST_BYTES));
        CompletableFuture<HttpResponse<String>> answer =
                exchange.copy().orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS);
        // Only this closes the connection of a body that does not end.
        Calls.whenDone(answer, (response, failure) -> exchange.cancel(true));
        return answer;
    }

    private synchronized HttpClient http() {
        HttpClient http = made;
        if (http == null) {
            http = tls.applyTo(HttpClient.newBuilder())
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(connectTimeout)
                    .build();
            made = http;
        }
        return http;
    }
}
