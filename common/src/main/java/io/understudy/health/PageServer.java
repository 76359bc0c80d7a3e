package io.understudy.health;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.understudy.tls.TlsServer;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/** Serves the pages of a process that is no gateway: status, metrics and health. */
public final class PageServer implements AutoCloseable {

    private static final String MAX_EXCHANGE_SECONDS = "10";

    /** A client that shakes hands slowly holds one of them. */
    private static final int MOST_THREADS = 32;

    private static final long IDLE_SECONDS = 10;

    private final HttpServer server;
    private final ExecutorService workers;
    private final @Nullable TlsServer tls;

    private PageServer(HttpServer server, String threads, @Nullable TlsServer tls) {
        this.server = server;
        // As many as are busy; connections beyond the bound are closed.
        this.workers = new ThreadPoolExecutor(
                0,
                MOST_THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                DaemonThreads.named(threads));
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
        PageServer started = new PageServer(bind(setting, address, tls), threads, tls);
        started.server.createContext("/", exchange -> send(exchange, pages));
        started.server.setExecutor(started.workers);
        started.server.start();
        return started;
    }

    /**
     * Returns a server that listens, but accepts nothing yet.
     *
     * @param setting that the address comes from
     * @param tls null for plain text; closed if the address can't be listened at
     * @throws IOException it can't; the message names it
     */
    public static HttpServer bind(String setting, InetSocketAddress address, @Nullable TlsServer tls)
            throws IOException {
        // Read once, when the JDK's server is first used; by default a client that falls silent holds its thread for
        // ever.
        System.setProperty("sun.net.httpserver.maxReqTime", MAX_EXCHANGE_SECONDS);
        System.setProperty("sun.net.httpserver.maxRspTime", MAX_EXCHANGE_SECONDS);
        try {
            return tls == null ? HttpServer.create(address, 0) : secured(HttpsServer.create(address, 0), tls);
        } catch (IOException e) {
            if (tls != null) {
                tls.close();
            }
            throw new IOException(
                    setting + ": cannot listen on " + address.getHostString() + ":" + address.getPort() + ": "
                            + e.getMessage(),
                    e);
        }
    }

    private static HttpServer secured(HttpsServer server, TlsServer tls) {
        SSLParameters accepted = tls.parameters();
        server.setHttpsConfigurator(new HttpsConfigurator(tls.platform()) {
            @Override
            public void configure(HttpsParameters connection) {
                connection.setSSLParameters(accepted);
            }
        });
        return server;
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
