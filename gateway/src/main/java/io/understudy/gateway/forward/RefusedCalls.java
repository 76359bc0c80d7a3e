package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Rejects every call, for a gateway without a source.
 *
 * @param why error of every call
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
