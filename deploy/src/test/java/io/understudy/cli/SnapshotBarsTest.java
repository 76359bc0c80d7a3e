package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorReport.SnapshotProgress;
import io.understudy.mirror.pipeline.MirrorState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the bars of first synchronisations end with. */
final class SnapshotBarsTest {

    private final List<ProgressBar> opened = new ArrayList<>();
    private final SnapshotBars bars = new SnapshotBars(mirror -> {
        ProgressBar bar = new ProgressBarBuilder()
                .setInitialMax(-1)
                // Only when it ends.
                .setUpdateIntervalMillis((int) TimeUnit.HOURS.toMillis(1))
                .setConsumer(new DelegatingProgressBarConsumer(line -> {}))
                .build();
        opened.add(bar);
        return bar;
    });

    @Test
    void aMirrorThatIsSyncedHasCopiedAllThereIs() {
        bars.show(report(MirrorState.SYNCING, progress(5, 1_000)));
        bars.show(report(MirrorState.SYNCED, null));
        assertThat(opened.get(0).getCurrent()).isEqualTo(10);
        assertThat(opened.get(0).getMax()).isEqualTo(10);
    }

    @Test
    void aSnapshotThatIsGivenUpHasNot() {
        bars.show(report(MirrorState.SYNCING, progress(5, 1_000)));
        bars.show(report(MirrorState.RETRYING, null));
        assertThat(opened.get(0).getCurrent()).isEqualTo(5);
    }

    @Test
    void theRateStaysOnceAllKeysAreGiven() {
        bars.show(report(MirrorState.SYNCING, progress(10, 1_000)));
        bars.show(report(MirrorState.SYNCING, progress(10, 500)));
        assertThat(opened.get(0).getExtraMessage()).isEqualTo(" 1000 keys/s");
    }

    private static SnapshotProgress progress(long keys, double rate) {
        return new SnapshotProgress(keys, OptionalLong.of(10), rate, OptionalLong.empty());
    }

    private static MirrorReport report(MirrorState state, @Nullable SnapshotProgress snapshot) {
        return new MirrorReport(
                "dr",
                "source",
                "target",
                state,
                "",
                Instant.EPOCH,
                null,
                0,
                OptionalLong.empty(),
                OptionalLong.empty(),
                0,
                0,
                0,
                0,
                null,
                snapshot,
                null);
    }
}
