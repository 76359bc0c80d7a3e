package io.understudy.dashboard;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.understudy.gateway.page.Asset;
import io.understudy.gateway.page.Page;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The page with an overview of the test's own: for the states that are hard to provoke. Its stream says at each tick what it
 * was last told to say.
 */
final class PageServer implements AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();
    private static final long TICK_MILLIS = 200;

    private final Page page = Page.load();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final HttpServer server;
    private final int port;
    private volatile ObjectNode overview = healthy();
    private volatile @Nullable ObjectNode history;
    private volatile int refusal;
    private volatile boolean quiet;

    private PageServer(int port) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", this::handle);
        server.setExecutor(workers);
        server.start();
        this.port = server.getAddress().getPort();
    }

    static PageServer start() {
        return start(0);
    }

    /** At a port where another one was before. */
    static PageServer start(int port) {
        try {
            return new PageServer(port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Three voters, a learner, two gateways, three mirrors and a supervisor, of which nothing is wrong. */
    static ObjectNode healthy() {
        try (InputStream in = PageServer.class.getResourceAsStream("overview.json")) {
            return (ObjectNode) JSON.readTree(Objects.requireNonNull(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return port;
    }

    String url() {
        return "http://127.0.0.1:" + port + "/";
    }

    ObjectNode overview() {
        return overview;
    }

    void show(ObjectNode next) {
        overview = next;
    }

    /** What is healthy, but for a change. */
    void show(Consumer<ObjectNode> change) {
        ObjectNode next = healthy();
        change.accept(next);
        show(next);
    }

    /** What a stream says first. */
    void history(ObjectNode samples) {
        history = samples;
    }

    /** From now on who asks for the overview is refused; 0 for not any more. */
    void refuse(int status) {
        refusal = status;
    }

    /** Whether streams stay open and say nothing. */
    void quiet(boolean now) {
        quiet = now;
    }

    /** What is answered at a path with its query. */
    void answer(String target, String json) {
        answers.put(target, json);
    }

    /** As a gateway that was killed. */
    void vanish() {
        ended.countDown();
        server.stop(0);
        workers.shutdownNow();
    }

    @Override
    public void close() {
        vanish();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String target = exchange.getRequestURI().toString();
            Optional<Asset> asset = page.at(target);
            if (asset.isPresent()) {
                exchange.getResponseHeaders()
                        .set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'");
                send(exchange, 200, asset.get().type(), asset.get().content());
            } else if (target.equals("/v1/overview/events")) {
                events(exchange);
            } else if (answers.containsKey(target)) {
                send(exchange, 200, "application/json", utf8(Objects.requireNonNull(answers.get(target))));
            } else {
                problem(exchange, 404);
            }
        }
    }

    private void events(HttpExchange exchange) throws IOException {
        if (refusal != 0) {
            problem(exchange, refusal);
            return;
        }
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        try {
            ObjectNode first = history;
            if (first != null) {
                say(out, "history", first);
            }
            do {
                if (!quiet) {
                    say(out, "overview", overview);
                }
            } while (refusal == 0 && !ended.await(TICK_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void say(OutputStream out, String event, ObjectNode data) throws IOException {
        out.write(utf8("event: " + event + "\nid: " + System.currentTimeMillis() + "\ndata: "
                + JSON.writeValueAsString(data) + "\n\n"));
        out.flush();
    }

    private static void problem(HttpExchange exchange, int status) throws IOException {
        send(
                exchange,
                status,
                "application/problem+json",
                utf8("{\"status\":" + status + ",\"detail\":\"as the test wants\"}"));
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
