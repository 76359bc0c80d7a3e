package io.understudy.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Work that a signal interrupts, and that then undoes what it did before the process ends. */
final class Interruptible {

    private static final int INTERRUPTED = 130;
    private static final long END_SECONDS = 120;
    private static final long SHOWN_MILLIS = 1_000;

    private Interruptible() {}

    /** Runs it on this thread. */
    static <T> T run(Supplier<T> work) {
        Thread worker = Thread.currentThread();
        CountDownLatch ended = new CountDownLatch(1);
        Thread hook = new Thread(
                () -> {
                    worker.interrupt();
                    try {
                        boolean unused = ended.await(END_SECONDS, TimeUnit.SECONDS);
                        worker.join(SHOWN_MILLIS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    Runtime.getRuntime().halt(INTERRUPTED);
                },
                "interrupt");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            return work.get();
        } finally {
            ended.countDown();
            try {
                boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The hook runs, and ends the process.
            }
        }
    }
}
