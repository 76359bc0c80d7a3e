package io.understudy.mirror.sink;

import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The writer for one target. Driven by the mirror's thread, which it blocks while the target is slow or unavailable, as
 * back pressure. The getters may be called from any thread.
 *
 * <p>Every method may throw a {@link SinkException}; after one the sink is only closed.
 */
public interface Sink extends FeedConsumer, AutoCloseable {

    /**
     * Takes over the target and reads its checkpoint. Called once, before anything else.
     *
     * @return where the feed resumes; null if it must begin with a snapshot
     */
    @Nullable FeedStart open();

    /**
     * Compares the next snapshot before it is written. Called right before {@link #snapshotStarted} if the target may have
     * rejected a commit: the snapshot may have the same entry, and a target with a part of it could not take over.
     */
    default void compareFirst() {}

    /**
     * Handles a source with another history than the mirrored one. If this returns, a snapshot of it comes next.
     *
     * @param why the feed ended
     * @throws FeedEndedException {@code why}, if the mirror must end
     */
    void sourceReset(FeedEndedException why) throws FeedEndedException;

    /**
     * Returns the delay before {@link #caughtUp}. Called whenever the feed has nothing more, and again after that
     * delay.
     */
    Duration pause();

    /** Starts pending writes. Called whenever the feed has nothing more, before waiting for it. */
    void caughtUp();

    /** Makes pending writes durable soon. Called whenever nothing more waits to be written. */
    void settle();

    /** Returns the checkpoint last stored in the target; null before the first. */
    @Nullable Checkpoint checkpoint();

    /** Returns the revision up to which the target is durably complete; {@link Revision#ZERO} for none. */
    Revision complete();

    /** Releases the target. Data that is not yet durable is lost. Idempotent. */
    @Override
    void close();
}
