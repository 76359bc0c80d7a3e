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
import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Against gRPC's own server, and against a scripted one.
 *
 * <p>Tests invariant E9.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class DirectCallsTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final RangeRequest REQUEST =
            RangeRequest.newBuilder().setSerializable(true).build();

    /** Labels have 63 characters at most: no lookup is needed. */
    private static final String NO_HOST = "n".repeat(64) + ".invalid";

    private final TlsContext tls = TlsContext.of(null);
    private final DirectCalls<RangeRequest, RangeResponse> client = new DirectCalls<>(tls, KVGrpc.getRangeMethod());

    @AfterEach
    void close() {
        client.close();
        tls.close();
    }

    @Test
    void oneConnectionServesMoreCallsThanItsWindowsHaveRoomFor() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            RangeRequest large = ofBytes(DirectCalls.MAX_REQUEST_BYTES);
            server.answer = answerOfBytes(8 << 10);
            for (int i = 0; i < 500; i++) {
                assertThat(client.call(at(server.port()), large, LONG)).isEqualTo(server.answer);
            }
            assertThat(server.requests).hasValue(500);
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void aRequestThatIsTooLargeIsNotTaken() {
        RangeRequest larger = ofBytes(DirectCalls.MAX_REQUEST_BYTES + 1);

        assertThat(client.takes(larger)).isFalse();
        assertThatThrownBy(() -> client.call(at(1), larger, LONG)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anAnswerThatIsTooLargeFails() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.answer = answerOfBytes(UnaryCalls.MAX_ANSWER_BYTES);

            assertFails(server.port(), LONG, Status.Code.UNAVAILABLE, "response too large or without trailers");
        }
    }

    @Test
    void aRefusalIsTheCallsOwnAndTheConnectionIsKept() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            server.refusal = Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: mvcc: database space exceeded");
            assertFails(server.port(), LONG, Status.Code.RESOURCE_EXHAUSTED, "space exceeded");

            server.refusal = Status.OK;
            assertAnswered(server.port());
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void silenceFailsByTheDeadlineAndItsConnectionIsNotUsedAgain() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            assertAnswered(server.port());
            server.silent = true;
            assertFails(server.port(), Duration.ofMillis(100), Status.Code.DEADLINE_EXCEEDED, "within 100 ms");

            server.silent = false;
            assertAnswered(server.port());
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aCallWithoutAListenerFailsAtOnce() throws Exception {
        int port;
        try (ScriptedServer server = new ScriptedServer()) {
            port = server.port();
        }

        assertFails(port, LONG, Status.Code.UNAVAILABLE, "refused");
    }

    @Test
    void aHostWithoutAnAddressFails() {
        assertThatThrownBy(() -> client.call(new Endpoint(NO_HOST, 1, false), REQUEST, LONG))
                .hasMessageContaining("unknown host " + NO_HOST);
    }

    @Test
    void anAddressWithoutAServerIsFollowedByTheNext() throws Exception {
        try (GrpcServer server = new GrpcServer();
                DirectConnection connection = DirectConnection.to(
                        at(server.port()),
                        List.of(InetAddress.getByAddress(new byte[] {127, 0, 0, 2}), InetAddress.getLoopbackAddress()),
                        new UnaryCalls(tls, KVGrpc.getRangeMethod().getFullMethodName()),
                        System.nanoTime() + LONG.toNanos())) {
            assertThat(connection.isGood()).isTrue();
        }
    }

    @Test
    void theClientStartsWithItsPrefaceWhateverTheServerSendsFirst() throws Exception {
        try (GrpcServer server = new GrpcServer();
                DirectConnection connection = DirectConnection.to(
                        at(server.port()),
                        new UnaryCalls(tls, KVGrpc.getRangeMethod().getFullMethodName()),
                        System.nanoTime() + LONG.toNanos())) {
            await().until(connection::read);

            assertThat(connection
                            .call(REQUEST.toByteArray(), System.nanoTime() + LONG.toNanos())
                            .answer())
                    .isCompleted();
        }
    }

    @Test
    void theNextCallMayGoToAnotherEndpoint() throws Exception {
        try (GrpcServer one = new GrpcServer();
                GrpcServer other = new GrpcServer()) {
            assertAnswered(one.port());
            assertAnswered(other.port());
            assertAnswered(other.port());

            assertThat(one.requests).hasValue(1);
            assertThat(other.requests).hasValue(2);
            assertThat(other.connections).hasValue(1);
        }
    }

    @Test
    void anInterruptEndsTheWaitAndStays() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            assertAnswered(server.port());
            server.silent = true;
            Thread.currentThread().interrupt();

            assertFails(server.port(), LONG, Status.Code.CANCELLED, "interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aConnectionThatEndedBetweenTwoCallsIsReplaced() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            assertAnswered(server.port());
            server.disconnect();
            assertAnswered(server.port());
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aConnectionThatEndsDuringACallFailsItSinceItMayHaveBeenDone() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            assertAnswered(server.port());
            server.closesAtNextCall = true;
            assertFails(server.port(), LONG, Status.Code.UNAVAILABLE, "closed");
            assertAnswered(server.port());
        }
    }

    @Test
    void afterAGoodByeTheNextCallGoesOverAnotherConnection() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(ScriptedServer.GOAWAY, 0, 0, call.stream(), 0);
            assertAnswered(server.port());
            server.before = call -> {};
            assertAnswered(server.port());
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aCallUnseenBeforeGoawayFailsAtOnce() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            assertAnswered(server.port());
            server.withholds = true;
            server.before = call -> call.frame(ScriptedServer.GOAWAY, 0, 0, call.stream() - 2, 0);
            assertFails(server.port(), LONG, Status.Code.UNAVAILABLE, "GOAWAY");
        }
    }

    @Test
    void aServerThatIsLongInAnsweringHasItsPingAnsweredMeanwhile() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.withholds = true;
            server.before = call -> call.frame(ScriptedServer.PING, 0, 0, 1, 2);
            assertAnswered(server.port());
        }
    }

    @Test
    void onceClosedItConnectsNoMore() throws Exception {
        try (GrpcServer server = new GrpcServer()) {
            client.close();
            assertFails(server.port(), LONG, Status.Code.UNAVAILABLE, "closed");
            assertThat(server.connections).hasValue(0);
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
            assertFails(server.port(), LONG, Status.Code.UNAVAILABLE, "reset");
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
                assertAnswered(server.port());
                assertAnswered(server.port());
            }
        }
    }

    @Test
    void pingsAreAnsweredWithTheNextCall() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.frame(ScriptedServer.PING, 0, 0, 1, 2);
            assertAnswered(server.port());
            assertAnswered(server.port());
            assertThat(server.pingsAnswered).hasValue(1);
        }
    }

    @Test
    void whatIsNotHttpIsNoAnswer() throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            server.before = call -> call.out().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(ISO_8859_1));
            assertFails(server.port(), LONG, Status.Code.UNAVAILABLE, "");
        }
    }

    private void assertAnswered(int port) {
        assertThat(client.call(at(port), REQUEST, LONG)).isNotNull();
    }

    private void assertFails(int port, Duration timeout, Status.Code code, String why) {
        assertThatThrownBy(() -> client.call(at(port), REQUEST, timeout))
                .isInstanceOfSatisfying(StatusRuntimeException.class, failure -> {
                    assertThat(failure.getStatus().getCode()).isEqualTo(code);
                    assertThat(failure.getStatus().getDescription()).contains(why);
                });
    }

    private static Endpoint at(int port) {
        return new Endpoint("127.0.0.1", port, false);
    }

    private static RangeRequest ofBytes(int bytes) {
        int around = RangeRequest.newBuilder()
                        .setKey(ByteString.copyFrom(new byte[1_000]))
                        .build()
                        .getSerializedSize()
                - 1_000;
        return RangeRequest.newBuilder()
                .setKey(ByteString.copyFrom(new byte[bytes - around]))
                .build();
    }

    private static RangeResponse answerOfBytes(int bytes) {
        return RangeResponse.newBuilder()
                .addKvs(KeyValue.newBuilder().setValue(ByteString.copyFrom(new byte[bytes])))
                .build();
    }
}
