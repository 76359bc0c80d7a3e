package io.understudy.cluster.observe;

import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/** Checks whether a server responds at a peer URL. */
public final class PeerPort {

    private PeerPort() {}

    /** Completes with false by the deadline, or for an invalid peer URL. */
    public static CompletableFuture<Boolean> answers(EtcdConnections connections, URI url, Duration deadline) {
        try {
            return connections
                    .page(Endpoint.of(url), "/raft/probing", deadline)
                    .handle((page, failure) -> failure == null || !isSilence(failure));
        } catch (IllegalArgumentException e) {
            return CompletableFuture.completedFuture(false);
        }
    }

    /** A server that rejects the client certificate still responds. */
    private static boolean isSilence(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return (cause instanceof ConnectException && !isReset(cause))
                || cause instanceof HttpTimeoutException
                || cause instanceof TimeoutException;
    }

    /** Whether a server reset the connection: so early, it looks like a failed connect. */
    private static boolean isReset(Throwable failure) {
        return String.valueOf(failure.getMessage()).startsWith("Connection reset");
    }
}
