package io.understudy.local.process;

/** A server with data of its own, which is started again after it ended. */
public interface RunningServer {

    /** The process or container that it runs in. */
    ServerProcess process();

    /** Starts it with the data it has and waits until it serves. */
    void start();

    /** Ends it in order. */
    default void stop() {
        process().stop();
    }

    /** Ends it with SIGKILL. */
    default void kill() {
        process().kill();
    }

    /** Stalls it: connections stay open, nothing answers. */
    default void pause() {
        process().pause();
    }

    /** Resumes it after a pause. */
    default void resume() {
        process().resume();
    }

    /** Stops it and starts it again with the same data. */
    default void restart() {
        stop();
        start();
    }
}
