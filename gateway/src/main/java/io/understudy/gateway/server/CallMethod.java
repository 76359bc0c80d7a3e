package io.understudy.gateway.server;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.understudy.gateway.caller.Caller;
import java.util.concurrent.Executor;

/**
 * A method with any number of messages in both directions, in their wire encoding.
 *
 * @param keepsMetadata whether {@code starter} may keep the metadata, which then count as held memory during the
 *     call
 */
public record CallMethod(MethodDescriptor<byte[], byte[]> descriptor, boolean keepsMetadata, Starter starter)
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
