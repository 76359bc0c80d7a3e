package io.understudy.gateway.server;

import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.grpc.MethodDescriptor;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;

/**
 * A method with one request and one answer.
 *
 * @param fullName such as {@code etcdserverpb.KV/Range}
 */
public record UnaryMethod<Q extends Message, A extends Message>(
        String fullName, Parser<Q> parser, Answer<Q, A> answer) {

    public static <Q extends Message, A extends Message> UnaryMethod<Q, A> of(
            MethodDescriptor<Q, A> method, Parser<Q> parser, Answer<Q, A> answer) {
        return new UnaryMethod<>(method.getFullMethodName(), parser, answer);
    }

    /** What to answer. Asked, and answered, on the caller's event loop. */
    @FunctionalInterface
    public interface Answer<Q, A> {
        /** Refuses by failing with an {@link io.understudy.gateway.api.ApiException}. */
        Future<A> answer(Caller caller, Q request);
    }
}
