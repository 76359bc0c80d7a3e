package io.understudy.mirror.sink;

import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The writer for one target. Driven by one thread, the mirror's, which it blocks while the target is slow or away: that
 * is the back pressure. The getters may be called from any thread.
 *
 * <p>Every method may throw a {@link SinkException}; after one the sink is only closed.
 */
public interface Sink extends FeedConsumer, AutoCloseable {

    /**
     * Takes the target over and reads its checkpoint. Called once, before anything else.
     *
     * @return where the feed resumes; null if it must begin with a snapshot
     */
    @Nullable FeedStart open();

    /**
     * The source no longer has the history that was mirrored. If this returns, a snapshot of the other one comes next.
     *
     * @param why the feed ended
     * @throws FeedEndedException {@code why} itself, if that is the end of the mirror
     */
    void sourceReset(FeedEndedException why) throws FeedEndedException;

    /**
     * How long to wait for more before {@link #caughtUp}. Called whenever the feed has nothing more at this moment, and
     * again after that long.
     */
    Duration pause();

    /** Called whenever the feed has nothing more at this moment, before it is waited for: what was given needs not wait for more. */
    void caughtUp();

    /** Called whenever nothing more waits to be written: what was given so far is made durable, soon. */
    void settle();

    /** As last stored in the target; null before the first. */
    @Nullable Checkpoint checkpoint();

    /** The target durably holds everything up to here, {@link Revision#ZERO} if it holds no state of the source. */
    Revision complete();

    /** Releases the target. Data that is not durable by then is lost. Idempotent. */
    @Override
    void close();
}
