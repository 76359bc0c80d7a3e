package io.understudy.mirror.sink;

import io.understudy.vocabulary.Revision;
import java.time.Duration;

/**
 * Decides when a checkpoint advances although nothing in the range has changed. Each time is a write, so it is seldom;
 * it is often enough that the next feed has little to skip, and its start is not compacted. One thread at a time.
 */
public final class ProgressSchedule {

    /** Lead at which the checkpoint advances at once. */
    private static final long MAX_REVISIONS = 1_000;

    private final Duration interval;
    private long storedNanos = System.nanoTime();
    private volatile boolean wanted;

    /**
     * Creates a schedule for one checkpoint.
     *
     * @param interval minimum interval, unless the lead is large
     */
    public ProgressSchedule(Duration interval) {
        this.interval = interval;
    }

    /** Whether a checkpoint at {@code stored} should advance to {@code reached}. */
    public boolean isDue(Revision stored, Revision reached) {
        long ahead = reached.value() - stored.value();
        return ahead >= MAX_REVISIONS
                || (ahead > 0 && (wanted || System.nanoTime() - storedNanos >= interval.toNanos()));
    }

    /** Requests to advance the checkpoint as soon as possible: a take-over waits for it. Any thread. */
    public void hurry() {
        wanted = true;
    }

    /** Records that the checkpoint was stored. */
    public void stored() {
        wanted = false;
        storedNanos = System.nanoTime();
    }
}
