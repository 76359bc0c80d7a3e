package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.understudy.config.HostPort;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.server.GrpcMethod.CallMethod;
import io.understudy.gateway.server.GrpcMethod.UnaryMethod;
import io.understudy.gateway.server.ServerLimits.ConnectionTimeouts;
import io.understudy.gateway.server.ServerLimits.FrameLimits;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import io.understudy.gateway.server.WebHandler.BodyReader;
import io.understudy.gateway.server.WebHandler.WebCalls;
import io.understudy.tls.TlsServer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A server with small limits that records its calls: one method echoes, one pushes, others are unary. */
final class CalledServer {

    static final int CONNECTIONS = 4;
    static final int PUSH_BYTES = 100_000;
    private static final int UNREAD = 256 << 10;
    private static final long MEMORY = 64 << 20;
    private static final Duration SHORT_STALL = Duration.ofSeconds(3);

    static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.<byte[], byte[]>newBuilder(
                    new Bytes(), new Bytes())
            .setFullMethodName("test.Test/Echo")
            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
            .build();

    static final MethodDescriptor<byte[], byte[]> ONE_OF_MANY =
            ECHO.toBuilder().setFullMethodName("test.Test/OneOfMany").build();

    static final MethodDescriptor<byte[], byte[]> UNARY = ECHO.toBuilder()
            .setFullMethodName(KVGrpc.getRangeMethod().getFullMethodName())
            .setType(MethodDescriptor.MethodType.UNARY)
            .build();

    /** Where a body can't be read. */
    static final String BROKEN_BODY = "/broken-body";

    /** Where a page is answered after {@link #before}. */
    static final String WAITS = "/waits";

    static final String PUSHES = "test.Test/Pushes";

    private static final ConnectionLimit LIMIT = new ConnectionLimit(CONNECTIONS, Integer.MAX_VALUE);

    final Vertx vertx = LIMIT.vertx(new VertxOptions());
    final MeterRegistry meters = new SimpleMeterRegistry();
    final Queue<Caller> callers = new ConcurrentLinkedQueue<>();
    final Queue<Principal> principals = new ConcurrentLinkedQueue<>();
    /** Codes of the calls that ended. */
    final Queue<String> ended = new ConcurrentLinkedQueue<>();
    /** Bytes of {@link #zeros} that were made. */
    final AtomicLong produced = new AtomicLong();
    /** How often they were counted as kept. */
    final AtomicInteger kept = new AtomicInteger();

    final AtomicInteger echoed = new AtomicInteger();
    final AtomicBoolean echoCancelled = new AtomicBoolean();
    final AtomicInteger pages = new AtomicInteger();
    /** The most in one turn of the event loop, of which there is one. */
    volatile int mostPagesPerTurn;

    private int pagesInTurn;
    final AtomicInteger pushes = new AtomicInteger();
    /** What calls that one message answers are answered with. */
    volatile AnswerBody answer = AnswerBody.of(new byte[0]);
    /** How long the event loop works for such an answer. */
    volatile int workMillis;
    /** What the answer waits for. */
    volatile Future<Void> before = Future.succeededFuture();

    private final int port;
    private final ManagedChannel channel;

    CalledServer() {
        this(Unhurried.LOAD);
    }

    /** With a short timeout of handshakes. */
    CalledServer(TlsServer tls) {
        this(tls, Unhurried.LOAD, SHORT_STALL, ServerLimits.DEFAULTS.timeouts(), 64 << 10, MEMORY);
    }

    /** With that limit of the memory of all requests. */
    CalledServer(long maxHeldBytes) {
        this(
                null,
                Unhurried.LOAD,
                ServerLimits.DEFAULTS.stallTimeout(),
                ServerLimits.DEFAULTS.timeouts(),
                (int) maxHeldBytes,
                maxHeldBytes);
    }

    CalledServer(LoadLimits load) {
        this(null, load, ServerLimits.DEFAULTS.stallTimeout(), ServerLimits.DEFAULTS.timeouts(), 64 << 10, MEMORY);
    }

    /** With a short stall timeout, which also sets how often the others are checked. */
    CalledServer(ConnectionTimeouts timeouts) {
        this(null, Unhurried.LOAD, SHORT_STALL, timeouts, 64 << 10, MEMORY);
    }

    private CalledServer(
            @Nullable TlsServer tls,
            LoadLimits load,
            Duration stall,
            ConnectionTimeouts timeouts,
            int maxHeldPerConnection,
            long maxHeldBytes) {
        ServerLimits limits = new ServerLimits(
                4 << 20,
                64 << 10,
                1_000,
                1_000,
                UNREAD,
                CONNECTIONS,
                stall,
                new FrameLimits(50, maxHeldPerConnection, 1_000),
                load,
                timeouts);
        ApiServer server = new ApiServer(
                vertx,
                new HostPort("127.0.0.1", 0),
                tls,
                limits,
                LIMIT,
                new Loads(load, maxHeldBytes, meters),
                List.of(
                        UnaryMethod.of(KVGrpc.getRangeMethod(), RangeRequest::parseFrom, (caller, request) -> {
                            callers.add(caller);
                            work();
                            return onLoop(before.map(done -> new Reply(answer, List.of(new Field("noted", "beside")))));
                        }),
                        new CallMethod(ECHO, true, this::echo),
                        new CallMethod(
                                ECHO.toBuilder().setFullMethodName(PUSHES).build(),
                                false,
                                (call, metadata, caller, loop) -> new Pusher(call)),
                        new CallMethod(ONE_OF_MANY, false, (call, metadata, caller, loop) -> {
                            call.answer(new Reply(answer, List.of(new Field("noted", "beside"))));
                            return new ServerCall.Listener<>() {};
                        })),
                method -> (code, nanos) -> ended.add(code),
                new BrokenBodies(),
                request -> {
                    principals.add(principal(request));
                    countInTurn(request.loop());
                    if (request.path().equals(WAITS)) {
                        onLoop(before).onComplete(done -> request.answer(200, "text/plain", "waited\n"));
                    } else if (request.path().equals("/broken")) {
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

    private static Principal principal(WebRequest request) {
        try {
            return request.caller(() -> false).principal();
        } catch (ApiException e) {
            throw new IllegalStateException(e);
        }
    }

    private void countInTurn(Executor loop) {
        pagesInTurn++;
        if (pagesInTurn == 1) {
            loop.execute(() -> {
                mostPagesPerTurn = Math.max(mostPagesPerTurn, pagesInTurn);
                pagesInTurn = 0;
            });
        }
    }

    int port() {
        return port;
    }

    ManagedChannel channel() {
        return channel;
    }

    /** An answer of as many zeros as that, made when they are wanted. */
    AnswerBody zeros(long length) {
        return new Zeros(length);
    }

    /** What comes for such requests of HTTP/1, the last of which closes the connection. */
    List<String> linesFor(String requests) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .lines()
                    .toList();
        }
    }

    /** Keeps how long each message is, and how the call ends. */
    static ClientCall.Listener<byte[]> collecting(Queue<Integer> lengths, Promise<Status> end) {
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

    private void work() {
        long until = System.nanoTime() + Duration.ofMillis(workMillis).toNanos();
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    void close() throws InterruptedException {
        channel.shutdownNow();
        assertThat(channel.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        Void unused = TestServer.get(vertx.close());
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

        @Override
        public Runnable keep(Runnable end) {
            kept.incrementAndGet();
            return () -> {};
        }
    }

    private static final class BrokenBodies implements WebCalls {
        @Override
        public boolean serve(String path) {
            return path.equals(BROKEN_BODY);
        }

        @Override
        public boolean lasts(WebRequest request) {
            return true;
        }

        @Override
        public boolean streamsRequests(String path) {
            return serve(path);
        }

        @Override
        public void refuse(WebRequest request, ApiException why) {
            request.answer(500, "text/plain", why.text());
        }

        @Override
        public void refuseTooLarge(WebRequest request, long most) {
            throw new IllegalStateException("not that large");
        }

        @Override
        public void handle(WebRequest request) {
            request.readBody(new BodyReader() {
                @Override
                public void read(ByteBuf data, boolean end) {
                    throw new IllegalStateException("broken");
                }

                @Override
                public void refuse(ApiException why) {
                    BrokenBodies.this.refuse(request, why);
                }
            });
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

    /** As they are on the wire. */
    static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
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

    /** Tests complete futures on their own thread. */
    private static <T> Future<T> onLoop(Future<T> any) {
        if (any.isComplete()) {
            return any;
        }
        Context loop = Vertx.currentContext();
        Promise<T> there = Promise.promise();
        any.onComplete(result -> loop.runOnContext(now -> there.handle(result)));
        return there.future();
    }
}
