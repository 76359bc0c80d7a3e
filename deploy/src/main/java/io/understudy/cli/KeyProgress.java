package io.understudy.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** How many keys have been worked on and how fast, on standard error, if that is a terminal and it takes a while. */
final class KeyProgress implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final int STANDARD_ERROR = 2;

    private final String task;
    private final boolean shown;
    private final long beganNanos = System.nanoTime();
    private @Nullable ProgressBar bar;

    private KeyProgress(String task, boolean shown) {
        this.task = task;
        this.shown = shown;
    }

    static KeyProgress onStandardError(String task) {
        return new KeyProgress(task, isTerminal());
    }

    void at(long keys) {
        if (!shown) {
            return;
        }
        ProgressBar open = bar;
        if (open == null && System.nanoTime() - beganNanos > PATIENCE.toNanos()) {
            open = new ProgressBarBuilder()
                    .setTaskName(task)
                    .setUnit(" keys", 1)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setInitialMax(-1)
                    .showSpeed()
                    .build();
            bar = open;
        }
        if (open != null) {
            open.stepTo(keys);
        }
    }

    @Override
    public void close() {
        ProgressBar open = bar;
        if (open != null) {
            open.close();
        }
    }

    static boolean isTerminal() {
        return isTerminal(STANDARD_ERROR);
    }

    /** Linux only: the JDK can't tell for a single stream. */
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
