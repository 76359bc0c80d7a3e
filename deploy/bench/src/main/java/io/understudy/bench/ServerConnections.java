package io.understudy.bench;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Connections to one server, used in turn. Safe for use by several threads. */
interface ServerConnections extends AutoCloseable {

    /** Of each request. */
    Duration DEADLINE = Duration.ofSeconds(30);

    /**
     * Sends a request.
     *
     * @return the answer's message or body; fails with {@link NotServedException} if the server doesn't have this method
     */
    CompletableFuture<byte[]> call(byte[] request);

    @Override
    void close();

    static ServerConnections open(Api api, URI server, Access access, int connections) {
        return switch (api) {
            case GRPC -> new GrpcCaller(server, access, connections);
            case JSON -> new JsonCaller(server.resolve(api.path()), api.headers(), access);
        };
    }
}
