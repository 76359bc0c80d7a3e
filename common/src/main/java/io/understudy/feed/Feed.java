package io.understudy.feed;

import java.time.Duration;

/**
 * A consistent snapshot of a key range, then every later commit in order, exactly once.
 *
 * <p>Used by one thread at a time, the consumer's, on which all of the feed's work runs. Only {@link #close} and {@link
 * #requestProgress} may be called from others. The feed survives faults of the source: it reconnects, if need be to
 * another member, for as long as it takes. Any other fault ends it with a {@link FeedEndedException}, which every later
 * call repeats.
 *
 * <p>Invariant F1: revisions of the commits that a consumer receives strictly increase.
 *
 * <p>Invariant F2: a commit has all changes of its revision inside the range, whatever its size.
 *
 * <p>Invariant F3: nothing between snapshot and tail, or across a reconnect, is missing or repeated.
 *
 * <p>Invariant F4: all events come from one cluster and one history; a lagging or restarted member does not count as
 * another.
 */
public interface Feed extends AutoCloseable {

    /**
     * Delivers the next event to the consumer, waiting for it up to {@code timeout}.
     *
     * @return false if none came in time
     * @throws FeedEndedException the feed is over; its type gives the reason and what the consumer may do
     * @throws InterruptedException the calling thread was interrupted; the feed is intact
     * @throws IllegalStateException the feed was closed
     */
    boolean poll(Duration timeout, FeedConsumer consumer) throws FeedEndedException, InterruptedException;

    /**
     * Requests progress from the source now, instead of at the feed's own interval. The result is an ordinary {@link
     * FeedConsumer#progress}, or nothing if the source has none. Returns at once; the caller bounds the rate. From any
     * thread.
     */
    void requestProgress();

    /** Returns a number that grows while the source's state is read before the first event; constant if unknown. */
    default long stateRead() {
        return 0;
    }

    /** Releases the feed's streams and connections. Idempotent, thread-safe; wakes a waiting poll. */
    @Override
    void close();
}
