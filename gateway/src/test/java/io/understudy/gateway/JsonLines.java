package io.understudy.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A request with a stream of lines as its answer, collected until it is closed. */
final class JsonLines implements AutoCloseable {

    private static final String PASSED = "context deadline exceeded";

    final List<String> lines = new CopyOnWriteArrayList<>();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final HttpRequest request;
    private final Thread thread = new Thread(this::run, "json-lines");
    private volatile InputStream body = InputStream.nullInputStream();
    private volatile String head = "";
    private volatile boolean ended;

    /** Removes the words of JSON parsers from errors; etcd's own name it. */
    static String withoutParserWords(String body) {
        return body.replaceAll(
                "(\"(?:error|message)\":\\s?\")(?:proto|json|invalid character|unexpected|unknown value|illegal base64)(?:[^\"\\\\]++|\\\\.)*+\"",
                "$1\"");
    }

    JsonLines(URI url, String body, String... headers) {
        HttpRequest.Builder builder = HttpRequest.newBuilder(url).POST(BodyPublishers.ofString(body));
        this.request =
                headers.length == 0 ? builder.build() : builder.headers(headers).build();
        thread.start();
    }

    /** The status and the headers of the content; empty before they have arrived. */
    String head() {
        return head;
    }

    boolean ended() {
        return ended;
    }

    private void run() {
        try {
            HttpResponse<InputStream> response = http.send(request, BodyHandlers.ofInputStream());
            body = response.body();
            head = response.statusCode()
                    + " " + response.headers().firstValue("content-type").orElse("-")
                    + " "
                    + response.headers()
                            .firstValue("grpc-metadata-content-type")
                            .orElse("-")
                    + " " + response.headers().firstValue("transfer-encoding").orElse("-");
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    // Member ids differ, and etcd's text of a passed deadline varies.
                    lines.add(line.replaceAll("\"member_id\":\"[0-9]+\"", "\"member_id\":\"\"")
                            .replace("stream terminated by RST_STREAM with error code: CANCEL", PASSED));
                }
            }
            ended = true;
        } catch (IOException e) {
            // Closed.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            body.close();
            thread.join(10_000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
