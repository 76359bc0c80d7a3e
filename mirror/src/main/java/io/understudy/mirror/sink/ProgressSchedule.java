package io.understudy.mirror.sink;

import io.understudy.vocabulary.Revision;
import java.time.Duration;

/**
 * When a checkpoint is moved though nothing in the range has changed: seldom, since each time is a write, yet often enough
 * that little has to be passed over, and nothing is compacted away, before the mirror resumes there. One thread at
 * a time.
 */
public final class ProgressSchedule {

    /** Further ahead than this the checkpoint is moved at once. */
    private static final long MAX_REVISIONS = 1_000;

    private final Duration interval;
    private long storedNanos = System.nanoTime();
    private volatile boolean wanted;

    /**
     * A schedule for one checkpoint.
     *
     * @param interval how often at most, unless much has happened
     */
    public ProgressSchedule(Duration interval) {
        this.interval = interval;
    }

    /** Whether a checkpoint stored at {@code stored} should be moved to {@code reached}. */
    public boolean isDue(Revision stored, Revision reached) {
        long ahead = reached.value() - stored.value();
        return ahead >= MAX_REVISIONS
                || (ahead > 0 && (wanted || System.nanoTime() - storedNanos >= interval.toNanos()));
    }

    /** The checkpoint is to be moved as soon as possible: a take-over waits for it. Any thread. */
    public void hurry() {
        wanted = true;
    }

    /** The checkpoint was just stored. */
    public void stored() {
        wanted = false;
        storedNanos = System.nanoTime();
    }
}
