package io.understudy.consumer;

import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.StrayRecords;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a mirror's topics: first a state, then every later commit once and in order.
 *
 * <p>The caller stores the {@link Position} of an event together with its effects, and opens the next consumer with it.
 * There is no consumer group, and nothing is committed to Kafka. If the topics no longer continue at the position, or were
 * written from scratch, {@link Event.StateBegin} announces the state again.
 *
 * <p>Memory holds the records of one poll, unfinished commits, and while the state is read a hash of each key. Not
 * thread-safe.
 */
public final class MirrorConsumer<K, V> implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorConsumer.class);

    /** In a row; each takes as long as tombstones are kept. */
    private static final int MAX_LATE_READS = 3;

    /** Between two requests while Kafka is away. */
    private static final long RETRY_MILLIS = 200;

    private final ConsumerOptions<K, V> options;
    private final Topics topics;
    private final AtomicLong strayCount = new AtomicLong();
    private final StrayRecords strays = new StrayRecords(strayCount::incrementAndGet);
    private final ArrayDeque<Event<K, V>> ready = new ArrayDeque<>();

    private @Nullable Position resumeAt;
    private @Nullable StateReader<K, V> state;
    private @Nullable ChangeReader<K, V> changes;
    /** Whether the change topic was found to continue at the state or position. */
    private boolean following;

    private int lateReads;
    private @Nullable RuntimeException failure;
    private @Nullable String retried;

    private MirrorConsumer(ConsumerOptions<K, V> options, @Nullable Position position) {
        this.options = options;
        this.topics = new Topics(options.kafka());
        this.resumeAt = position;
    }

    /**
     * Opens a consumer; it connects in {@link #next}.
     *
     * @param position to resume at; null to begin with the state
     * @throws IllegalArgumentException a property is reserved
     * @throws org.apache.kafka.common.KafkaException a property is invalid
     */
    public static <K, V> MirrorConsumer<K, V> open(ConsumerOptions<K, V> options, @Nullable Position position) {
        return new MirrorConsumer<>(options, position);
    }

    /**
     * Returns the next event, or null after the timeout. Failures that a retry can resolve are retried until then.
     * A request to Kafka that is under way may exceed it by up to 5 s.
     *
     * @throws org.apache.kafka.common.KafkaException Kafka rejects the request, for example for lack of an ACL; the
     *     consumer remains usable
     * @throws MirrorConsumerException the topics cannot be read on; repeated by every later call
     */
    public @Nullable Event<K, V> next(Duration timeout) {
        topics.deadline(timeout);
        while (ready.isEmpty()) {
            RuntimeException failed = failure;
            if (failed != null) {
                throw failed;
            }
            step();
            if (ready.isEmpty() && topics.remaining().isZero()) {
                return null;
            }
        }
        return ready.poll();
    }

    /** Number of stray records skipped so far. */
    public long strays() {
        return strayCount.get();
    }

    @Override
    public void close() {
        topics.close();
    }

    private void step() {
        List<Event<K, V>> events = new ArrayList<>();
        try {
            read(events);
            retried = null;
            ready.addAll(events);
        } catch (RestartException e) {
            // Commits that were complete before are not lost.
            ready.addAll(events);
            lateReads = e.isLate() ? lateReads + 1 : 0;
            restart(e.reason());
        } catch (OffsetOutOfRangeException e) {
            ready.addAll(events);
            restart("topic no longer has the next records: " + e.getMessage());
        } catch (RetriableException e) {
            ready.addAll(events);
            retry(e);
        } catch (MirrorConsumerException e) {
            ready.addAll(events);
            failure = e;
        } catch (RuntimeException e) {
            ready.addAll(events);
            throw e;
        }
    }

    private void read(List<Event<K, V>> events) throws RestartException {
        Position position = resumeAt;
        if (!following && position == null) {
            bootstrap(events);
            return;
        }
        ChangeReader<K, V> following = changes;
        if (following == null) {
            following = new ChangeReader<>(topics, options, strays);
        }
        if (position != null) {
            following.resume(position);
            changes = following;
            resumeAt = null;
            this.following = true;
        }
        following.read(events);
    }

    private void bootstrap(List<Event<K, V>> events) throws RestartException {
        StateReader<K, V> reading = state;
        if (reading == null) {
            reading = new StateReader<>(topics, options, strays);
            state = reading;
            events.add(new Event.StateBegin<>("no position"));
        }
        ChangeReader<K, V> finding = changes;
        if (finding == null) {
            if (!reading.read(events)) {
                return;
            }
            finding = new ChangeReader<>(topics, options, strays);
            changes = finding;
        }
        Position found = finding.find(reading.cluster(), reading.generation(), reading.revision());
        if (found != null) {
            events.add(new Event.StateEnd<>(found));
            state = null;
            following = true;
            lateReads = 0;
        }
    }

    private void restart(String reason) {
        LOG.atWarn()
                .addKeyValue("topic", options.topic())
                .addKeyValue("cause", reason)
                .log("reading the state again");
        resumeAt = null;
        changes = null;
        following = false;
        if (lateReads == MAX_LATE_READS) {
            failure = new MirrorConsumerException(reason + ", " + MAX_LATE_READS + " times");
            return;
        }
        state = new StateReader<>(topics, options, strays);
        ready.add(new Event.StateBegin<>(reason));
        pause();
    }

    private void retry(RetriableException e) {
        String cause = e.getClass().getSimpleName() + ": " + e.getMessage();
        if (!cause.equals(retried)) {
            retried = cause;
            // What Kafka reports of a wrong name, too.
            LOG.atWarn()
                    .addKeyValue("topic", options.topic())
                    .addKeyValue("cause", cause)
                    .log("Kafka request failed; retrying");
        }
        pause();
    }

    private void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(
                    Math.min(RETRY_MILLIS, topics.remaining().toMillis()));
        } catch (InterruptedException interrupted) {
            throw new InterruptException(interrupted);
        }
    }

    /** Counts a stray record; a record of another format ends the consumer, which would lose data otherwise. */
    static void skip(
            ConsumerRecord<byte[], byte[]> record, MalformedRecordException why, @Nullable StrayRecords strays) {
        if (why.isOtherFormat()) {
            throw new MirrorConsumerException(why.getMessage(), why);
        }
        if (strays != null) {
            strays.skipped(record, why.getMessage());
        }
    }
}
