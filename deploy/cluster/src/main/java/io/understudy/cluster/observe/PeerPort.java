package io.understudy.cluster.observe;

import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
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

    /**
     * Returns why the host of a peer URL is not reachable; empty if it is, also if no server runs there yet.
     *
     * <p>Completes by the deadline.
     */
    public static CompletableFuture<Optional<String>> unreachable(URI url, Duration deadline) {
        CompletableFuture<Optional<String>> reason = new CompletableFuture<Optional<String>>()
                .completeOnTimeout(
                        Optional.of("no response within " + deadline.toSeconds() + " s"),
                        deadline.toMillis(),
                        TimeUnit.MILLISECONDS);
        DaemonThreads.start("peer-url-probe", () -> {
            try (Socket socket = new Socket()) {
                // Resolves the host, which may take longer than the deadline.
                socket.connect(
                        new InetSocketAddress(url.getHost(), url.getPort()), Math.toIntExact(deadline.toMillis()));
                reason.complete(Optional.empty());
            } catch (UnknownHostException e) {
                reason.complete(Optional.of("unknown host " + url.getHost()));
            } catch (SocketTimeoutException e) {
                // The deadline has the text.
                return;
            } catch (IOException e) {
                String why = String.valueOf(e.getMessage());
                reason.complete(why.startsWith("Connection re") ? Optional.empty() : Optional.of(why));
            }
        });
        return reason;
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
