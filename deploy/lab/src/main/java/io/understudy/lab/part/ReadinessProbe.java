package io.understudy.lab.part;

import io.understudy.local.process.ServerProcess;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Waits until a process reports over HTTP that it is ready. */
final class ReadinessProbe {

    /**
     * A dozen processes start at once, perhaps on two busy cores. A process that has ended is noticed without waiting.
     */
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final Duration REQUEST = Duration.ofSeconds(2);
    private static final long PAUSE_MILLIS = 50;
    private static final int SHOWN = 60;

    private final HttpClient http;

    /** @param tls of the client; null for plain text */
    ReadinessProbe(@Nullable TlsFiles tls) {
        // Closed, it looks for new files no more; those of now are good for as long as this is used.
        try (TlsContext context = TlsContext.of(tls)) {
            this.http = context.applyTo(HttpClient.newBuilder()
                            .version(HttpClient.Version.HTTP_1_1)
                            .connectTimeout(REQUEST))
                    .build();
        }
    }

    /**
     * @param address answers with status 200 when ready
     * @param detail receives its answers until then
     */
    void await(Child child, URI address, Consumer<String> detail) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        HttpRequest request = HttpRequest.newBuilder(address).timeout(REQUEST).build();
        String previous = "";
        while (System.nanoTime() < end) {
            ServerProcess process = child.process().get();
            if (!process.isAlive()) {
                throw child.failure("exited during startup with status "
                        + process.exitStatus().orElse(-1));
            }
            try {
                HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
                if (answer.statusCode() == 200) {
                    return;
                }
                String detailLine = firstLine(answer.body());
                if (!detailLine.equals(previous)) {
                    previous = detailLine;
                    detail.accept(detailLine);
                }
            } catch (IOException e) {
                // Not listening yet.
                previous = "";
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
        throw child.failure("is not ready after " + PATIENCE.toSeconds() + " s according to " + address
                + (previous.isEmpty() ? "" : ": '" + previous + "'"));
    }

    private static String firstLine(String body) {
        String line = body.lines().findFirst().orElse("").strip();
        return line.length() <= SHOWN ? line : line.substring(0, SHOWN);
    }
}
