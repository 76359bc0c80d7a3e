package io.understudy.gateway.server;

import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.grpc.MethodDescriptor;
import io.understudy.gateway.api.ApiException;

/**
 * A method with one request and one answer, given at once.
 *
 * @param fullName such as {@code etcdserverpb.KV/Range}
 */
public record UnaryMethod<Q extends Message, A extends Message>(
        String fullName, Parser<Q> parser, Answer<Q, A> answer) {

    public static <Q extends Message, A extends Message> UnaryMethod<Q, A> of(
            MethodDescriptor<Q, A> method, Parser<Q> parser, Answer<Q, A> answer) {
        return new UnaryMethod<>(method.getFullMethodName(), parser, answer);
    }

    /** What to answer. Runs on an event loop and must not wait. */
    @FunctionalInterface
    public interface Answer<Q, A> {
        A answer(Q request) throws ApiException;
    }
}
