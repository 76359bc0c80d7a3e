package io.understudy.cli;

import io.understudy.cluster.run.CatchUpRate;
import java.time.Duration;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** A bar for a learner that catches up, with rate and remaining time, on standard error if that is a terminal. */
final class CatchUpBar implements AutoCloseable {

    private @Nullable ProgressBar bar;

    void show(CatchUpRate rate) {
        if (!KeyProgress.isTerminal()) {
            return;
        }
        ProgressBar open = bar;
        if (open == null) {
            open = new ProgressBarBuilder()
                    .setTaskName(rate.label())
                    .setUnit(" " + rate.unit(), 1)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setInitialMax(rate.target())
                    .startsFrom(rate.done(), Duration.ZERO)
                    .showSpeed()
                    .build();
            bar = open;
        }
        open.maxHint(rate.target());
        open.stepTo(rate.done());
    }

    @Override
    public void close() {
        ProgressBar open = bar;
        if (open != null) {
            open.close();
            bar = null;
        }
    }
}
