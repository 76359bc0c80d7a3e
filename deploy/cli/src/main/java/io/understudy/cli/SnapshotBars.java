package io.understudy.cli;

import io.understudy.lab.progress.Progress;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorReport.SnapshotProgress;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.vocabulary.DaemonThreads;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress bars on the terminal, one for each mirror that copies a snapshot. */
final class SnapshotBars {

    private static final int LOOK_MILLIS = 500;

    private final Map<String, ProgressBar> bars = new HashMap<>();

    private final Function<String, ProgressBar> opening;

    /** @param opening creates a mirror's bar */
    SnapshotBars(Function<String, ProgressBar> opening) {
        this.opening = opening;
    }

    /** Shows the progress in {@code reports} until the JVM ends, if standard error is a terminal. */
    static void show(Supplier<List<MirrorReport>> reports) {
        if (!Progress.isTerminal(System.getenv())) {
            return;
        }
        SnapshotBars shown = new SnapshotBars(SnapshotBars::open);
        ScheduledExecutorService clock =
                Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("snapshot-bars"));
        var unused = clock.scheduleAtFixedRate(
                () -> reports.get().forEach(shown::show), LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    void show(MirrorReport report) {
        SnapshotProgress progress = report.snapshot();
        if (progress == null) {
            ProgressBar ended = bars.remove(report.mirror());
            if (ended != null) {
                if (report.state() == MirrorState.SYNCED) {
                    // The last keys came after the last look, or were counted and are gone.
                    ended.stepTo(Math.max(ended.getMax(), ended.getCurrent()));
                }
                ended.close();
            }
            return;
        }
        ProgressBar bar = bars.computeIfAbsent(report.mirror(), opening);
        // Less than 1 is shown as not known.
        bar.maxHint(progress.total().orElse(-1));
        if (progress.keys() > bar.getCurrent()) {
            // Not once all are given: while the last are written it would fall.
            bar.setExtraMessage(" " + Math.round(progress.keysPerSecond()) + " keys/s");
        }
        bar.stepTo(progress.keys());
    }

    private static ProgressBar open(String mirror) {
        return new ProgressBarBuilder()
                .setTaskName(mirror)
                .setUnit(" keys", 1)
                .setInitialMax(-1)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(LOOK_MILLIS)
                .build();
    }
}
