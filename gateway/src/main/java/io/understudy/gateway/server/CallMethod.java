package io.understudy.gateway.server;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.understudy.gateway.caller.Caller;
import java.util.concurrent.Executor;

/**
 * A method of which messages pass as they are on the wire, in both directions and any number.
 *
 * @param keepsMetadata whether {@code starter} may keep the metadata that it is given; if so they count for as long as the
 *     call lasts
 */
public record CallMethod(MethodDescriptor<byte[], byte[]> descriptor, boolean keepsMetadata, Starter starter)
        implements GrpcMethod {

    @Override
    public String fullName() {
        return descriptor.getFullMethodName();
    }

    /** Takes a call on when its headers have arrived. */
    @FunctionalInterface
    public interface Starter {

        /**
         * Runs on the caller's event loop and must not block it.
         *
         * @param call to be used on {@code loop} only; once the caller's deadline has passed, or the client has gone, it
         *     is cancelled and takes nothing more
         * @param metadata of the request
         * @param loop the event loop of the caller's connection
         * @return the listener of the client's messages, as many as were requested, on {@code loop}
         */
        ServerCall.Listener<byte[]> start(MessageCall call, Metadata metadata, Caller caller, Executor loop);
    }
}
