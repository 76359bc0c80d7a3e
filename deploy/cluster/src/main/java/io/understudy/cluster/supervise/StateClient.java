package io.understudy.cluster.supervise;

import io.understudy.config.Unreadable;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A client of a running supervisor. */
public final class StateClient {

    private static final Duration CONNECT_DEADLINE = Duration.ofSeconds(2);
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final int OK = 200;

    private final URI url;
    private final HttpClient http;

    /**
     * Makes no connection yet.
     *
     * @param url the supervisor's {@code supervisor.listen}, such as {@code http://127.0.0.1:8082}
     * @param tls for {@code https}: null for the platform's trust and no certificate of our own
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public StateClient(URI url, @Nullable TlsFiles tls) {
        this.url = url;
        // Closed, it looks for new files no more; those of now are good for as long as this is used.
        try (TlsContext context = TlsContext.of(tls)) {
            this.http = context.applyTo(HttpClient.newBuilder().connectTimeout(CONNECT_DEADLINE))
                    .build();
        }
    }

    /**
     * {@code GET /state}.
     *
     * @return JSON
     * @throws IOException no response, or one of another server; the message names the address
     */
    public String state() throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(url.resolve("/state")).GET());
    }

    /** {@code POST /pause}; as {@link #state}. */
    public String pause() throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(url.resolve("/pause")).POST(HttpRequest.BodyPublishers.noBody()));
    }

    /** {@code POST /resume}; as {@link #state}. */
    public String resume() throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(url.resolve("/resume")).POST(HttpRequest.BodyPublishers.noBody()));
    }

    private String send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> answer;
        try {
            answer = http.send(request.timeout(DEADLINE).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IOException("no supervisor reachable at " + url + ": " + Unreadable.why(e), e);
        }
        if (answer.statusCode() != OK) {
            throw new IOException(answer.uri() + " returned HTTP status " + answer.statusCode() + ": "
                    + answer.body().strip());
        }
        return answer.body();
    }
}
