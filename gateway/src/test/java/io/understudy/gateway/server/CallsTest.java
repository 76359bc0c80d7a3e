package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.netty.buffer.ByteBuf;
import io.understudy.config.HostPort;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What those who answer may rely on: callers, back pressure, and being told when nobody waits any more. */
@Timeout(120)
final class CallsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int UNREAD = 256 << 10;
    private static final int CONNECTIONS = 3;
    private static final Duration STALL = Duration.ofSeconds(3);

    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.<byte[], byte[]>newBuilder(
                    new Bytes(), new Bytes())
            .setFullMethodName("test.Test/Echo")
            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
            .build();

    private static final MethodDescriptor<byte[], byte[]> ONE_OF_MANY =
            ECHO.toBuilder().setFullMethodName("test.Test/OneOfMany").build();

    private static final MethodDescriptor<byte[], byte[]> UNARY = ECHO.toBuilder()
            .setFullMethodName(KVGrpc.getRangeMethod().getFullMethodName())
            .setType(MethodDescriptor.MethodType.UNARY)
            .build();

    private static final String PUSHES = "test.Test/Pushes";
    private static final int PUSH_BYTES = 100_000;

    private final AtomicInteger pushes = new AtomicInteger();
    private final Queue<HttpClientResponse> unread = new ConcurrentLinkedQueue<>();
    /** Held, since one that nobody holds closes its connections. */
    private final List<HttpClient> clients = new ArrayList<>();

    private final Vertx vertx = Vertx.vertx();
    private final Queue<Caller> callers = new ConcurrentLinkedQueue<>();
    private final Queue<Principal> principals = new ConcurrentLinkedQueue<>();
    private final Queue<String> ended = new ConcurrentLinkedQueue<>();
    private final AtomicLong produced = new AtomicLong();
    private final AtomicInteger echoed = new AtomicInteger();
    private final AtomicBoolean echoCancelled = new AtomicBoolean();
    private final AtomicInteger pages = new AtomicInteger();
    private volatile AnswerBody answer = AnswerBody.of(new byte[0]);
    private volatile Future<Void> before = Future.succeededFuture();
    private int port;
    private ManagedChannel channel;

    @BeforeEach
    void start() {
        ServerLimits limits = new ServerLimits(4 << 20, 64 << 10, 1_000, 1_000, UNREAD, CONNECTIONS, STALL);
        ApiServer server = new ApiServer(
                vertx,
                new HostPort("127.0.0.1", 0),
                limits,
                List.of(
                        UnaryMethod.of(KVGrpc.getRangeMethod(), RangeRequest::parseFrom, (caller, request) -> {
                            callers.add(caller);
                            return before.map(done -> new Reply(answer, List.of(new Field("told", "beside"))));
                        }),
                        new CallMethod(ECHO, this::echo),
                        new CallMethod(
                                ECHO.toBuilder().setFullMethodName(PUSHES).build(),
                                (call, metadata, caller, loop) -> new Pusher(call)),
                        new CallMethod(ONE_OF_MANY, (call, metadata, caller, loop) -> {
                            call.answer(new Reply(answer, List.of(new Field("told", "beside"))));
                            return new ServerCall.Listener<>() {};
                        })),
                method -> (code, nanos) -> ended.add(code),
                TestServer.NO_CALLS,
                request -> {
                    principals.add(request.principal());
                    if (request.path().equals("/broken")) {
                        request.loop().execute(() -> request.answer(200, "text/plain", List.of(), new Broken()));
                    } else {
                        request.answer(200, "text/plain", request.path() + " " + pages.incrementAndGet() + "\n");
                    }
                });
        port = TestServer.get(server.listen(1));
        channel = NettyChannelBuilder.forAddress("127.0.0.1", port)
                .usePlaintext()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .build();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.shutdownNow();
        assertThat(channel.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        // A client of Vert.x, which is closed before the server is, waits for its streams to end.
        unread.forEach(response -> response.request().reset());
        Void unused = TestServer.get(vertx.close());
    }

    @Test
    void callersCarryTokenSessionFreshnessAndDeadline() {
        Metadata metadata = new Metadata();
        put(metadata, "token", "secret.7");
        put(metadata, "understudy-max-staleness-ms", "250");
        put(metadata, "understudy-min-revision", "12");
        KVGrpc.KVBlockingStub stub = KVGrpc.newBlockingStub(channel);
        RangeResponse first = stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .range(RangeRequest.getDefaultInstance());
        RangeResponse second = stub.range(RangeRequest.getDefaultInstance());

        assertThat(first).isEqualTo(second);
        Caller told = callers.remove();
        Caller silent = callers.remove();
        assertThat(told.principal()).isEqualTo(new Principal.Token("secret.7"));
        assertThat(told.freshness().maxStaleness()).isEqualTo(Duration.ofMillis(250));
        assertThat(told.freshness().minRevision()).isEqualTo(12);
        assertThat(told.deadlineNanos() - System.nanoTime())
                .isBetween(1L, Duration.ofSeconds(30).toNanos());
        assertThat(silent.principal()).isEqualTo(Principal.ANONYMOUS);
        assertThat(silent.deadlineNanos()).isEqualTo(Caller.NO_DEADLINE);
        Session session = told.session();
        assertThat(silent.session()).isSameAs(session);
    }

    @Test
    void metadataThatMakesNoSenseIsRefused() {
        Metadata metadata = new Metadata();
        put(metadata, "understudy-min-revision", "soon");
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> {
                    RangeResponse unused = KVGrpc.newBlockingStub(channel)
                            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                            .range(RangeRequest.getDefaultInstance());
                })
                .satisfies(refusal -> assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT))
                .withMessageContaining("understudy-min-revision");
        assertThat(callers).isEmpty();
    }

    static List<MethodDescriptor<byte[], byte[]>> answeredByOneMessage() {
        return List.of(UNARY, ONE_OF_MANY);
    }

    @ParameterizedTest
    @MethodSource("answeredByOneMessage")
    void aClientThatDoesNotReadHoldsLittleAndGetsAllWhenItReads(MethodDescriptor<byte[], byte[]> method) {
        int size = 64 << 20;
        answer = new Zeros(size);
        ClientCall<byte[], byte[]> call = channel.newCall(method, CallOptions.DEFAULT);
        AtomicInteger received = new AtomicInteger();
        Promise<Status> end = Promise.promise();
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(byte[] message) {
                        received.set(message.length);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        end.complete(status);
                    }
                },
                new Metadata());
        call.sendMessage(new byte[0]);
        call.halfClose();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(produced).hasPositiveValue());
        await().during(Duration.ofMillis(500)).atMost(PATIENCE).until(() -> produced.get() < 16 << 20);

        call.request(2);
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.OK);
        assertThat(received).hasValue(size);
    }

    @ParameterizedTest
    @MethodSource("answeredByOneMessage")
    void anAnswerThatIsTooLongForAMessageIsRefused(MethodDescriptor<byte[], byte[]> method) {
        answer = new Zeros(3L << 30);
        Promise<Status> end = Promise.promise();
        ClientCall<byte[], byte[]> call = channel.newCall(method, CallOptions.DEFAULT);
        call.start(collecting(new ConcurrentLinkedQueue<>(), end), new Metadata());
        call.sendMessage(new byte[0]);
        call.halfClose();
        call.request(2);
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(produced).hasValue(0);
    }

    @Test
    void anAnswerThatNobodyWaitsForAnyMoreIsNotMade() {
        Promise<Void> late = Promise.promise();
        before = late.future();
        answer = new Zeros(10);
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> {
                    RangeResponse unused = KVGrpc.newBlockingStub(channel)
                            .withDeadlineAfter(300, TimeUnit.MILLISECONDS)
                            .range(RangeRequest.getDefaultInstance());
                })
                .satisfies(
                        refusal -> assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(ended).hasSize(1));
        late.complete();
        before = Future.succeededFuture();
        answer = AnswerBody.of(new byte[0]);
        RangeResponse unused = KVGrpc.newBlockingStub(channel).range(RangeRequest.getDefaultInstance());
        assertThat(produced).hasValue(0);
    }

    @Test
    void messagesPassInBothDirectionsInOrder() {
        Queue<Integer> lengths = new ConcurrentLinkedQueue<>();
        Promise<Status> end = Promise.promise();
        ClientCall<byte[], byte[]> call = channel.newCall(ECHO, CallOptions.DEFAULT);
        call.start(collecting(lengths, end), new Metadata());
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
    void aStreamThatIsNotReadStopsTheOneThatIsSent() {
        Queue<Integer> lengths = new ConcurrentLinkedQueue<>();
        ClientCall<byte[], byte[]> call = channel.newCall(ECHO, CallOptions.DEFAULT);
        call.start(collecting(lengths, Promise.promise()), new Metadata());
        for (int i = 0; i < 1_000; i++) {
            call.sendMessage(new byte[100_000]);
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(echoed).hasPositiveValue());
        await().during(Duration.ofMillis(500)).atMost(PATIENCE).until(() -> echoed.get() < 200);
        call.request(1_000);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(lengths).hasSize(1_000));
        call.cancel("enough", null);
        await().atMost(PATIENCE).untilTrue(echoCancelled);
    }

    @Test
    void nothingIsPushedToStreamsThatHaveNoWindowUntilTheyHave() {
        AtomicLong received = new AtomicLong();
        HttpConnection client = openPushed(5, 0, received);
        await().during(Duration.ofMillis(500)).atMost(PATIENCE).untilAsserted(() -> assertThat(pushes)
                .hasValue(0));
        Void unused = TestServer.get(client.updateSettings(new Http2Settings().setInitialWindowSize(1 << 20)));
        unread.forEach(HttpClientResponse::resume);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(received).hasValueGreaterThan(10L * PUSH_BYTES));
    }

    /** Streams of one connection, to which is pushed whatever they take; their answers are read later. */
    private HttpConnection openPushed(int streams, int window, AtomicLong received) {
        HttpClient client = vertx.createHttpClient(new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false)
                .setHttp2MultiplexingLimit(1000)
                .setInitialSettings(new Http2Settings().setInitialWindowSize(window))
                .setHttp2ConnectionWindowSize(64 << 20));
        clients.add(client);
        HttpConnection connection = null;
        for (int i = 0; i < streams; i++) {
            HttpClientRequest request =
                    TestServer.get(client.request(HttpMethod.POST, port, "127.0.0.1", "/" + PUSHES));
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

    @Test
    void aStreamEndsAtItsDeadline() {
        Promise<Status> end = Promise.promise();
        ClientCall<byte[], byte[]> call =
                channel.newCall(ECHO, CallOptions.DEFAULT.withDeadlineAfter(300, TimeUnit.MILLISECONDS));
        call.start(collecting(new ConcurrentLinkedQueue<>(), end), new Metadata());
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        await().atMost(PATIENCE).untilTrue(echoCancelled);
    }

    @Test
    void requestsOfHttp1ThatWereSentTogetherAreAnsweredInOrder() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String requests = "GET /a HTTP/1.1\r\nhost: x\r\n\r\n".repeat(100)
                    + "GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            socket.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
            List<String> bodies = new BufferedReader(
                            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .lines()
                    .filter(line -> line.startsWith("/"))
                    .toList();
            assertThat(bodies).hasSize(101).startsWith("/a 1", "/a 2").endsWith("/a 100", "/last 101");
        }
    }

    @Test
    void whoeverExpectsToContinueTakesNoAnswerOfTheNextRequest() throws IOException {
        List<String> lines = linesFor(String.join(
                "\r\n",
                "GET /a HTTP/1.1",
                "host: x",
                "expect: 100-continue",
                "",
                "HEAD /b HTTP/1.1",
                "host: x",
                "",
                "GET /c HTTP/1.1",
                "host: x",
                "connection: close",
                "",
                ""));
        assertThat(lines).startsWith("HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK");
        assertThat(lines.stream().filter(line -> line.startsWith("/"))).containsExactly("/a 1", "/c 3");
    }

    @Test
    void anAnswerThatCannotBeMadeIsAnError() throws IOException {
        assertThat(linesFor("GET /broken HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 500 Internal Server Error");
    }

    private List<String> linesFor(String requests) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .lines()
                    .toList();
        }
    }

    @Test
    void tokensOfPlainHttpComeAsGrpcGatewayTakesThem() throws IOException {
        String end = "host: x\r\nconnection: close\r\n\r\n";
        List<String> both = linesFor("GET /a HTTP/1.1\r\ngrpc-metadata-token: one\r\nauthorization: two\r\n" + end);
        List<String> one = linesFor("GET /b HTTP/1.1\r\nauthorization: two\r\n" + end);
        List<String> none = linesFor("GET /c HTTP/1.1\r\ntoken: three\r\n" + end);
        assertThat(both).contains("/a 1");
        assertThat(one).contains("/b 2");
        assertThat(none).contains("/c 3");
        assertThat(principals)
                .containsExactly(new Principal.Token("one"), new Principal.Token("two"), Principal.ANONYMOUS);
    }

    @Test
    void aBodyThatIsTooLargeIsRefused() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream()
                    .write("POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] part = new byte[1 << 20];
            for (int i = 0; i < 9; i++) {
                socket.getOutputStream().write(part);
            }
            assertThat(new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                            .readLine())
                    .isEqualTo("HTTP/1.1 413 Request Entity Too Large");
        }
        assertThat(pages).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "PRI * HTTP",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                "GET /a HT",
                "POST /a HTTP/1.1\r\ncontent-length: 9\r\n\r\nx"
            })
    void whatIsNeverCompletedIsClosed(String begun) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write(begun.getBytes(StandardCharsets.US_ASCII));
            socket.setSoTimeout((int) PATIENCE.toMillis());
            // The settings of HTTP/2 come before that.
            assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThan(100);
        }
    }

    @Test
    void aCallWhoseClientDoesNotReadIsEndedAndAnIdleOneIsNot() {
        Promise<Status> idle = Promise.promise();
        ClientCall<byte[], byte[]> waits = channel.newCall(ECHO, CallOptions.DEFAULT);
        waits.start(collecting(new ConcurrentLinkedQueue<>(), idle), new Metadata());
        waits.request(2);
        answer = new Zeros(64 << 20);
        ClientCall<RangeRequest, byte[]> call = channel.newCall(
                KVGrpc.getRangeMethod().toBuilder(KVGrpc.getRangeMethod().getRequestMarshaller(), new Bytes())
                        .build(),
                CallOptions.DEFAULT);
        Promise<Status> end = Promise.promise();
        call.start(collecting(new ConcurrentLinkedQueue<>(), end), new Metadata());
        call.sendMessage(RangeRequest.getDefaultInstance());
        call.halfClose();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(ended).containsExactly("CANCELLED"));
        waits.sendMessage(new byte[1]);
        waits.halfClose();
        assertThat(TestServer.get(idle.future()).getCode()).isEqualTo(Status.Code.OK);
    }

    @Test
    void moreConnectionsThanAllowedAreClosedAtOnce() throws IOException {
        Socket[] open = new Socket[CONNECTIONS];
        for (int i = 0; i < CONNECTIONS; i++) {
            open[i] = new Socket(InetAddress.getLoopbackAddress(), port);
            open[i].getOutputStream().write("GET /a HTTP/1.1\r\nhost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(open[i].getInputStream().read()).isEqualTo('H');
        }
        try (Socket another = new Socket(InetAddress.getLoopbackAddress(), port)) {
            assertThat(another.getInputStream().read()).isEqualTo(-1);
        }
        for (Socket each : open) {
            each.close();
        }
        await().atMost(PATIENCE).untilAsserted(() -> {
            try (Socket another = new Socket(InetAddress.getLoopbackAddress(), port)) {
                another.getOutputStream()
                        .write("GET /a HTTP/1.1\r\nhost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(another.getInputStream().read()).isEqualTo('H');
            }
        });
    }

    private static void put(Metadata metadata, String name, String value) {
        metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    }

    private static ClientCall.Listener<byte[]> collecting(Queue<Integer> lengths, Promise<Status> end) {
        return new ClientCall.Listener<>() {
            @Override
            public void onMessage(byte[] message) {
                lengths.add(message.length);
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
                boolean unused = end.tryComplete(status);
            }
        };
    }

    /** Takes the next message when the last one could be sent back. */
    private ServerCall.Listener<byte[]> echo(
            ServerCall<byte[], byte[]> call, Metadata metadata, Caller caller, Executor loop) {
        call.request(1);
        return new ServerCall.Listener<>() {
            @Override
            public void onMessage(byte[] message) {
                echoed.incrementAndGet();
                call.sendMessage(message);
                onReady();
            }

            @Override
            public void onReady() {
                if (call.isReady()) {
                    call.request(1);
                }
            }

            @Override
            public void onHalfClose() {
                call.close(Status.OK, new Metadata());
            }

            @Override
            public void onCancel() {
                echoCancelled.set(true);
            }
        };
    }

    /** Pushes for as long as it may. */
    private final class Pusher extends ServerCall.Listener<byte[]> {
        private final MessageCall call;

        Pusher(MessageCall call) {
            this.call = call;
            call.request(1);
        }

        @Override
        public void onMessage(byte[] message) {
            call.sendHeaders(new Metadata());
            onReady();
        }

        @Override
        public void onReady() {
            // No more than that in a turn, as others have theirs.
            for (int i = 0; i < 100 && call.pushable(PUSH_BYTES); i++) {
                pushes.incrementAndGet();
                ByteBuf data = call.allocator().directBuffer(PUSH_BYTES);
                MessageCall.prefix(data, PUSH_BYTES - MessageCall.PREFIX_BYTES);
                call.push(data.writeZero(PUSH_BYTES - MessageCall.PREFIX_BYTES));
            }
        }
    }

    /** As many zeros as that, and how many have been made. */
    private final class Zeros implements AnswerBody {
        private final long length;
        private long rest;

        Zeros(long length) {
            this.length = length;
            this.rest = length;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public boolean appendTo(ByteBuf out, int wanted) {
            int made = (int) Math.min(wanted, rest);
            out.writeZero(made);
            rest -= made;
            produced.addAndGet(made);
            return rest > 0;
        }
    }

    private static final class Broken implements AnswerBody {
        @Override
        public long length() {
            return UNKNOWN;
        }

        @Override
        public boolean appendTo(ByteBuf out, int wanted) {
            throw new IllegalStateException("broken");
        }
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream message) {
            try {
                return message.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
