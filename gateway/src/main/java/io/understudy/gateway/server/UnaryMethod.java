package io.understudy.gateway.server;

import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.grpc.MethodDescriptor;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;

/** A method with one request and one answer. */
public record UnaryMethod<Q extends Message>(String fullName, Parser<Q> parser, Answerer<Q> answerer)
        implements GrpcMethod {

    public static <Q extends Message> UnaryMethod<Q> of(
            MethodDescriptor<Q, ?> method, Parser<Q> parser, Answerer<Q> answerer) {
        return new UnaryMethod<>(method.getFullMethodName(), parser, answerer);
    }

    /** What to answer. */
    @FunctionalInterface
    public interface Answerer<Q> {

        /**
         * Asked on the caller's event loop, and answers there; must not block it. Refuses by a failure with an {@link
         * io.understudy.gateway.api.ApiException}. Nobody waits for the answer once the caller's deadline has passed.
         */
        Future<Reply> answer(Caller caller, Q request);
    }
}
