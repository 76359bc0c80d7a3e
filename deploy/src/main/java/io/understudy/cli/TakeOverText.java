package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.mirror.takeover.HandoverListener;
import io.understudy.mirror.takeover.HandoverReport;
import io.understudy.mirror.takeover.StepPlan;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What is shown of a take-over: results to standard output, the rest to standard error. */
final class TakeOverText implements HandoverListener {

    private static final JsonMapper JSON = new JsonMapper();

    /** After the undoing of a switchover or a failover. */
    static final String UNMOVED =
            "The primary role has not moved. The source accepts writes again, and the mirror can run again.";

    private final CommandLine command;
    private final OutputForm form;
    private final boolean yes;

    TakeOverText(CommandLine command, OutputForm form, boolean yes) {
        this.command = command;
        this.form = form;
        this.yes = yes;
    }

    /** The plan is the result of a dry run, else something to read before the rest. */
    void plan(List<StepPlan> steps, boolean isResult) {
        PrintWriter out = isResult ? command.getOut() : command.getErr();
        if (isResult && form == OutputForm.JSON) {
            ArrayNode array = JSON.createArrayNode();
            steps.forEach(step -> array.addObject()
                    .put("step", step.name())
                    .put("does", step.does())
                    .put("needs", step.needs())
                    .put("undo", step.undone()));
            out.println(array.toPrettyString());
        } else if (steps.isEmpty()) {
            out.println("The primary role has already moved; only the report remains.");
        } else {
            out.println("Plan:");
            int number = 0;
            for (StepPlan step : steps) {
                out.printf("%2d. %s: %s%n", ++number, step.name(), step.does());
                out.printf("      needs: %s%n      undo:  %s%n", step.needs(), step.undone());
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

    /** Of what is copied beside the keys. */
    void users(boolean isBack) {
        note(
                isBack
                        ? "Changes to roles and users at the current primary are not copied back. The mirror overwrites"
                                + " them with those of the source when it resumes."
                        : "Roles and users are copied, passwords only from authPasswords. \"understudy mirror status\" lists"
                                + " users without a password, which cannot log in at the target.");
    }

    void note(String line) {
        command.getErr().println(line);
        command.getErr().flush();
    }

    @Override
    public void begins(StepPlan step) {
        note(step.name() + " ...");
    }

    @Override
    public void ends(StepPlan step) {
        note(step.name() + " done");
    }

    void report(HandoverReport report) {
        PrintWriter out = command.getOut();
        if (form == OutputForm.JSON) {
            ObjectNode root =
                    JSON.createObjectNode().put("summary", report.summary()).put("loss", report.loss());
            ObjectNode facts = root.putObject("facts");
            report.facts().forEach(fact -> facts.put(fact.name(), fact.value()));
            ArrayNode next = root.putArray("next");
            report.next().forEach(next::add);
            out.println(root.toPrettyString());
        } else {
            out.println(report.summary());
            report.facts().forEach(fact -> out.println("  " + fact.name() + ": " + fact.value()));
            out.println("Loss: " + report.loss());
            report.next().forEach(next -> out.println("Next: " + next));
        }
        out.flush();
    }

    /** Of a dry run: what would be undone. */
    void undoing(List<StepPlan> steps) {
        PrintWriter out = command.getOut();
        if (form == OutputForm.JSON) {
            out.println(named("toUndo", steps));
        } else {
            steps.forEach(step -> out.println("would undo: " + step.name() + ": " + step.undone()));
            out.println("Nothing was changed.");
        }
        out.flush();
    }

    /** @param standing what holds now, in a sentence */
    void undone(List<StepPlan> steps, String standing) {
        PrintWriter out = command.getOut();
        if (form == OutputForm.JSON) {
            out.println(named("undone", steps));
        } else {
            steps.forEach(step -> out.println("undone: " + step.name()));
            out.println(standing);
        }
        out.flush();
    }

    private static String named(String list, List<StepPlan> steps) {
        ArrayNode array = JSON.createArrayNode();
        steps.forEach(step -> array.add(step.name()));
        return JSON.createObjectNode().set(list, array).toPrettyString();
    }
}
