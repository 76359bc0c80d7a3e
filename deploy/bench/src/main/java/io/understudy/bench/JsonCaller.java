package io.understudy.bench;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** etcd's JSON mapping over HTTP/1.1, a connection for each request in flight. */
final class JsonCaller implements ServerConnections {

    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int NOT_IMPLEMENTED = 501;

    private final URI address;
    private final Map<String, String> headers;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(DEADLINE)
            .build();

    JsonCaller(URI address, Map<String, String> headers, Access access) {
        this.address = address;
        this.headers = new HashMap<>(headers);
        this.headers.putAll(access.headers(Api.JSON));
    }

    @Override
    public CompletableFuture<byte[]> call(byte[] request) {
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(address).timeout(DEADLINE).POST(HttpRequest.BodyPublishers.ofByteArray(request));
        headers.forEach(builder::header);
        return http.sendAsync(builder.build(), HttpResponse.BodyHandlers.ofByteArray())
                .thenApply(JsonCaller::body);
    }

    private static byte[] body(HttpResponse<byte[]> answer) {
        int status = answer.statusCode();
        if (status == OK) {
            return answer.body();
        }
        String description = "status " + status + ", " + new String(answer.body(), StandardCharsets.UTF_8).strip();
        throw status == NOT_FOUND || status == NOT_IMPLEMENTED
                ? new NotServedException(description)
                : new BenchException(description);
    }

    /** Its connections close by themselves, some time after the last use. */
    @Override
    public void close() {}
}
