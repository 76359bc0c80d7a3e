package io.understudy.cli;

import io.understudy.config.Unreadable;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import picocli.CommandLine.ExitCode;

/**
 * Holds a started process in the foreground until SIGTERM or SIGINT, then closes it.
 *
 * <p>Invariant DP2: a process that receives SIGTERM or SIGINT closes what it runs and exits with 0.
 */
public final class Foreground {

    private static final int INTERRUPTED = 130;
    private static final long END_SECONDS = 120;
    private static final long SHOWN_MILLIS = 1_000;

    private final AutoCloseable process;
    private final Duration closeDeadline;

    private Foreground(AutoCloseable process, Duration closeDeadline) {
        this.process = process;
        this.closeDeadline = closeDeadline;
    }

    /**
     * Runs a process until the JVM receives a stop signal or the process fails.
     *
     * <p>A stop signal closes the process; the exit status is 0 if it closed within the deadline, otherwise 1.
     *
     * @param failure completes exceptionally if the process fails, and never otherwise
     * @throws Exception the process could not start, or {@code failure} completed
     */
    static <P extends AutoCloseable> int hold(
            Callable<P> start, Function<P, CompletableFuture<?>> failure, Duration closeDeadline) throws Exception {
        CompletableFuture<P> started = new CompletableFuture<>();
        // Stopped during startup, it is closed once it has started.
        AutoCloseable process = () -> {
            P running;
            try {
                running = started.get();
            } catch (CancellationException e) {
                // It did not start.
                return;
            }
            running.close();
        };
        return during(process, closeDeadline, () -> {
            try {
                P running = start.call();
                started.complete(running);
                failure.apply(running).get();
                throw new IllegalStateException("process stopped unexpectedly");
            } catch (ExecutionException e) {
                new Foreground(process, closeDeadline).closedInTime();
                throw e.getCause() instanceof Exception cause ? cause : e;
            } finally {
                started.cancel(false);
            }
        });
    }

    /**
     * Runs {@code body} to its end; a stop signal closes {@code process}, which ends the body.
     *
     * <p>The JVM then exits as with {@link #hold}.
     *
     * @return the result of the body
     */
    public static int during(AutoCloseable process, Duration closeDeadline, Callable<Integer> body) throws Exception {
        Thread hook = new Thread(new Foreground(process, closeDeadline)::stop, "stop");
        Runtime.getRuntime().addShutdownHook(hook);
        int status;
        try {
            status = body.call();
        } finally {
            disarm(hook);
        }
        return status;
    }

    private static void disarm(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is stopping: the hook runs, and decides how it exits.
        }
    }

    /** Halts, since a signal would otherwise determine the JVM's exit status. */
    private void stop() {
        Runtime.getRuntime().halt(closedInTime() ? ExitCode.OK : ExitCode.SOFTWARE);
    }

    private boolean closedInTime() {
        CountDownLatch closed = new CountDownLatch(1);
        Thread closing = new Thread(
                () -> {
                    try {
                        process.close();
                        closed.countDown();
                    } catch (Exception e) {
                        System.err.println("understudy: shutdown failed: " + Unreadable.why(e));
                    }
                },
                "close");
        closing.setDaemon(true);
        closing.start();
        try {
            closing.join(closeDeadline.toMillis());
            return closed.await(0, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Work that may be interrupted. */
    @FunctionalInterface
    interface Work<T, E extends Exception> {
        T run() throws E;
    }

    /** Runs work that a signal interrupts and that reverts its changes before the exit. */
    static <T, E extends Exception> T interruptible(Work<T, E> work) throws E {
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
            return work.run();
        } finally {
            ended.countDown();
            try {
                boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The hook is running and ends the process.
            }
        }
    }
}
