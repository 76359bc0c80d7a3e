package io.understudy.cli;

import io.understudy.cluster.run.RunListener.CatchUpRate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** A progress bar on standard error, if that is a terminal. Not thread-safe. */
final class TerminalBar implements AutoCloseable {

    private static final Duration DELAY = Duration.ofSeconds(2);
    private static final int STANDARD_ERROR = 2;

    private final boolean isTerminal = isTerminal(STANDARD_ERROR);
    private final long beganNanos = System.nanoTime();
    private @Nullable ProgressBar bar;

    /** Shows the number of compared keys, after a delay. */
    void comparing(long keys) {
        if (System.nanoTime() - beganNanos > DELAY.toNanos()) {
            show("comparing", "keys", keys, -1);
        }
    }

    /** Shows the progress of a learner. */
    void show(CatchUpRate rate) {
        show(rate.label(), rate.unit().toString(), rate.done(), rate.target());
    }

    private void show(String task, String unit, long done, long total) {
        if (!isTerminal) {
            return;
        }
        ProgressBar open = bar;
        if (open == null) {
            open = new ProgressBarBuilder()
                    .setTaskName(task)
                    .setUnit(" " + unit, 1)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setInitialMax(total)
                    .startsFrom(done, Duration.ZERO)
                    .showSpeed()
                    .build();
            bar = open;
        }
        open.maxHint(total);
        open.stepTo(done);
    }

    @Override
    public void close() {
        ProgressBar open = bar;
        if (open != null) {
            open.close();
            bar = null;
        }
    }

    /** Whether a file descriptor is a terminal. Linux only, as the JDK has no function for a single stream. */
    static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }
}
