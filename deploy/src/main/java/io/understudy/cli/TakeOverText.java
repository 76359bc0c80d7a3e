package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.mirror.takeover.TakeOverReport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;

/** What is shown of a take-over: results to standard output, the rest to standard error. */
final class TakeOverText {

    private static final JsonMapper JSON = new JsonMapper();

    private static final int SHOWN = 20;
    /** Done, but writes are lost, or may be. */
    private static final int WITH_LOSS = 3;

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

    /** A step begins. */
    void step(String name) {
        note(name + " ...");
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
        String file = report.lost().isEmpty() ? null : stored(report.lost());
        PrintWriter out = command.getOut();
        if (form == OutputForm.JSON) {
            ObjectNode root =
                    JSON.createObjectNode().put("summary", report.summary()).put("loss", report.loss());
            ArrayNode lost = root.putArray("lost");
            report.lost().forEach(lost::add);
            ObjectNode facts = root.putObject("facts");
            report.facts().forEach(facts::put);
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

    private String stored(List<String> lost) {
        try {
            Path file = Files.createTempFile("understudy-lost-keys-", ".txt");
            Files.write(file, lost);
            return file.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
