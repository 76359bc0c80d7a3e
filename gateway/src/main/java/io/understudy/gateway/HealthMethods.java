package io.understudy.gateway;

import com.google.protobuf.Empty;
import com.google.protobuf.Int32Value;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.forward.EtcdMethod.Bytes;
import io.understudy.gateway.forward.OneRequest;
import io.understudy.gateway.forward.ServedCalls;
import io.understudy.gateway.server.GrpcMethod;
import io.understudy.gateway.server.GrpcMethod.CallMethod;
import io.understudy.gateway.server.GrpcMethod.UnaryMethod;
import io.understudy.gateway.server.Reply;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * {@code grpc.health.v1.Health} by readiness. The only service has an empty name, as in etcd ({@code
 * v3rpc/health.go}). Messages are of types with the same encoding.
 */
record HealthMethods(BooleanSupplier ready, ServedCalls calls) {

    private static final String PREFIX = "grpc.health.v1.Health/";

    private static final Int32Value SERVING = Int32Value.of(1);
    private static final Int32Value NOT_SERVING = Int32Value.of(2);
    private static final Int32Value SERVICE_UNKNOWN = Int32Value.of(3);

    /** Bytes before the status in a list of one service with an empty name. */
    private static final byte[] LIST = {0x0a, 6, 0x0a, 0, 0x12, 2, 8, 0};

    private static final long CHECK_MILLIS = 500;

    List<GrpcMethod> all() {
        return List.of(
                new UnaryMethod<>(
                        PREFIX + "Check",
                        StringValue.getDescriptor(),
                        StringValue::parseFrom,
                        (caller, service) -> service.getValue().isEmpty()
                                ? Future.succeededFuture(Reply.of(status()))
                                : Future.failedFuture(new ApiException(Status.Code.NOT_FOUND, "unknown service"))),
                new UnaryMethod<>(PREFIX + "List", Empty.getDescriptor(), Empty::parseFrom, (caller, none) -> {
                    byte[] list = LIST.clone();
                    list[list.length - 1] = (byte) status().getValue();
                    return Future.succeededFuture(new Reply(AnswerBody.of(list), List.of()));
                }),
                new CallMethod(
                        Bytes.method(PREFIX + "Watch", MethodType.SERVER_STREAMING),
                        false,
                        (call, metadata, caller, loop) -> calls.last(
                                call,
                                loop,
                                client ->
                                        new OneRequest(client, service -> watch(client, service, call.eventLoop())))));
    }

    private Int32Value status() {
        return ready.getAsBoolean() ? SERVING : NOT_SERVING;
    }

    private ServerCall.Listener<byte[]> watch(
            ServerCall<byte[], byte[]> client, byte[] service, ScheduledExecutorService loop) {
        try {
            if (StringValue.parseFrom(service).getValue().isEmpty()) {
                return new Watch(client, loop);
            }
            // It might be added later.
            client.sendMessage(SERVICE_UNKNOWN.toByteArray());
        } catch (InvalidProtocolBufferException e) {
            client.close(
                    Status.INTERNAL.withDescription("grpc: error unmarshalling request: " + e.getMessage()),
                    new Metadata());
        }
        return new ServerCall.Listener<>() {};
    }

    /** Sends the status and its changes. */
    private final class Watch extends ServerCall.Listener<byte[]> {

        private final ServerCall<byte[], byte[]> client;
        private final ScheduledFuture<?> checks;
        private Int32Value sent = SERVICE_UNKNOWN;

        Watch(ServerCall<byte[], byte[]> client, ScheduledExecutorService loop) {
            this.client = client;
            this.checks = loop.scheduleAtFixedRate(this::check, CHECK_MILLIS, CHECK_MILLIS, TimeUnit.MILLISECONDS);
            check();
        }

        private void check() {
            Int32Value now = status();
            if (!now.equals(sent) && client.isReady()) {
                sent = now;
                client.sendMessage(now.toByteArray());
            }
        }

        @Override
        public void onCancel() {
            checks.cancel(false);
        }
    }
}
