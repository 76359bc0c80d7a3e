package io.understudy.etcd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Attributes;
import io.grpc.Server;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.tls.TlsContext;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against gRPC's own server, and against one that sends what the test says. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class UnaryCallsTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final byte[] REQUEST =
            RangeRequest.newBuilder().setSerializable(true).build().toByteArray();

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RESET = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    private final NetworkThread network = NetworkThread.start("calls");
    private final TlsContext tls = TlsContext.of(null);
    private final KeptConnections<byte[]> client = new KeptConnections<>(
            network, new UnaryCalls(tls, KVGrpc.getRangeMethod().getFullMethodName()), Duration.ofSeconds(5));

    @AfterEach
    void close() {
        client.close();
        network.close();
    }

    @Test
    void oneConnectionServesMoreCallsThanItsWindowsHaveRoomFor() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.answer = RangeResponse.newBuilder().setCount(7).build();
            for (int i = 0; i < 5_000; i++) {
                assertThat(ask(server.port(), LONG).join()).isEqualTo(server.answer.toByteArray());
            }
            assertThat(server.requests).hasValue(5_000);
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void aRefusalIsTheCallsOwnAndTheConnectionIsKept() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.refusal = Status.UNAVAILABLE.withDescription("no leader");
            assertThatThrownBy(ask(server.port(), LONG)::join)
                    .cause()
                    .isInstanceOfSatisfying(StatusRuntimeException.class, refusal -> {
                        assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                        assertThat(refusal.getStatus().getDescription()).isEqualTo("no leader");
                    });
            server.refusal = Status.OK;
            ask(server.port(), LONG).join();
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void silenceFailsByTheDeadlineAndItsConnectionIsNotUsedAgain() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.silent = true;
            assertFails(ask(server.port(), Duration.ofMillis(100)), TimeoutException.class);
            server.silent = false;
            ask(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void anAnswerThatIsTooLargeIsCutOff() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.answer = RangeResponse.newBuilder()
                    .addKvs(KeyValue.newBuilder().setValue(ByteString.copyFrom(new byte[UnaryCalls.MAX_ANSWER_BYTES])))
                    .build();
            assertFails(ask(server.port(), LONG), IOException.class);
        }
    }

    @Test
    void aConnectionThatEndedBetweenTwoCallsIsReplaced() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            ask(server.port(), LONG).join();
            server.closesAtNextCall = true;
            ask(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aNewConnectionThatEndsIsNotReplaced() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.closesAtNextCall = true;
            assertFails(ask(server.port(), LONG), IOException.class);
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void afterAGoodByeTheCallUnderWayIsAnsweredAndTheNextGoesElsewhere() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(GOAWAY, 0, 0, call.stream, 0);
            ask(server.port(), LONG).join();
            server.before = call -> {};
            ask(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aCallThatTheServerHasntSeenWhenItSaysGoodByeIsMadeOnAnotherConnection() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            ask(server.port(), LONG).join();
            server.before = call -> {
                server.before = next -> {};
                call.frame(GOAWAY, 0, 0, call.stream - 2, 0);
                call.out.flush();
                throw new IOException("good-bye");
            };
            ask(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aCallThatIsResetFails() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> {
                call.frame(RESET, 0, call.stream, 7);
                call.out.flush();
                throw new IOException("nothing follows that");
            };
            assertFails(ask(server.port(), LONG), StatusRuntimeException.class);
        }
    }

    @Test
    void anAnswerCountsWhateverFollowsIt() throws Exception {
        for (Step after : List.<Step>of(
                call -> call.frame(RESET, 0, call.stream, 0),
                call -> call.frame(GOAWAY, 0, 0, call.stream, 0),
                call -> call.frame(DATA, 0, call.stream + 2, 0, 0))) {
            try (ScriptedServer server = new ScriptedServer()) {
                server.after = after;
                ask(server.port(), LONG).join();
                ask(server.port(), LONG).join();
            }
        }
    }

    @Test
    void onceClosedItConnectsNoMore() {
        client.close();
        assertFails(ask(1, LONG), IOException.class);
    }

    @Test
    void pingsAreAnsweredThoughNoCallFollows() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(PING, 0, 0, 1, 2);
            ask(server.port(), LONG).join();
            await().untilAsserted(() -> assertThat(server.pingsAnswered).hasValue(1));
        }
    }

    @Test
    void whatAnswersNoCallEndsTheConnection() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(DATA, 0, call.stream + 2, 0, 0);
            assertFails(ask(server.port(), LONG), IOException.class);
        }
    }

    @Test
    void aServerWithoutRoomForTheRequestIsNotSentIt() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            ask(server.port(), LONG).join();
            // The window of each new stream, RFC 9113, 6.5.2.
            server.before = call -> call.raw(SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 1});
            ask(server.port(), LONG).join();
            server.before = call -> {};
            ask(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void whatIsNotHttpIsNoAnswer() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.out.write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(ISO_8859_1));
            assertFails(ask(server.port(), LONG), IOException.class);
        }
    }

    private CompletableFuture<byte[]> ask(int port, Duration deadline) {
        return CompletableFuture.completedFuture(new Endpoint("127.0.0.1", port, false))
                .thenComposeAsync(endpoint -> client.ask(endpoint, REQUEST, deadline), network.loop());
    }

    private static void assertFails(CompletableFuture<?> answer, Class<? extends Throwable> why) {
        assertThatThrownBy(answer::join).cause().isInstanceOf(why);
    }

    private static final class GrpcServer implements AutoCloseable {
        private final AtomicInteger connections = new AtomicInteger();
        private final AtomicInteger requests = new AtomicInteger();
        private final Server server;
        private volatile RangeResponse answer = RangeResponse.getDefaultInstance();
        private volatile Status refusal = Status.OK;
        private volatile boolean silent;

        GrpcServer() throws IOException {
            server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .addTransportFilter(new ServerTransportFilter() {
                        @Override
                        public Attributes transportReady(Attributes attributes) {
                            connections.incrementAndGet();
                            return attributes;
                        }
                    })
                    .addService(new KVGrpc.KVImplBase() {
                        @Override
                        public void range(RangeRequest request, StreamObserver<RangeResponse> to) {
                            requests.incrementAndGet();
                            if (!refusal.isOk()) {
                                to.onError(refusal.asRuntimeException());
                            } else if (!silent) {
                                to.onNext(answer);
                                to.onCompleted();
                            }
                        }
                    })
                    .build()
                    .start();
        }

        int port() {
            return server.getPort();
        }

        @Override
        public void close() {
            server.shutdownNow();
        }
    }

    /** What a call has arrived on. */
    private record Call(OutputStream out, int stream) {

        void frame(int type, int flags, int of, int... words) throws IOException {
            ByteBuffer payload = ByteBuffer.allocate(4 * words.length);
            for (int word : words) {
                payload.putInt(word);
            }
            raw(type, flags, of, payload.array());
        }

        void raw(int type, int flags, int of, byte[] payload) throws IOException {
            out.write(ByteBuffer.allocate(9 + payload.length)
                    .put((byte) 0)
                    .putShort((short) payload.length)
                    .put((byte) type)
                    .put((byte) flags)
                    .putInt(of)
                    .put(payload)
                    .array());
        }

        /** An empty message, headers by literals (RFC 7541, 6.2.2). */
        void answer() throws IOException {
            raw(HEADERS, END_HEADERS, stream, new byte[] {(byte) 0x88});
            raw(DATA, 0, stream, new byte[5]);
            byte[] trailers = "\0\13grpc-status\0010".getBytes(ISO_8859_1);
            raw(HEADERS, END_HEADERS | END_STREAM, stream, trailers);
        }
    }

    private interface Step {
        void with(Call call) throws IOException;
    }

    private static final class ScriptedServer implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final List<Socket> accepted = new CopyOnWriteArrayList<>();
        private final AtomicInteger connections = new AtomicInteger();
        private final AtomicInteger pingsAnswered = new AtomicInteger();
        private volatile Step before = call -> {};
        private volatile Step after = call -> {};
        private volatile boolean closesAtNextCall;

        ScriptedServer() throws IOException {
            start(this::accept);
        }

        int port() {
            return socket.getLocalPort();
        }

        private void accept() {
            try {
                while (true) {
                    Socket connection = socket.accept();
                    accepted.add(connection);
                    connections.incrementAndGet();
                    start(() -> serve(connection));
                }
            } catch (IOException e) {
                // Closed.
            }
        }

        private void serve(Socket connection) {
            try (connection) {
                DataInputStream in = new DataInputStream(connection.getInputStream());
                in.skipNBytes(24);
                OutputStream out = new BufferedOutputStream(connection.getOutputStream());
                new Call(out, 0).frame(SETTINGS, 0, 0);
                while (true) {
                    int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                    int type = in.readUnsignedByte();
                    int flags = in.readUnsignedByte();
                    int stream = in.readInt();
                    in.skipNBytes(length);
                    if (type == PING && (flags & ACK) != 0) {
                        pingsAnswered.incrementAndGet();
                    }
                    if (type == DATA) {
                        if (closesAtNextCall) {
                            closesAtNextCall = false;
                            return;
                        }
                        Call call = new Call(out, stream);
                        before.with(call);
                        call.answer();
                        after.with(call);
                        out.flush();
                    }
                }
            } catch (IOException e) {
                // The client is gone, or the test wants to be.
            }
        }

        private static void start(Runnable work) {
            Thread thread = new Thread(work, "scripted-server");
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void close() throws IOException {
            socket.close();
            for (Socket each : accepted) {
                each.close();
            }
        }
    }
}
