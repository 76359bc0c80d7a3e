package io.understudy.mirror.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.mirror.status.StatusPage.AuthPage;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests the status of a running mirror process. Each request has a deadline and is sent once. */
public final class StatusClient {

    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final Duration CONNECT_DEADLINE = Duration.ofSeconds(5);
    private static final int OK = 200;
    private static final JsonMapper JSON = new JsonMapper();

    private final URI url;
    private final HttpClient http;

    /**
     * A client without a connection yet.
     *
     * @param url the process' {@code status.listen}, such as {@code http://127.0.0.1:8081}
     * @param tls for {@code https}: null for the platform's trust and no certificate of our own
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public StatusClient(URI url, @Nullable TlsFiles tls) {
        this.url = url;
        // Closed, since it need not reload files: the current ones are valid for as long as this is used.
        try (TlsContext context = TlsContext.of(tls)) {
            this.http = context.applyTo(HttpClient.newBuilder().connectTimeout(CONNECT_DEADLINE))
                    .build();
        }
    }

    /**
     * {@code GET /status}.
     *
     * @return JSON
     * @throws IOException no answer, or none of a mirror process; the message names the address
     */
    public String status() throws IOException, InterruptedException {
        return get("/status");
    }

    /**
     * {@code GET /translate}.
     *
     * @param mirror null if the process has just one
     * @return JSON
     * @throws IOException as for {@link #status}; or the mirror can't translate, and the message has the cause
     */
    public String translate(@Nullable String mirror, Revision seen) throws IOException, InterruptedException {
        String which = mirror == null ? "" : "mirror=" + URLEncoder.encode(mirror, StandardCharsets.UTF_8) + "&";
        return get("/translate?" + which + "revision=" + seen);
    }

    /** Returns the mirrors in a response of {@link #status}. */
    public static List<MirrorLine> lines(String status) throws IOException {
        List<MirrorLine> lines = new ArrayList<>();
        try {
            for (JsonNode mirror : JSON.readTree(status).path("mirrors")) {
                lines.add(new MirrorLine(
                        mirror.path("name").asText(),
                        mirror.path("source").asText(),
                        mirror.path("target").asText(),
                        mirror.path("state").asText(),
                        shown(mirror.path("checkpoint").path("revision")),
                        shown(mirror.path("lagRevisions")),
                        shown(mirror.path("lagMillis")),
                        shown(mirror.path("changesPerSecond")),
                        shown(mirror.path("verification").path("differing")),
                        mirror.path("reason").asText(),
                        mirror.path("ready").asBoolean(),
                        mirror.path("takeOver").path("permitted").asBoolean(true),
                        mirror.path("takeOver").path("note").asText(""),
                        AuthPage.lines(mirror.path("auth")),
                        texts(mirror.path("warnings"))));
            }
        } catch (JsonProcessingException e) {
            throw new IOException("response is not a mirror status: " + e.getOriginalMessage(), e);
        }
        return lines;
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    private static String shown(JsonNode value) {
        return value.isMissingNode() || value.isNull() ? "-" : value.asText();
    }

    /** The JDK reports failed connections by exception types alone. */
    private static String reason(IOException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnresolvedAddressException) {
                return "unknown host";
            }
        }
        if (failure instanceof HttpConnectTimeoutException) {
            return "no connection within " + CONNECT_DEADLINE.toSeconds() + " s";
        }
        if (failure instanceof HttpTimeoutException) {
            return "no response within " + DEADLINE.toSeconds() + " s";
        }
        if (failure instanceof ConnectException) {
            return "connection refused";
        }
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }

    private String get(String path) throws IOException, InterruptedException {
        URI uri = url.resolve(path);
        HttpResponse<String> answer;
        try {
            answer = http.send(
                    HttpRequest.newBuilder(uri).timeout(DEADLINE).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IOException("mirror process at " + url + " is not reachable: " + reason(e), e);
        }
        if (answer.statusCode() != OK) {
            throw new IOException(uri + " returned HTTP status " + answer.statusCode() + ": "
                    + answer.body().strip());
        }
        return answer.body();
    }
}
