package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Unary calls: the caller's identity, the memory of unread answers, and cancelled calls.
 *
 * <p>Tests invariant S3.
 */
@Timeout(120)
final class UnaryCallsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final CalledServer server = new CalledServer();

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
    }

    @Test
    void callersCarryTokenSessionFreshnessAndDeadline() {
        Metadata metadata = new Metadata();
        put(metadata, "token", "secret.7");
        put(metadata, "understudy-max-staleness-ms", "250");
        put(metadata, "understudy-min-revision", "12");
        KVGrpc.KVBlockingStub stub = KVGrpc.newBlockingStub(server.channel());
        RangeResponse first = stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .range(RangeRequest.getDefaultInstance());
        RangeResponse second = stub.range(RangeRequest.getDefaultInstance());

        assertThat(first).isEqualTo(second);
        Caller authenticated = server.callers.remove();
        Caller anonymous = server.callers.remove();
        assertThat(authenticated.principal()).isEqualTo(new Principal.Token("secret.7"));
        assertThat(authenticated.freshness().maxStaleness()).isEqualTo(Duration.ofMillis(250));
        assertThat(authenticated.freshness().minRevision()).isEqualTo(12);
        assertThat(authenticated.deadlineNanos() - System.nanoTime())
                .isBetween(1L, Duration.ofSeconds(30).toNanos());
        assertThat(anonymous.principal()).isEqualTo(Principal.ANONYMOUS);
        assertThat(anonymous.deadlineNanos()).isEqualTo(Caller.NO_DEADLINE);
        Session session = authenticated.session();
        assertThat(anonymous.session()).isSameAs(session);
    }

    @Test
    void invalidMetadataIsRejected() {
        Metadata metadata = new Metadata();
        put(metadata, "understudy-min-revision", "soon");
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> {
                    RangeResponse unused = KVGrpc.newBlockingStub(server.channel())
                            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                            .range(RangeRequest.getDefaultInstance());
                })
                .satisfies(refusal -> assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT))
                .withMessageContaining("understudy-min-revision");
        assertThat(server.callers).isEmpty();
    }

    static List<MethodDescriptor<byte[], byte[]>> answeredByOneMessage() {
        return List.of(CalledServer.UNARY, CalledServer.ONE_OF_MANY);
    }

    @ParameterizedTest
    @MethodSource("answeredByOneMessage")
    void anUnreadAnswerHoldsLittleMemoryAndCompletesWhenRead(MethodDescriptor<byte[], byte[]> method) {
        int size = 64 << 20;
        server.answer = server.zeros(size);
        ClientCall<byte[], byte[]> call = server.channel().newCall(method, CallOptions.DEFAULT);
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

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.produced).hasPositiveValue());
        await().during(Duration.ofMillis(500)).atMost(PATIENCE).until(() -> server.produced.get() < 16 << 20);

        int unread = server.kept.get();
        call.request(2);
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.OK);
        assertThat(received).hasValue(size);
        assertThat(server.kept).as("again with each part that was read").hasValueGreaterThan(unread);
    }

    @ParameterizedTest
    @MethodSource("answeredByOneMessage")
    void anAnswerBeyondTheMessageLimitIsRejected(MethodDescriptor<byte[], byte[]> method) {
        server.answer = server.zeros(3L << 30);
        Promise<Status> end = Promise.promise();
        ClientCall<byte[], byte[]> call = server.channel().newCall(method, CallOptions.DEFAULT);
        call.start(CalledServer.collecting(new ConcurrentLinkedQueue<>(), end), new Metadata());
        call.sendMessage(new byte[0]);
        call.halfClose();
        call.request(2);
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(server.produced).hasValue(0);
    }

    @Test
    void anAnswerOfACancelledCallIsNotEncoded() {
        Promise<Void> late = Promise.promise();
        server.before = late.future();
        server.answer = server.zeros(10);
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> {
                    RangeResponse unused = KVGrpc.newBlockingStub(server.channel())
                            .withDeadlineAfter(300, TimeUnit.MILLISECONDS)
                            .range(RangeRequest.getDefaultInstance());
                })
                .satisfies(
                        refusal -> assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.ended).hasSize(1));
        late.complete();
        server.before = Future.succeededFuture();
        server.answer = AnswerBody.of(new byte[0]);
        RangeResponse unused = KVGrpc.newBlockingStub(server.channel()).range(RangeRequest.getDefaultInstance());
        assertThat(server.produced).hasValue(0);
    }

    private static void put(Metadata metadata, String name, String value) {
        metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    }
}
