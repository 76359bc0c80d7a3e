package io.understudy.cluster.observe;

import io.grpc.Status;
import io.understudy.etcd.EtcdErrors;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * The reason why a member is unhealthy.
 *
 * @param isTimeout whether it timed out; a refused connection and an error are responses
 */
public record Failure(String text, boolean isTimeout) {

    static Failure of(Throwable failure, Duration deadline) {
        boolean isTimeout = Status.fromThrowable(failure).getCode() == Status.Code.DEADLINE_EXCEEDED
                || Stream.iterate(failure, cause -> cause != null, Throwable::getCause)
                        .anyMatch(cause -> cause instanceof TimeoutException || cause instanceof HttpTimeoutException);
        return isTimeout ? timeout(deadline) : new Failure(EtcdErrors.text(failure), false);
    }

    static Failure timeout(Duration deadline) {
        long tenths = Math.max(1, Math.round(deadline.toMillis() / 100.0));
        return new Failure("no response within " + tenths / 10.0 + " s", true);
    }
}
