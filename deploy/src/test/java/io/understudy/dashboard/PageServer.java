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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The page with an overview of the test's own, for states that are hard to provoke.
 *
 * <p>Its stream repeats the current overview at each tick.
 */
final class PageServer implements AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();
    private static final long TICK_MILLIS = 200;

    private final Page page = Page.load();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final HttpServer server;
    private final int port;
    private volatile ObjectNode overview = healthy();
    private volatile @Nullable ObjectNode history;
    private volatile @Nullable Function<Received, ObjectNode> older;
    private volatile Function<Received, Commits> commits = request -> new Commits(1, "", true);
    private volatile int refusal;
    private volatile String detail = "";
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

    /** The first event of a stream. */
    void history(ObjectNode samples) {
        history = samples;
    }

    /** Answers requests for older samples; with 404 if null. */
    void older(@Nullable Function<Received, ObjectNode> samples) {
        older = samples;
    }

    /** Rejects requests for the overview with this status from now on; 0 to accept them. */
    void refuse(int status) {
        refuse(status, "as the test wants");
    }

    void refuse(int status, String why) {
        refusal = status;
        detail = why;
    }

    /** Whether streams stay open without events. */
    void quiet(boolean now) {
        quiet = now;
    }

    /** What is answered at a path with its query. */
    void answer(String target, String json) {
        answers.put(target, json);
    }

    /** Delays answers for this target until the latch is counted down. */
    CountDownLatch hold(String target) {
        CountDownLatch hold = new CountDownLatch(1);
        held.put(target, hold);
        return hold;
    }

    /** A request for a stream. */
    record Received(String target, @Nullable String lastId, long nanos) {}

    /**
     * The answer to a request for a stream of commits.
     *
     * @param heartbeatMillis that it promises; it never keeps it
     * @param text that it sends at once
     * @param ends whether it ends then, instead of sending nothing more
     */
    record Commits(long heartbeatMillis, String text, boolean ends) {}

    /** Answers requests for streams of commits. */
    void commits(Function<Received, Commits> next) {
        commits = next;
    }

    /** Requests for streams below that path, in order. */
    List<Received> received(String path) {
        return received.stream().filter(each -> each.target().startsWith(path)).toList();
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
            Function<Received, ObjectNode> older = this.older;
            if (asset.isPresent()) {
                exchange.getResponseHeaders()
                        .set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'");
                send(exchange, 200, asset.get().type(), asset.get().content());
            } else if (target.equals("/v1/overview/events")) {
                received(exchange);
                events(exchange);
            } else if (target.startsWith("/v1/overview/samples?") && older != null) {
                Received request = received(exchange);
                send(exchange, 200, "application/json", JSON.writeValueAsBytes(older.apply(request)));
            } else if (target.startsWith("/v1/watch?")) {
                commits(exchange);
            } else if (answers.containsKey(target)) {
                awaitRelease(target);
                send(exchange, 200, "application/json", utf8(Objects.requireNonNull(answers.get(target))));
            } else {
                problem(exchange, 404, "as the test wants");
            }
        }
    }

    private Received received(HttpExchange exchange) {
        Received now = new Received(
                exchange.getRequestURI().toString(),
                exchange.getRequestHeaders().getFirst("Last-Event-ID"),
                System.nanoTime());
        received.add(now);
        return now;
    }

    private void awaitRelease(String target) {
        CountDownLatch hold = held.get(target);
        try {
            if (hold != null) {
                hold.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void commits(HttpExchange exchange) throws IOException {
        Commits answer = commits.apply(received(exchange));
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.getResponseHeaders().set("Understudy-Heartbeat-Ms", Long.toString(answer.heartbeatMillis()));
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write(utf8(answer.text()));
        exchange.getResponseBody().flush();
        try {
            if (!answer.ends()) {
                ended.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void events(HttpExchange exchange) throws IOException {
        if (refusal != 0) {
            problem(exchange, refusal, detail);
            return;
        }
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        try {
            ObjectNode first = history;
            if (first != null) {
                send(out, "history", first);
            }
            do {
                if (!quiet) {
                    send(out, "overview", overview);
                }
            } while (refusal == 0 && !ended.await(TICK_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(OutputStream out, String event, ObjectNode data) throws IOException {
        out.write(utf8("event: " + event + "\nid: " + System.currentTimeMillis() + "\ndata: "
                + JSON.writeValueAsString(data) + "\n\n"));
        out.flush();
    }

    private static void problem(HttpExchange exchange, int status, String detail) throws IOException {
        send(
                exchange,
                status,
                "application/problem+json",
                utf8("{\"status\":" + status + ",\"detail\":\"" + detail + "\"}"));
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
