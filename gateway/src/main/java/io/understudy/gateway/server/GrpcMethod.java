package io.understudy.gateway.server;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.understudy.gateway.api.SentRequests;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;
import java.util.concurrent.Executor;

/** A method that is served over gRPC. */
public sealed interface GrpcMethod {

    /** Such as {@code etcdserverpb.KV/Range}. */
    String fullName();

    /**
     * A method with one request and one answer.
     *
     * @param type of the request
     */
    record UnaryMethod<Q extends Message>(String fullName, Descriptor type, Decoder<Q> decoder, Answerer<Q> answerer)
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

    /**
     * A method with any number of messages in both directions, in their wire encoding.
     *
     * @param keepsMetadata whether {@code starter} may keep the metadata, which then count as held memory during the
     *     call
     */
    record CallMethod(MethodDescriptor<byte[], byte[]> descriptor, boolean keepsMetadata, Starter starter)
            implements GrpcMethod {

        @Override
        public String fullName() {
            return descriptor.getFullMethodName();
        }

        /** Starts a call when its headers have arrived. */
        @FunctionalInterface
        public interface Starter {

            /**
             * Runs on the caller's event loop and must not block it.
             *
             * @param call to be used on {@code loop} only; cancelled once the deadline has passed or the client has
             *     disconnected
             * @param metadata of the request
             * @param loop the event loop of the caller's connection
             * @return the listener of the client's messages, as many as were requested, on {@code loop}
             */
            ServerCall.Listener<byte[]> start(MessageCall call, Metadata metadata, Caller caller, Executor loop);
        }
    }
}
