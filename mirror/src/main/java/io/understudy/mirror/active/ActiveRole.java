package io.understudy.mirror.active;

import io.understudy.vocabulary.ElectionState;
import java.time.Duration;

/** Whether this process is the active one of a mirror. Thread-safe. */
public interface ActiveRole extends AutoCloseable {

    /** The role of a mirror with only one process. */
    ActiveRole ALWAYS = new ActiveRole() {
        @Override
        public ElectionState state() {
            return new ElectionState.Active();
        }

        @Override
        public void awaitChange(ElectionState seen, Duration atMost) {}

        @Override
        public long activation() {
            return 1;
        }

        @Override
        public boolean isConfirmed(long activation) {
            return true;
        }

        @Override
        public void compete(boolean competes) {}

        @Override
        public void close() {}
    };

    /** Returns the locally known state; never waits for the network. */
    ElectionState state();

    default boolean isActive() {
        return state() instanceof ElectionState.Active;
    }

    /** Returns when the state is another one than {@code seen}, or after {@code atMost}. */
    void awaitChange(ElectionState seen, Duration atMost) throws InterruptedException;

    /** Returns how often this process became active. The number changes whenever the role was lost, however briefly. */
    long activation();

    /**
     * Reads once from the target whether this process has been active since {@link #activation} {@code activation}.
     * Returns false also if there is no answer.
     */
    boolean isConfirmed(long activation) throws InterruptedException;

    /**
     * Competes for the role, or stops and releases it soon. Idempotent; never waits.
     *
     * @param competes false from the start, unless the role is {@link #ALWAYS} held
     */
    void compete(boolean competes);

    /** Releases the role, at once if the target answers. Waits for two seconds at most. Idempotent. */
    @Override
    void close();
}
