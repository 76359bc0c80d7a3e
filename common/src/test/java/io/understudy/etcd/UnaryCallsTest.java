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
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Channels.NetworkThread;
import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Against gRPC's own server, and against a scripted one.
 *
 * <p>Tests invariant E8.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class UnaryCallsTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final byte[] REQUEST =
            RangeRequest.newBuilder().setSerializable(true).build().toByteArray();

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
                assertThat(call(server.port(), LONG).join()).isEqualTo(server.answer.toByteArray());
            }
            assertThat(server.requests).hasValue(5_000);
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void aRefusalIsTheCallsOwnAndTheConnectionIsKept() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.refusal = Status.UNAVAILABLE.withDescription("no leader");
            assertThatThrownBy(call(server.port(), LONG)::join)
                    .cause()
                    .isInstanceOfSatisfying(StatusRuntimeException.class, refusal -> {
                        assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                        assertThat(refusal.getStatus().getDescription()).isEqualTo("no leader");
                    });
            server.refusal = Status.OK;
            call(server.port(), LONG).join();
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void silenceFailsByTheDeadlineAndItsConnectionIsNotUsedAgain() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.silent = true;
            assertFails(call(server.port(), Duration.ofMillis(100)), TimeoutException.class);
            server.silent = false;
            call(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void anAnswerThatIsTooLargeIsCutOff() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.answer = RangeResponse.newBuilder()
                    .addKvs(KeyValue.newBuilder().setValue(ByteString.copyFrom(new byte[UnaryCalls.MAX_ANSWER_BYTES])))
                    .build();
            assertFails(call(server.port(), LONG), IOException.class);
        }
    }

    @Test
    void aConnectionThatEndedBetweenTwoCallsIsReplaced() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            call(server.port(), LONG).join();
            server.closesAtNextCall = true;
            call(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aNewConnectionThatEndsIsNotReplaced() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.closesAtNextCall = true;
            assertFails(call(server.port(), LONG), IOException.class);
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void afterAGoodByeTheCallUnderWayIsAnsweredAndTheNextGoesElsewhere() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(ScriptedServer.GOAWAY, 0, 0, call.stream(), 0);
            call(server.port(), LONG).join();
            server.before = call -> {};
            call(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aCallUnseenBeforeGoawayIsMadeOnAnotherConnection() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            call(server.port(), LONG).join();
            server.before = call -> {
                server.before = next -> {};
                call.frame(ScriptedServer.GOAWAY, 0, 0, call.stream() - 2, 0);
                call.out().flush();
                throw new IOException("good-bye");
            };
            call(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aCallThatIsResetFails() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> {
                call.frame(ScriptedServer.RESET, 0, call.stream(), 7);
                call.out().flush();
                throw new IOException("nothing follows that");
            };
            assertFails(call(server.port(), LONG), StatusRuntimeException.class);
        }
    }

    @Test
    void anAnswerCountsWhateverFollowsIt() throws Exception {
        for (ScriptedServer.Step after : List.<ScriptedServer.Step>of(
                call -> call.frame(ScriptedServer.RESET, 0, call.stream(), 0),
                call -> call.frame(ScriptedServer.GOAWAY, 0, 0, call.stream(), 0),
                call -> call.frame(ScriptedServer.DATA, 0, call.stream() + 2, 0, 0))) {
            try (ScriptedServer server = new ScriptedServer()) {
                server.after = after;
                call(server.port(), LONG).join();
                call(server.port(), LONG).join();
            }
        }
    }

    @Test
    void onceClosedItConnectsNoMore() {
        client.close();
        assertFails(call(1, LONG), IOException.class);
    }

    @Test
    void pingsAreAnsweredThoughNoCallFollows() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(ScriptedServer.PING, 0, 0, 1, 2);
            call(server.port(), LONG).join();
            await().untilAsserted(() -> assertThat(server.pingsAnswered).hasValue(1));
        }
    }

    @Test
    void whatAnswersNoCallEndsTheConnection() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(ScriptedServer.DATA, 0, call.stream() + 2, 0, 0);
            assertFails(call(server.port(), LONG), IOException.class);
        }
    }

    @Test
    void aServerWithoutRoomForTheRequestIsNotSentIt() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            call(server.port(), LONG).join();
            // The window of each new stream, RFC 9113, 6.5.2.
            server.before = call -> call.raw(ScriptedServer.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 1});
            call(server.port(), LONG).join();
            server.before = call -> {};
            call(server.port(), LONG).join();
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void whatIsNotHttpIsNoAnswer() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.out().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(ISO_8859_1));
            assertFails(call(server.port(), LONG), IOException.class);
        }
    }

    private CompletableFuture<byte[]> call(int port, Duration deadline) {
        return CompletableFuture.completedFuture(new Endpoint("127.0.0.1", port, false))
                .thenComposeAsync(endpoint -> client.call(endpoint, REQUEST, deadline), network.loop());
    }

    private static void assertFails(CompletableFuture<?> answer, Class<? extends Throwable> why) {
        assertThatThrownBy(answer::join).cause().isInstanceOf(why);
    }
}
