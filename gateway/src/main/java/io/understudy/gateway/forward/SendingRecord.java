package io.understudy.gateway.forward;

import io.grpc.Attributes;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;

/**
 * Records whether a call has left this process, and the origin of its status. Written on gRPC's threads, read after the
 * call has ended.
 *
 * <p>gRPC creates a stream only on an established connection and buffers the call before. Once a stream exists, any
 * byte may have been sent.
 */
final class SendingRecord extends ClientStreamTracer.Factory {

    private final Runnable leaving;
    private volatile boolean created;
    private volatile boolean answered;

    /** @param leaving run when a connection has taken the call */
    SendingRecord(Runnable leaving) {
        this.leaving = leaving;
    }

    /** Whether no connection has taken the call. */
    boolean provablyNotSent() {
        return !created;
    }

    /** Whether the status is from the peer, not from this process. */
    boolean answered() {
        return answered;
    }

    @Override
    public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
        return new ClientStreamTracer() {
            @Override
            public void streamCreated(Attributes transport, Metadata sent) {
                created = true;
                leaving.run();
            }

            @Override
            public void inboundTrailers(Metadata trailers) {
                answered = true;
            }
        };
    }
}
