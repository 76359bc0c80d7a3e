package io.understudy.cli;

import com.fasterxml.jackson.databind.node.NullNode;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;

/** Prints the steps and the result of a command that moves the primary role. Not thread-safe. */
final class TakeOverText implements TakeOver.Steps {

    private static final int SHOWN = 20;
    /** Exit status: done, writes lost or unknown. */
    private static final int WITH_LOSS = 3;

    private static final Duration INTERVAL = Duration.ofSeconds(2);

    /** Duration of each step, in order. */
    private final Map<String, Duration> took = new LinkedHashMap<>();

    private @Nullable String step;
    private long begunAt;
    private long shownAt;

    private final Output output;
    private final boolean isConfirmed;

    TakeOverText(Output output, boolean isConfirmed) {
        this.output = output;
        this.isConfirmed = isConfirmed;
    }

    /**
     * Prints the plan: the result of a dry run, else a notice.
     *
     * @param check of a dry run: throws if the action would be refused
     */
    void plan(List<String> steps, boolean isResult, Runnable check) {
        if (isResult && output.isJson()) {
            // A failure is the only document then.
            check.run();
            output.json(steps);
            return;
        }
        List<String> lines = new ArrayList<>(List.of("Plan:"));
        for (String planned : steps) {
            lines.add("%2d. %s".formatted(lines.size(), planned));
        }
        if (isResult) {
            output.lines(lines);
            check.run();
        } else {
            lines.forEach(output::note);
        }
    }

    /**
     * Reads a confirmation, unless it was given.
     *
     * @param check throws if the action would be refused
     * @throws ParameterException it is not confirmed
     */
    void confirm(String what, Runnable check) {
        if (!isConfirmed) {
            check.run();
            output.confirm(what + " cannot be undone.");
        }
    }

    @Override
    public void begin(String name) {
        end();
        step = name;
        begunAt = System.nanoTime();
        shownAt = begunAt;
        output.note(name + " ...");
    }

    /** Prints progress at most every two seconds. */
    @Override
    public void progress(long done, long total) {
        long now = System.nanoTime();
        if (now - shownAt < INTERVAL.toNanos()) {
            return;
        }
        shownAt = now;
        output.note(step + ": " + progress(done, total, Duration.ofNanos(now - begunAt)));
    }

    /** Returns progress such as {@code 40 of 100, 8 s, about 12 s left}. */
    static String progress(long done, long total, Duration elapsed) {
        String text = total > 0 ? done + " of " + total : String.valueOf(done);
        long left = done > 0 && done < total ? elapsed.toMillis() * (total - done) / done / 1_000 : -1;
        return text + ", " + elapsed.toSeconds() + " s" + (left < 0 ? "" : ", about " + left + " s left");
    }

    private void end() {
        if (step != null) {
            Duration time = Duration.ofNanos(System.nanoTime() - begunAt);
            took.merge(step, time, Duration::plus);
            if (time.compareTo(INTERVAL) > 0) {
                output.note(step + " took " + time.toSeconds() + " s");
            }
        }
        step = null;
    }

    /**
     * Prints a report, and writes all lost keys to a file; prints all of them if that is not possible.
     *
     * @return the exit status, of loss unless none is proven
     */
    int report(TakeOverReport report) {
        end();
        Path file = report.file();
        int shown = SHOWN;
        if (file == null && !report.lost().isEmpty()) {
            try {
                file = stored(report.lost());
            } catch (IOException e) {
                // The role has moved, and the report cannot be made again.
                shown = report.lost().size();
                output.note("lost keys are not stored in a file: " + e.getMessage());
            }
        }
        if (output.isJson()) {
            output.json(Output.cells(
                    "summary", report.summary(),
                    "loss", report.loss(),
                    "lost", report.lost(),
                    "lostFile", file == null ? NullNode.instance : file.toString(),
                    "facts", report.facts(),
                    "steps",
                            took.entrySet().stream()
                                    .map(each -> Output.cells(
                                            "step",
                                            each.getKey(),
                                            "seconds",
                                            each.getValue().toMillis() / 1e3))
                                    .toList(),
                    "next", report.next()));
        } else {
            List<String> lines = new ArrayList<>(List.of(report.summary()));
            report.facts().forEach((name, value) -> lines.add("  " + name + ": " + value));
            lines.add("Loss: " + report.loss());
            report.lost().stream().limit(shown).forEach(key -> lines.add("  " + key));
            if (file != null) {
                lines.add("  all: " + file);
            }
            report.next().forEach(next -> lines.add("Next: " + next));
            output.lines(lines);
        }
        return report.isWithoutLoss() ? ExitCode.OK : WITH_LOSS;
    }

    private static Path stored(List<String> lost) throws IOException {
        Path directory = Path.of(System.getProperty("java.io.tmpdir"));
        return Files.write(Files.createTempFile(directory, "understudy-lost-keys-", ".txt"), lost);
    }
}
