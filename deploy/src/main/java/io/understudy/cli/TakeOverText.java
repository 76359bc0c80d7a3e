package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverReport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;

/** What is shown of a take-over: results to standard output, the rest to standard error. One thread. */
final class TakeOverText implements TakeOver.Steps {

    private static final JsonMapper JSON = new JsonMapper();

    private static final int SHOWN = 20;
    /** Done, but writes are lost, or may be. */
    private static final int WITH_LOSS = 3;

    private static final Duration INTERVAL = Duration.ofSeconds(2);

    /** How long each step took, in order. */
    private final Map<String, Duration> took = new LinkedHashMap<>();

    private @Nullable String step;
    private long begunAt;
    private long shownAt;

    private final CommandLine command;
    private final OutputForm form;
    private final boolean yes;

    TakeOverText(CommandLine command, OutputForm form, boolean yes) {
        this.command = command;
        this.form = form;
        this.yes = yes;
    }

    /** The plan is the result of a dry run, else something to read before the rest. */
    void plan(List<String> steps, boolean isResult) {
        PrintWriter out = isResult ? command.getOut() : command.getErr();
        if (isResult && form == OutputForm.JSON) {
            ArrayNode array = JSON.createArrayNode();
            steps.forEach(array::add);
            out.println(array.toPrettyString());
        } else {
            out.println("Plan:");
            int number = 0;
            for (String step : steps) {
                out.printf("%2d. %s%n", ++number, step);
            }
        }
        out.flush();
    }

    /**
     * Asks, unless it is to be done without.
     *
     * @param check throws where it would be refused anyway, so that nobody is asked in vain
     * @throws ParameterException the operator doesn't want it, or isn't there
     */
    void confirm(String what, Runnable check) {
        if (yes) {
            return;
        }
        check.run();
        note(what + " cannot be undone. Continue? [yes/no]");
        try {
            String answer = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
            if (!"yes".equals(answer)) {
                throw new ParameterException(
                        command, "not confirmed; nothing was changed. --yes skips the confirmation");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void note(String line) {
        command.getErr().println(line);
        command.getErr().flush();
    }

    @Override
    public void begin(String name) {
        end();
        step = name;
        begunAt = System.nanoTime();
        shownAt = begunAt;
        note(name + " ...");
    }

    /** Shows how long it takes at most every two seconds. */
    @Override
    public void progress(long done, long total) {
        long now = System.nanoTime();
        if (now - shownAt < INTERVAL.toNanos()) {
            return;
        }
        shownAt = now;
        note(step + ": " + progress(done, total, Duration.ofNanos(now - begunAt)));
    }

    /** Such as {@code 40 of 100, 8 s, about 12 s left}. */
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
                note(step + " took " + time.toSeconds() + " s");
            }
        }
        step = null;
    }

    /** What was done, in a sentence. */
    void result(String line) {
        PrintWriter out = command.getOut();
        out.println(
                form == OutputForm.JSON
                        ? JSON.createObjectNode().put("result", line).toPrettyString()
                        : line);
        out.flush();
    }

    /**
     * Shows a report, and writes all keys that are lost to a file.
     *
     * @param strict whether the exit status depends on loss
     * @return the exit status
     */
    int report(TakeOverReport report, boolean strict) {
        end();
        Path file = report.lost().isEmpty() || report.file() != null ? report.file() : stored(report.lost());
        PrintWriter out = command.getOut();
        if (form == OutputForm.JSON) {
            ObjectNode root =
                    JSON.createObjectNode().put("summary", report.summary()).put("loss", report.loss());
            ArrayNode lost = root.putArray("lost");
            report.lost().forEach(lost::add);
            root.put("lostFile", file == null ? null : file.toString());
            ObjectNode facts = root.putObject("facts");
            report.facts().forEach(facts::put);
            ArrayNode steps = root.putArray("steps");
            took.forEach((name, time) -> steps.addObject().put("step", name).put("seconds", time.toMillis() / 1e3));
            ArrayNode next = root.putArray("next");
            report.next().forEach(next::add);
            out.println(root.toPrettyString());
        } else {
            out.println(report.summary());
            report.facts().forEach((name, value) -> out.println("  " + name + ": " + value));
            out.println("Loss: " + report.loss());
            report.lost().stream().limit(SHOWN).forEach(key -> out.println("  " + key));
            if (file != null) {
                out.println("  all: " + file);
            }
            report.next().forEach(next -> out.println("Next: " + next));
        }
        out.flush();
        return report.isWithoutLoss() || (!strict && report.lost().isEmpty()) ? ExitCode.OK : WITH_LOSS;
    }

    private static Path stored(List<String> lost) {
        try {
            Path file = Files.createTempFile("understudy-lost-keys-", ".txt");
            return Files.write(file, lost);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
