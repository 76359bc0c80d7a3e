package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Passes nothing on: there is nobody who could be.
 *
 * @param why what every client is told
 */
public record RefusedCalls(ApiException why) implements Forwarding {

    @Override
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte @Nullable [] request) {
        return Refusals.end(client, why);
    }
}
