package io.understudy.mirror.kafka;

import io.understudy.kafka.KafkaErrors;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.sink.SinkException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.protocol.Errors;
import org.jspecify.annotations.Nullable;

/** Maps failures of Kafka clients to those of a sink. */
final class KafkaFailures {

    private KafkaFailures() {}

    /**
     * Returns the exception of a failed call.
     *
     * @param operation that the call requires
     */
    static SinkException explained(String doing, AclOperation operation, KafkaSettings settings, Throwable failure) {
        if (failure instanceof SinkException explained) {
            return explained;
        }
        if (failure instanceof InterruptedException || failure instanceof InterruptException) {
            Thread.currentThread().interrupt();
            return new SinkException.Stopped(doing);
        }
        ConfigException setting = setting(failure);
        if (setting != null) {
            return new SinkException.Refused(
                    doing + " failed: invalid Kafka client setting: " + innermost(setting), failure);
        }
        Throwable cause = root(failure);
        String message = doing + " failed: "
                + (cause instanceof TimeoutException
                        ? "no response within " + settings.timeout().toMillis() + " ms"
                        : KafkaErrors.text(cause, settings, operation));
        return passes(cause)
                ? new SinkException.Unavailable(message, cause)
                : new SinkException.Refused(message, cause);
    }

    /** Whether the broker rejects the producer: it was replaced, or its transaction timed out. */
    static boolean isFenced(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProducerFencedException || cause instanceof InvalidProducerEpochException) {
                return true;
            }
        }
        return false;
    }

    /** Whether the broker rejects a transaction timeout; the producer forwards only the message. */
    static boolean isTimeoutTooLarge(Throwable failure) {
        return String.valueOf(failure.getMessage()).contains(Errors.INVALID_TRANSACTION_TIMEOUT.message());
    }

    /** Whether the broker has ended the transaction, perhaps since its timeout has passed. */
    static boolean isAborted(Throwable failure) {
        Throwable cause = root(failure);
        return isFenced(failure)
                || cause instanceof InvalidTxnStateException
                || cause instanceof TransactionAbortableException
                || cause instanceof TransactionAbortedException;
    }

    /** Whether the failure is temporary, or ends with a new producer. */
    private static boolean passes(Throwable cause) {
        return cause instanceof RetriableException
                || KafkaErrors.isAccess(cause)
                // Returned by a broker that has just started, before it counts itself.
                || cause instanceof InvalidReplicationFactorException
                // Created concurrently: the next read finds it.
                || cause instanceof TopicExistsException
                || cause instanceof OutOfOrderSequenceException
                || cause instanceof UnknownProducerIdException
                || cause instanceof InvalidPidMappingException
                || cause instanceof InvalidTxnStateException
                || cause instanceof TransactionAbortableException
                || cause instanceof TransactionAbortedException
                || cause instanceof TimeoutException
                || (cause instanceof KafkaException && !(cause instanceof ApiException));
    }

    /** Returns the failure of a client setting; null if that is not the cause. */
    private static @Nullable ConfigException setting(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            // Also caused by a lost network.
            boolean isNameUnknown = String.valueOf(cause.getMessage()).contains("No resolvable bootstrap urls");
            if (cause instanceof ConfigException setting && !isNameUnknown) {
                return setting;
            }
        }
        return null;
    }

    private static @Nullable String innermost(Throwable failure) {
        Throwable cause = failure;
        for (Throwable next = cause.getCause(); next != null; next = next.getCause()) {
            cause = next;
        }
        return cause.getMessage();
    }

    /** Clients wrap the broker's error: "we are in an error state". */
    private static Throwable root(Throwable failure) {
        Throwable found = failure;
        @Nullable Throwable next = failure;
        while (next != null && !(found instanceof ApiException)) {
            if (next instanceof ApiException || found instanceof ExecutionException) {
                found = next;
            }
            next = next.getCause();
        }
        return found;
    }
}
