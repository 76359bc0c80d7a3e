package io.understudy.feed.kafka;

import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.kafka.KafkaFeedSource.KafkaFeedMetrics;
import io.understudy.kafka.KafkaErrors;
import io.understudy.kafka.KafkaSettings;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which of Kafka's failures pass, and whether one lasts. Owned by the feed's thread.
 *
 * <p>Invariant FK7: a feed waits for an unavailable broker, and never delivers an aborted transaction.
 */
final class Outages {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaFeed.class);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Brokers log each rejected attempt. */
    private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Times the patience with topics that were never seen: their writer may be starting, too. */
    private static final int PATIENCE_AT_FIRST = 6;

    private final String topics;
    private final KafkaSettings settings;
    private final KafkaFeedMetrics metrics;
    private boolean away;
    /** Whether the topics were there once. */
    private boolean seen;

    /** Since when Kafka reports that there is no such topic; 0 if it doesn't. */
    private long missingNanos;

    private long pauseNanos = PAUSE_NANOS;
    private long pausedUntilNanos = System.nanoTime();

    /**
     * Starts available.
     *
     * @param settings their timeout is the limit for a missing topic, longer for one that never existed
     */
    Outages(String topics, KafkaSettings settings, KafkaFeedMetrics metrics) {
        this.topics = topics;
        this.settings = settings;
        this.metrics = metrics;
    }

    /** Leaves Kafka alone for a moment after a failure. Returns false if that is not over by the deadline. */
    boolean pause(long deadline) throws InterruptedException {
        long wait = Math.min(pausedUntilNanos, deadline) - System.nanoTime();
        if (wait > 0) {
            TimeUnit.NANOSECONDS.sleep(wait);
        }
        return System.nanoTime() - pausedUntilNanos >= 0;
    }

    /** Kafka answers. */
    void over() {
        missingNanos = 0;
        pauseNanos = PAUSE_NANOS;
        seen = true;
        if (away) {
            away = false;
            LOG.atInfo().addKeyValue("topics", topics).log("Kafka available again");
        }
    }

    /**
     * Kafka failed.
     *
     * @throws Unexplained it won't get better by itself
     */
    void failed(KafkaException failure) throws Unexplained {
        if (failure instanceof WakeupException) {
            return;
        }
        boolean isAccess = KafkaErrors.isAccess(failure);
        if (!isAccess && !(failure instanceof RetriableException) && !isNameUnknown(failure)) {
            throw new Unexplained("cannot read topics " + topics + " from Kafka: " + text(failure), failure);
        }
        if (!(failure instanceof UnknownTopicOrPartitionException)) {
            missingNanos = 0;
        } else if (missingNanos == 0) {
            missingNanos = System.nanoTime();
        } else if (System.nanoTime() - missingNanos > settings.timeout().toNanos() * (seen ? 1 : PATIENCE_AT_FIRST)) {
            throw new Unexplained(
                    "one of the topics " + topics + " does not exist; start the mirror or MirrorMaker that writes"
                            + " them, or correct the topic names: " + text(failure),
                    failure);
        }
        if (!away) {
            away = true;
            metrics.away();
            LOG.atWarn()
                    .addKeyValue("topics", topics)
                    .addKeyValue("cause", text(failure))
                    .log("Kafka unavailable; retrying");
        }
        pausedUntilNanos = System.nanoTime() + pauseNanos;
        if (isAccess) {
            pauseNanos = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
        }
    }

    /** No broker's name resolves, which is how a machine is that has lost its network. */
    private static boolean isNameUnknown(KafkaException failure) {
        return failure.getCause() instanceof ConfigException cause
                && String.valueOf(cause.getMessage()).contains("No resolvable bootstrap urls");
    }

    private String text(KafkaException failure) {
        Throwable cause = failure.getCause();
        Throwable shown = cause == null || KafkaErrors.isAccess(failure) ? failure : cause;
        return KafkaErrors.text(shown, settings, AclOperation.READ);
    }
}
