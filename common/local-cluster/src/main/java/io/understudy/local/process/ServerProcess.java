package io.understudy.local.process;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * One server that can be started, stopped and disturbed, wherever it runs. Starting again keeps its data. Safe for use
 * by several threads, one operation at a time.
 */
public interface ServerProcess extends AutoCloseable {

    /** Name for people: in messages and file names. */
    String name();

    /**
     * Starts the server and returns as soon as it runs; whether it serves is for the caller to find out.
     *
     * @throws IllegalStateException it runs already, or was closed
     * @throws java.io.UncheckedIOException it could not be started
     */
    void start();

    /** Ends it by SIGTERM, kills it if it has not ended after ten seconds, returns when it is gone. */
    void stop();

    /** Ends it at once (SIGKILL), also when paused; returns when it is gone. Does nothing to one that doesn't run. */
    void kill();

    /**
     * Stalls it (SIGSTOP), returns when none of its threads runs any more: its sockets stay open, nothing answers.
     * Idempotent.
     *
     * @throws IllegalStateException it doesn't run
     */
    void pause();

    /** Resumes a paused one (SIGCONT). Idempotent; does nothing to one that doesn't run. */
    void resume();

    /** Whether it is there: started and not ended; a paused one is there. */
    boolean isAlive();

    /** Whether it is there and paused. */
    boolean isPaused();

    /** Exit status of the last run that ended, 128 + n after signal n; empty before. */
    OptionalInt exitStatus();

    /** Process id on this machine while it is there, if it has one here. */
    OptionalLong pid();

    /** What it prints, over all its runs. */
    ServerLog log();

    /** Kills it for good, unless its host lets servers outlive this process. Idempotent. */
    @Override
    void close();
}
