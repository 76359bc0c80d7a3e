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

/** Whether something answers at a peer URL. */
public final class PeerPort {

    private PeerPort() {}

    /** Completes with false by the deadline, or if the URL is none that a member could have. */
    public static CompletableFuture<Boolean> answers(EtcdConnections connections, URI url, Duration deadline) {
        try {
            return connections
                    .page(Endpoint.of(url), "/raft/probing", deadline)
                    .handle((page, failure) -> failure == null || !isSilence(failure));
        } catch (IllegalArgumentException e) {
            return CompletableFuture.completedFuture(false);
        }
    }

    /** Who trusts clients' certificates only from another authority still answers. */
    private static boolean isSilence(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return (cause instanceof ConnectException && !isReset(cause))
                || cause instanceof HttpTimeoutException
                || cause instanceof TimeoutException;
    }

    /** Somebody took the connection and ended it, so soon that it counts as one that could not be made. */
    private static boolean isReset(Throwable failure) {
        return String.valueOf(failure.getMessage()).startsWith("Connection reset");
    }
}
