package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.understudy.local.junit.EtcdExtension;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Streams that their client leaves unread, on a connection that it reads.
 *
 * <p>Tests invariant N2.
 */
@Timeout(180)
final class SlowWatchIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final int STALLED = 20;
    private static final int PUTS = 40;
    private static final int VALUE_BYTES = 100_000;

    /** Each stream's window is of 64 KiB; the connection's has room for whatever is left unread. */
    private static final HttpClientOptions CLIENT = new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_2)
            .setHttp2ClearTextUpgrade(false)
            .setHttp2MultiplexingLimit(1000)
            .setInitialSettings(new Http2Settings().setInitialWindowSize(64 << 10))
            .setHttp2ConnectionWindowSize(64 << 20);

    /** A stream with one watcher, on which the client can stop to read. */
    private static final class Stream {
        private final HttpClientRequest request;
        private final HttpClientResponse response;
        private final List<WatchResponse> received = new CopyOnWriteArrayList<>();
        private Buffer unread = Buffer.buffer();

        Stream(HttpClient client, int port, WatchRequest create) throws Exception {
            request = client.request(HttpMethod.POST, port, "127.0.0.1", "/etcdserverpb.Watch/Watch")
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(30, TimeUnit.SECONDS);
            request.setChunked(true)
                    .putHeader("content-type", "application/grpc")
                    .putHeader("te", "trailers");
            byte[] message = create.toByteArray();
            // Before a chunk can arrive without a handler.
            var answered = request.response().onSuccess(came -> came.handler(this::read));
            var unused = request.write(Buffer.buffer()
                    .appendByte((byte) 0)
                    .appendInt(message.length)
                    .appendBytes(message));
            response = answered.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
            await().atMost(PATIENCE).until(() -> !received.isEmpty());
        }

        private void read(Buffer data) {
            unread.appendBuffer(data);
            while (unread.length() >= 5 && unread.length() >= 5 + unread.getInt(1)) {
                int end = 5 + unread.getInt(1);
                try {
                    received.add(WatchResponse.parseFrom(unread.getBytes(5, end)));
                } catch (InvalidProtocolBufferException e) {
                    throw new AssertionError(e);
                }
                unread = unread.getBuffer(end, unread.length());
            }
        }

        /** The revisions of the events read so far. */
        List<Long> revisions() {
            List<Long> revisions = new ArrayList<>();
            received.forEach(each -> each.getEventsList()
                    .forEach(event -> revisions.add(event.getKv().getModRevision())));
            return revisions;
        }
    }

    @Test
    void holdUpNoOtherAndGetAllOnceTheyAreRead() throws Exception {
        Vertx vertx = Vertx.vertx();
        // An unreferenced client closes its connections.
        HttpClient client = vertx.createHttpClient(CLIENT);
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            WatchRequest create = WatchRequests.createPrefix("slow/", more -> {});
            List<Stream> stalled = new ArrayList<>();
            for (int i = 0; i < STALLED; i++) {
                Stream stream = new Stream(client, fixture.gateway.apiPort(), create);
                stream.response.pause();
                stalled.add(stream);
            }
            Stream sibling = new Stream(client, fixture.gateway.apiPort(), create);
            long first = fixture.everything().getHeader().getRevision() + 1;
            putAll();
            List<Long> all = LongStream.range(first, first + PUTS).boxed().toList();

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(sibling.revisions()).containsExactlyElementsOf(all));
            assertThat(stalled).allSatisfy(each -> assertThat(each.revisions()).hasSizeLessThan(PUTS / 2));
            assertThat(fixture.page("/metrics").body())
                    .contains("understudy_gateway_watchers{process=\"gateway\",state=\"slow\"} " + STALLED + ".0");

            stalled.forEach(each -> each.response.resume());
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(stalled)
                    .allSatisfy(each -> assertThat(each.revisions()).containsExactlyElementsOf(all)));
        } finally {
            client.close()
                    .eventually(vertx::close)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static void putAll() {
        var member = SOURCE.cluster().members().get(0).clientUrl();
        ManagedChannel channel = GatewayFixture.channel(member.getHost(), member.getPort());
        try {
            for (int i = 0; i < PUTS; i++) {
                long unused =
                        WatchIT.put("slow/" + i % 3, "v".repeat(VALUE_BYTES)).applyAsLong(GatewayFixture.kv(channel));
            }
        } finally {
            channel.shutdownNow();
        }
    }
}
