package io.understudy.local.process;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A server that can be started, stopped and disturbed, on any host. A restart keeps its data. Safe for use by several
 * threads, one operation at a time.
 */
public interface ServerProcess extends AutoCloseable {

    /** Name for messages and files. */
    String name();

    /**
     * Starts the server and returns without waiting until it serves.
     *
     * @throws IllegalStateException it runs already, or was closed
     * @throws java.io.UncheckedIOException it could not be started
     */
    void start();

    /** Ends it by SIGTERM, or SIGKILL after ten seconds; returns when it is gone. */
    void stop();

    /** Kills it (SIGKILL), also when paused; returns when it is gone. No effect unless it runs. */
    void kill();

    /**
     * Pauses it (SIGSTOP); returns when all threads have stopped. Its sockets stay open. Idempotent.
     *
     * @throws IllegalStateException it doesn't run
     */
    void pause();

    /** Resumes a paused one (SIGCONT). Idempotent; no effect unless it runs. */
    void resume();

    /** Whether it has been started and has not ended, paused or not. */
    boolean isAlive();

    /** Whether it is alive and paused. */
    boolean isPaused();

    /** Returns the exit status of the last run that ended; empty before. After signal n: 128 + n. */
    OptionalInt exitStatus();

    /** Process ID on this machine while it is alive, if it has one here. */
    OptionalLong pid();

    /** Its output, over all its runs. */
    ServerLog log();

    /** Kills it for good, unless its host lets servers outlive this process. Idempotent. */
    @Override
    void close();
}
