package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.common.acl.AclOperation;
import org.jspecify.annotations.Nullable;

/**
 * Determines why Kafka no longer accepts a mirror's transactions. Kafka returns the same error for another writer and
 * for a transaction that was open too long, as after the suspension of a machine. Another mirror writes a checkpoint when
 * it starts. One thread.
 */
final class Fencing {

    /** Maximum delay between the fencing by another mirror and its first checkpoint. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final long PAUSE_MILLIS = 250;

    private final CheckpointTopic checkpoints;
    private final TopicReader reader;
    private final KafkaSinkOptions options;
    private final Predicate<CheckpointTopic.Stored> isOther;

    /** @param isOther whether another mirror wrote a checkpoint since this one started */
    Fencing(
            CheckpointTopic checkpoints,
            TopicReader reader,
            KafkaSinkOptions options,
            Predicate<CheckpointTopic.Stored> isOther) {
        this.checkpoints = checkpoints;
        this.reader = reader;
        this.options = options;
        this.isOther = isOther;
    }

    /** Returns the exception of a rejected transaction. */
    SinkException explained(String doing, Throwable failure) {
        SinkException fenced = fenced(doing);
        return fenced == null
                ? new SinkException.Unavailable(
                        doing + " failed: Kafka aborted the transaction. No other mirror has written since", failure)
                : fenced;
    }

    /** Returns the failure of a fenced mirror or a failed check; null if no other mirror writes. */
    @Nullable SinkException fenced(String doing) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try {
            do {
                CheckpointTopic.Stored stored = checkpoints.read(reader);
                if (stored != null && isOther.test(stored)) {
                    return new SinkException.Fenced("fenced: another mirror writes to topic " + options.topic() + ", "
                            + stored.checkpoint().writer() + " with epoch "
                            + stored.checkpoint().epoch()
                            + "; transactional.id: "
                            + options.transactionalId());
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            } while (System.nanoTime() - deadline < 0);
        } catch (SinkException e) {
            return e;
        } catch (InterruptedException e) {
            return KafkaFailures.explained(doing, AclOperation.READ, options.kafka(), e);
        }
        return null;
    }
}
