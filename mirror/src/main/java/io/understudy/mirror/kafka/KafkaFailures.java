package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownProducerIdException;

/** What a failure of a Kafka client means for the mirror. */
final class KafkaFailures {

    private KafkaFailures() {}

    static SinkException explained(String doing, Throwable failure) {
        Throwable cause =
                failure instanceof ExecutionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof InterruptedException || cause instanceof InterruptException) {
            Thread.currentThread().interrupt();
            return new SinkException.Stopped(doing);
        }
        String message = doing + " failed: " + cause.getClass().getSimpleName() + ": " + cause.getMessage();
        if (cause instanceof RecordTooLargeException) {
            return new SinkException.Refused(
                    message + ". The broker's message.max.bytes and the topic's max.message.bytes must allow "
                            + KafkaSinkOptions.MAX_MESSAGE_BYTES + " bytes, more if the source's --max-request-bytes"
                            + " was raised",
                    cause);
        }
        boolean passes = cause instanceof RetriableException
                // What a broker says that has just started, before it counts itself.
                || cause instanceof InvalidReplicationFactorException
                || cause instanceof OutOfOrderSequenceException
                || cause instanceof UnknownProducerIdException
                || cause instanceof java.util.concurrent.TimeoutException
                || (cause instanceof KafkaException && !(cause instanceof ApiException));
        return passes ? new SinkException.Unavailable(message, cause) : new SinkException.Refused(message, cause);
    }
}
