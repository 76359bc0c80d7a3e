package io.understudy.gateway.server;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.understudy.gateway.api.SentRequests;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;

/**
 * A method with one request and one answer.
 *
 * @param type of the request
 */
public record UnaryMethod<Q extends Message>(String fullName, Descriptor type, Decoder<Q> decoder, Answerer<Q> answerer)
        implements GrpcMethod {

    public static <Q extends Message> UnaryMethod<Q> of(
            MethodDescriptor<Q, ?> method, Decoder<Q> decoder, Answerer<Q> answerer) {
        Q any = ((MethodDescriptor.PrototypeMarshaller<Q>) method.getRequestMarshaller()).getMessagePrototype();
        return new UnaryMethod<>(method.getFullMethodName(), any.getDescriptorForType(), decoder, answerer);
    }

    Q decode(byte[] message) throws InvalidProtocolBufferException {
        SentRequests.requireFewFields(type, message);
        return decoder.decode(message);
    }

    /** Decodes a request. */
    @FunctionalInterface
    public interface Decoder<Q> {
        Q decode(byte[] message) throws InvalidProtocolBufferException;
    }

    /** Answers a request. */
    @FunctionalInterface
    public interface Answerer<Q> {

        /**
         * Answers on the caller's event loop, which it must not block. Rejects by a failure with an {@link
         * io.understudy.gateway.api.ApiException}. The answer is dropped once the caller's deadline has passed.
         */
        Future<Reply> answer(Caller caller, Q request);
    }
}
