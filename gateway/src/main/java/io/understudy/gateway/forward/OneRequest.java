package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A call with one request; once that has arrived, the chosen handler takes over. */
public final class OneRequest extends ServerCall.Listener<byte[]> {

    private final ServerCall<byte[], byte[]> client;
    private final Function<byte[], ServerCall.Listener<byte[]>> answerer;
    private byte @Nullable [] request;
    private ServerCall.@Nullable Listener<byte[]> next;
    private boolean over;

    /** @param answerer takes over the call with its request */
    public OneRequest(ServerCall<byte[], byte[]> client, Function<byte[], ServerCall.Listener<byte[]>> answerer) {
        this.client = client;
        this.answerer = answerer;
        // Requests two, so that a second one is detected as a fault.
        client.request(2);
    }

    @Override
    public void onMessage(byte[] message) {
        if (request == null) {
            request = message;
        } else {
            refuse("grpc: more than one request message");
        }
    }

    @Override
    public void onHalfClose() {
        if (request == null) {
            refuse("grpc: request message is missing");
        } else if (!over) {
            next = answerer.apply(request);
        }
    }

    @Override
    public void onReady() {
        if (next != null) {
            next.onReady();
        }
    }

    @Override
    public void onCancel() {
        over = true;
        if (next != null) {
            next.onCancel();
        }
    }

    private void refuse(String why) {
        if (!over) {
            over = true;
            client.close(Status.INTERNAL.withDescription(why), new Metadata());
        }
    }
}
