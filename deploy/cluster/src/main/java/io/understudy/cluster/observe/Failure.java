package io.understudy.cluster.observe;

import io.grpc.Status;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * The reason why a member is unhealthy.
 *
 * @param isTimeout whether it timed out; a refused connection and an error are responses
 * @param isRejection whether a process responded and rejected the request, for another cause than a lost quorum
 */
public record Failure(String text, boolean isTimeout, boolean isRejection) {

    private static final Set<EtcdError> WITHOUT_QUORUM = EnumSet.of(
            EtcdError.NO_LEADER,
            EtcdError.LEADER_CHANGED,
            EtcdError.TIMEOUT,
            EtcdError.TIMEOUT_LEADER_FAILED,
            EtcdError.TIMEOUT_CONNECTION_LOST,
            EtcdError.TIMEOUT_NOT_APPLIED,
            EtcdError.STOPPED,
            EtcdError.NOT_CAPABLE,
            EtcdError.LEARNER_NOT_SUPPORTED);

    static Failure of(Throwable failure, Duration deadline) {
        boolean isTimeout = Status.fromThrowable(failure).getCode() == Status.Code.DEADLINE_EXCEEDED
                || chain(failure)
                        .anyMatch(cause -> cause instanceof TimeoutException || cause instanceof HttpTimeoutException);
        return isTimeout
                ? timeout(deadline)
                : new Failure(EtcdErrors.text(failure), false, !isUnreachable(failure) && !isWithoutQuorum(failure));
    }

    static Failure timeout(Duration deadline) {
        long tenths = Math.max(1, Math.round(deadline.toMillis() / 100.0));
        return new Failure("no response within " + tenths / 10.0 + " s", true, false);
    }

    /** A closed connection is none of these: a TLS port closes one without TLS. */
    private static boolean isUnreachable(Throwable failure) {
        return chain(failure)
                .anyMatch(cause -> cause instanceof ConnectException
                        || cause instanceof NoRouteToHostException
                        || cause instanceof UnknownHostException);
    }

    /** As of a login, which needs the quorum; gRPC may prepend its own text to etcd's. */
    private static boolean isWithoutQuorum(Throwable failure) {
        String text = EtcdErrors.text(failure);
        return WITHOUT_QUORUM.contains(EtcdErrors.error(text.substring(Math.max(0, text.indexOf("etcdserver: ")))));
    }

    private static Stream<Throwable> chain(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
    }
}
