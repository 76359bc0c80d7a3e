package io.understudy.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * What a browser's {@code EventSource} does (HTML, section 9.2): connects again whenever it is cut off, with the last
 * event id, and dispatches what has data.
 */
final class EventSource implements AutoCloseable {

    private static final long RECONNECTION_NANOS = 100_000_000;

    /** What is dispatched. */
    record Event(String type, String id, String data) {}

    final List<Event> events = new CopyOnWriteArrayList<>();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI url;
    private final Thread thread = new Thread(this::run, "event-source");
    private final AtomicInteger connections = new AtomicInteger();
    private volatile String lastId = "";
    private volatile boolean closed;
    private volatile InputStream body = InputStream.nullInputStream();
    private String id = "";
    private String type = "";
    private StringBuilder data = new StringBuilder();

    EventSource(URI url) {
        this.url = url;
        thread.start();
    }

    /** Streams that were begun. */
    int connections() {
        return connections.get();
    }

    String lastId() {
        return lastId;
    }

    private void run() {
        while (!closed) {
            try {
                connect();
            } catch (IOException e) {
                // Reestablished below.
            } catch (InterruptedException e) {
                return;
            }
            LockSupport.parkNanos(RECONNECTION_NANOS);
        }
    }

    private void connect() throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(url).header("Accept", "text/event-stream");
        if (!lastId.isEmpty()) {
            request.header("Last-Event-ID", lastId);
        }
        HttpResponse<InputStream> response = http.send(request.build(), BodyHandlers.ofInputStream());
        if (response.statusCode() != 200
                || !response.headers().firstValue("content-type").orElse("").equals("text/event-stream")) {
            closed = true;
            events.add(new Event("failed", lastId, Integer.toString(response.statusCode())));
            return;
        }
        connections.incrementAndGet();
        id = lastId;
        type = "";
        data = new StringBuilder();
        body = response.body();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
            String line = lines.readLine();
            while (line != null && !closed) {
                line(line);
                line = lines.readLine();
            }
        }
    }

    private void line(String line) {
        if (line.isEmpty()) {
            lastId = id;
            if (!data.isEmpty()) {
                events.add(new Event(type.isEmpty() ? "message" : type, lastId, data.toString()));
            }
            type = "";
            data = new StringBuilder();
        } else if (line.startsWith("id: ")) {
            id = line.substring(4);
        } else if (line.startsWith("event: ")) {
            type = line.substring(7);
        } else if (line.startsWith("data: ")) {
            data.append(line, 6, line.length());
        } else if (!line.startsWith(":")) {
            events.add(new Event("unknown", "", line));
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            // Its reader doesn't mind interrupts.
            body.close();
            thread.join(10_000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
