package io.understudy.health;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.understudy.tls.HttpServers;
import io.understudy.tls.TlsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Serves the pages of a process that is no gateway: status, metrics and health. */
public final class PageServer implements AutoCloseable {

    private final HttpServer server;
    private final ExecutorService workers;
    private final @Nullable TlsServer tls;

    private PageServer(HttpServer server, String threads, @Nullable TlsServer tls) {
        this.server = server;
        this.workers = HttpServers.workers(threads);
        this.tls = tls;
    }

    /**
     * Starts to serve.
     *
     * @param setting that the address comes from
     * @param threads name of the threads that {@code pages} is called on
     * @param tls null for plain text; closed with this object, or if the address cannot be bound
     * @throws IOException the address cannot be bound; the message names it
     */
    public static PageServer start(
            String setting,
            InetSocketAddress address,
            @Nullable TlsServer tls,
            String threads,
            Function<HttpExchange, HealthPages.Answer> pages)
            throws IOException {
        PageServer started = new PageServer(HttpServers.bind(setting, address, tls), threads, tls);
        started.server.createContext("/", exchange -> send(exchange, pages));
        started.server.setExecutor(started.workers);
        started.server.start();
        return started;
    }

    private static void send(HttpExchange exchange, Function<HttpExchange, HealthPages.Answer> pages)
            throws IOException {
        try (exchange) {
            HealthPages.Answer answer = pages.apply(exchange);
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            answer.head().forEach(exchange.getResponseHeaders()::set);
            exchange.getResponseHeaders().set("Content-Type", answer.contentType());
            boolean head = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(answer.status(), head ? -1 : body.length);
            if (!head) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    public int port() {
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
}
