package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Streams: order and back pressure in both directions, and the end of cancelled calls.
 *
 * <p>Tests invariant S3b.
 */
@Timeout(120)
final class StreamedCallsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Queue<HttpClientResponse> unread = new ConcurrentLinkedQueue<>();
    /** Held, since an unreachable client closes its connections. */
    private final List<HttpClient> clients = new ArrayList<>();

    private final CalledServer server = new CalledServer();

    @AfterEach
    void stop() throws InterruptedException {
        // A client of Vert.x, which is closed before the server is, waits for its streams to end.
        unread.forEach(response -> response.request().reset());
        server.close();
    }

    @Test
    void messagesPassInBothDirectionsInOrder() {
        Queue<Integer> lengths = new ConcurrentLinkedQueue<>();
        Promise<Status> end = Promise.promise();
        ClientCall<byte[], byte[]> call = server.channel().newCall(CalledServer.ECHO, CallOptions.DEFAULT);
        call.start(CalledServer.collecting(lengths, end), new Metadata());
        call.request(1_000);
        // The last ones are larger than a stream's window.
        int[] sizes = {0, 1, 100, 70_000, 1, 3 << 20, 3 << 20, 5};
        for (int size : sizes) {
            call.sendMessage(new byte[size]);
        }
        call.halfClose();
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.OK);
        assertThat(lengths).containsExactly(0, 1, 100, 70_000, 1, 3 << 20, 3 << 20, 5);
    }

    @Test
    void unreadResponsesPauseTheRequests() {
        Queue<Integer> lengths = new ConcurrentLinkedQueue<>();
        ClientCall<byte[], byte[]> call = server.channel().newCall(CalledServer.ECHO, CallOptions.DEFAULT);
        call.start(CalledServer.collecting(lengths, Promise.promise()), new Metadata());
        for (int i = 0; i < 1_000; i++) {
            call.sendMessage(new byte[100_000]);
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.echoed).hasPositiveValue());
        await().during(Duration.ofMillis(500)).atMost(PATIENCE).until(() -> server.echoed.get() < 200);
        call.request(1_000);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(lengths).hasSize(1_000));
        call.cancel("enough", null);
        await().atMost(PATIENCE).untilTrue(server.echoCancelled);
    }

    @Test
    void streamsWithoutAWindowReceiveDataOnceItOpens() {
        AtomicLong received = new AtomicLong();
        HttpConnection client = openPushed(5, 0, received);
        await().during(Duration.ofMillis(500)).atMost(PATIENCE).untilAsserted(() -> assertThat(server.pushes)
                .hasValue(0));
        Void unused = TestServer.get(client.updateSettings(new Http2Settings().setInitialWindowSize(1 << 20)));
        unread.forEach(HttpClientResponse::resume);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(received).hasValueGreaterThan(10L * CalledServer.PUSH_BYTES));
    }

    @Test
    void aStreamEndsAtItsDeadline() {
        Promise<Status> end = Promise.promise();
        ClientCall<byte[], byte[]> call = server.channel()
                .newCall(CalledServer.ECHO, CallOptions.DEFAULT.withDeadlineAfter(300, TimeUnit.MILLISECONDS));
        call.start(CalledServer.collecting(new ConcurrentLinkedQueue<>(), end), new Metadata());
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        await().atMost(PATIENCE).untilTrue(server.echoCancelled);
    }

    @Test
    void aFailureWhileReadingABodyEndsOnlyItsCall() {
        HttpClient client = server.vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
        clients.add(client);
        HttpClientRequest broken =
                TestServer.get(client.request(HttpMethod.POST, server.port(), "127.0.0.1", CalledServer.BROKEN_BODY));
        assertThat(TestServer.get(broken.send(Buffer.buffer("{}")).compose(HttpClientResponse::body)))
                .hasToString("understudy: java.lang.IllegalStateException: broken");
        HttpClientRequest next = TestServer.get(client.request(HttpMethod.GET, server.port(), "127.0.0.1", "/page"));
        assertThat(next.connection()).isSameAs(broken.connection());
        assertThat(TestServer.get(next.send()).statusCode()).isEqualTo(200);
    }

    /** Streams of one connection, to which is pushed whatever they take; their answers are read later. */
    private HttpConnection openPushed(int streams, int window, AtomicLong received) {
        HttpClient client = server.vertx.createHttpClient(new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false)
                .setHttp2MultiplexingLimit(1000)
                .setInitialSettings(new Http2Settings().setInitialWindowSize(window))
                .setHttp2ConnectionWindowSize(64 << 20));
        clients.add(client);
        HttpConnection connection = null;
        for (int i = 0; i < streams; i++) {
            HttpClientRequest request = TestServer.get(
                    client.request(HttpMethod.POST, server.port(), "127.0.0.1", "/" + CalledServer.PUSHES));
            connection = request.connection();
            request.setChunked(true).putHeader("content-type", "application/grpc");
            Future<HttpClientResponse> unused = request.response().onSuccess(response -> {
                response.handler(data -> received.addAndGet(data.length())).pause();
                unread.add(response);
            });
            Void unusedNothing = TestServer.get(request.write(Buffer.buffer(new byte[5])));
        }
        await().atMost(PATIENCE).until(() -> unread.size() == streams);
        return Objects.requireNonNull(connection);
    }
}
