package io.understudy.gateway.forward;

import io.grpc.Attributes;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;

/**
 * Whether a call has left this process, and whether its end is the other side's word. Told by gRPC on its threads, asked
 * after the call has ended.
 *
 * <p>A stream is created only on a connection that stands; before that, the call was held back in this process. Once
 * there is one, any byte may be under way.
 */
final class SendingRecord extends ClientStreamTracer.Factory {

    private final Runnable leaving;
    private volatile boolean created;
    private volatile boolean answered;

    /** {@code leaving} is run when a connection was given the call. */
    SendingRecord(Runnable leaving) {
        this.leaving = leaving;
    }

    /** No connection was ever given the call. */
    boolean provablyNotSent() {
        return !created;
    }

    /** The status came from the other side; otherwise it was made here. */
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
