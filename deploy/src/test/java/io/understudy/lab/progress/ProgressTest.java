package io.understudy.lab.progress;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.lab.progress.Progress.Display.LineDisplay;
import io.understudy.lab.progress.Progress.Display.TerminalDisplay;
import io.understudy.lab.progress.Progress.Phase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class ProgressTest {

    private final StringWriter shown = new StringWriter();
    private final PrintWriter out = new PrintWriter(shown);
    private final AtomicLong now = new AtomicLong();

    @Test
    void elsewhereThanOnATerminalEachPhaseIsOneLine() {
        try (Progress progress = new Progress(new LineDisplay(out), now::get)) {
            progress.add("kafka", "");
            progress.change("kafka", Phase.STARTING, "");
            progress.change("kafka", Phase.STARTING, "formatting");
            pass(Duration.ofMillis(6_150));
            progress.change("kafka", Phase.READY, "");
        }

        assertThat(shown.toString().lines()).containsExactly("kafka starting", "kafka ready after 6.1 s");
    }

    @Test
    void aPartThatIsStartedAgainTookWhatThatTakes() {
        try (Progress progress = new Progress(new LineDisplay(out), now::get)) {
            progress.change("mirror", Phase.STARTING, "");
            progress.change("mirror", Phase.READY, "");
            pass(Duration.ofMinutes(1));
            progress.change("mirror", Phase.STARTING, "");
            pass(Duration.ofSeconds(2));
            progress.change("mirror", Phase.READY, "");
        }

        assertThat(shown.toString().lines()).last().isEqualTo("mirror ready after 2.0 s");
    }

    @Test
    void theDetailOfAPartFollowsItsPhase() {
        try (Progress progress = new Progress(new LineDisplay(out), now::get)) {
            progress.change("etcd", Phase.STARTING, "");
            progress.change("etcd", Phase.READY, "3.5.30");
        }

        assertThat(shown.toString()).contains("etcd ready after 0.0 s: 3.5.30");
    }

    @Test
    void onATerminalThePartsAreDrawnAgainInPlace() {
        TerminalDisplay display = new TerminalDisplay(out, 40);
        try (Progress progress = new Progress(display, now::get)) {
            progress.add("core-1", "");
            progress.add("kafka", "");
            progress.change("kafka", Phase.STARTING, "x".repeat(60));
        }

        String lastFrame = shown.toString().substring(shown.toString().lastIndexOf("\u001b[2A"));
        assertThat(lastFrame.split("\n")).hasSize(2).allSatisfy(line -> assertThat(
                        line.replaceAll("\u001b\\[[0-9]*[A-Za-z]|\r", ""))
                .hasSizeLessThan(40));
    }

    @Test
    void aNoteStaysAboveThePartsAndFollowsThemLater() {
        Progress progress = new Progress(new TerminalDisplay(out, 80), now::get);
        progress.add("kafka", "");
        progress.note("taking over");
        progress.close();
        shown.getBuffer().setLength(0);
        progress.note("stopping");

        assertThat(shown.toString()).contains("stopping").doesNotContain("\u001b[1A");
    }

    @Test
    void nothingChangesAfterTheEnd() {
        Progress progress = new Progress(new LineDisplay(out), now::get);
        progress.close();
        progress.change("kafka", Phase.STARTING, "");

        assertThat(shown.toString()).isEmpty();
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }
}
