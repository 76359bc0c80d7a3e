package io.understudy.gateway.server;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Sessions;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.grpc.server.GrpcServerRequest;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Every gRPC call arrives here, known or not. */
final class GrpcCalls implements Handler<GrpcServerRequest<Buffer, Buffer>> {

    private static final String UNKNOWN = "unknown";

    private final Map<String, UnaryMethod<?, ?>> methods;
    private final RequestListener listener;
    private final Sessions sessions;

    GrpcCalls(List<UnaryMethod<?, ?>> methods, RequestListener listener, Sessions sessions) {
        this.methods = methods.stream().collect(Collectors.toMap(UnaryMethod::fullName, Function.identity()));
        this.listener = listener;
        this.sessions = sessions;
    }

    @Override
    public void handle(GrpcServerRequest<Buffer, Buffer> request) {
        UnaryMethod<?, ?> method = methods.get(request.fullMethodName());
        if (method == null) {
            // Not the name the client made up: there is no end to those.
            new UnaryCall(UNKNOWN, request, sessions.of(request.connection()), listener)
                    .refuse(ApiException.unimplemented(request.fullMethodName() + " is not served by this gateway"));
        } else {
            new UnaryCall(method.fullName(), request, sessions.of(request.connection()), listener).answerWith(method);
        }
    }
}
