package io.understudy.cluster.run;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/**
 * Continually writes numbered keys to any voter that responds.
 *
 * <p>It tracks the acknowledged writes and the longest time without one.
 */
final class WriterBeside implements AutoCloseable {

    private static final Duration DEADLINE = Duration.ofMillis(700);

    private final List<URI> endpoints;
    private final String prefix = "beside-" + System.nanoTime() + "-";
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(DEADLINE)
            .build();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong longestNanos = new AtomicLong();
    private final Thread thread = new Thread(this::write, "writer-beside");
    private volatile boolean ends;
    private volatile long lastNanos = System.nanoTime();

    private WriterBeside(List<URI> endpoints) {
        this.endpoints = List.copyOf(endpoints);
    }

    /** Begins, and returns after the first acknowledgement. */
    static WriterBeside start(List<URI> endpoints) {
        WriterBeside writer = new WriterBeside(endpoints);
        writer.thread.setDaemon(true);
        writer.thread.start();
        Awaitility.await().until(() -> writer.acknowledged.get() > 0);
        writer.longestNanos.set(0);
        return writer;
    }

    private void write() {
        int at = 0;
        long next = 0;
        while (!ends) {
            if (put(endpoints.get(at % endpoints.size()), next)) {
                long now = System.nanoTime();
                longestNanos.accumulateAndGet(now - lastNanos, Math::max);
                lastNanos = now;
                next = acknowledged.incrementAndGet();
            } else {
                at++;
            }
        }
    }

    private boolean put(URI endpoint, long number) {
        return post(endpoint, "/v3/kv/put", "{\"key\":\"" + key(number) + "\",\"value\":\"" + key(number) + "\"}")
                .isPresent();
    }

    private Optional<String> post(URI endpoint, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(endpoint.resolve(path))
                .timeout(DEADLINE)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200 ? Optional.of(answer.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            ends = true;
            return Optional.empty();
        }
    }

    private String key(long number) {
        return Base64.getEncoder()
                .encodeToString((prefix + String.format("%08d", number)).getBytes(StandardCharsets.UTF_8));
    }

    /** Longest time without an acknowledgement until now. */
    Duration longestStall() {
        return Duration.ofNanos(Math.max(longestNanos.get(), System.nanoTime() - lastNanos));
    }

    /** Ends, and returns how many of the acknowledged writes the cluster does not have. */
    long lost() throws InterruptedException {
        ends = true;
        thread.join();
        String from = Base64.getEncoder().encodeToString(prefix.getBytes(StandardCharsets.UTF_8));
        String to = Base64.getEncoder()
                .encodeToString((prefix.substring(0, prefix.length() - 1) + ".").getBytes(StandardCharsets.UTF_8));
        String answer = Awaitility.await()
                .until(
                        () -> endpoints.stream()
                                .flatMap(endpoint -> post(
                                        endpoint,
                                        "/v3/kv/range",
                                        "{\"key\":\"" + from + "\",\"range_end\":\"" + to + "\",\"count_only\":true}")
                                        .stream())
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
        long found = Long.parseLong(
                answer.replaceAll(".*\"count\":\"(\\d+)\".*", "$1").strip());
        return Math.max(0, acknowledged.get() - found);
    }

    long acknowledged() {
        return acknowledged.get();
    }

    @Override
    public void close() {
        ends = true;
    }
}
