package io.understudy.vocabulary;

import java.util.concurrent.ThreadFactory;

/** Threads that do not keep the process running. */
public final class DaemonThreads {

    private DaemonThreads() {}

    /** Returns a factory of threads with that name. */
    public static ThreadFactory named(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Runs the task on a thread of its own. */
    public static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
