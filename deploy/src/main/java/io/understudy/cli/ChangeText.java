package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.plan.Refusal;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.run.CatchUpRate;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.RunListener;
import io.understudy.report.TextTable;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.List;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What is shown of a change to a cluster: results to standard output, the rest to standard error. */
final class ChangeText implements RunListener, AutoCloseable {

    private static final int STANDARD_INPUT = 0;
    private static final JsonMapper JSON = new JsonMapper();

    private final CommandLine command;
    private final OutputForm form;
    private final boolean yes;
    private final CatchUpBar bar = new CatchUpBar();

    ChangeText(CommandLine command, OutputForm form, boolean yes) {
        this.command = command;
        this.form = form;
        this.yes = yes;
    }

    /** The plan is the result of a dry run, else something to read before the rest. */
    void plan(Quorum now, List<Planned> steps, boolean isResult) {
        PrintWriter out = isResult ? command.getOut() : command.getErr();
        if (isResult && form == OutputForm.JSON) {
            out.println(json(steps).toPrettyString());
        } else {
            table(now, steps).lines().forEach(out::println);
        }
        out.flush();
    }

    private static TextTable table(Quorum now, List<Planned> steps) {
        TextTable table = new TextTable("STEP", "VOTERS", "HEALTHY", "NEEDED", "SURVIVES", "ACTION");
        row(table, "now", now, "");
        int number = 0;
        for (Planned step : steps) {
            row(table, Integer.toString(++number), step.after(), step.told() + (step.isFinal() ? " (final)" : ""));
        }
        return table;
    }

    private static void row(TextTable table, String step, Quorum quorum, String what) {
        table.row(
                step,
                Integer.toString(quorum.voters()),
                Integer.toString(quorum.healthy()),
                Integer.toString(quorum.needed()),
                quorum.tolerance() + (quorum.tolerance() == 1 ? " failure" : " failures"),
                what);
    }

    private static ArrayNode json(List<Planned> steps) {
        ArrayNode array = JSON.createArrayNode();
        for (Planned step : steps) {
            ObjectNode node = array.addObject().put("step", step.told()).put("final", step.isFinal());
            quorum(node.putObject("before"), step.before());
            quorum(node.putObject("after"), step.after());
        }
        return array;
    }

    private static void quorum(ObjectNode node, Quorum quorum) {
        node.put("voters", quorum.voters())
                .put("healthy", quorum.healthy())
                .put("needed", quorum.needed())
                .put("survives", quorum.tolerance());
    }

    /**
     * Asks about those of the steps that can't be undone.
     *
     * @throws ParameterException the operator doesn't want it, or isn't there to be asked
     */
    void confirm(List<Planned> steps) {
        List<String> last =
                steps.stream().filter(Planned::isFinal).map(Planned::told).toList();
        if (yes || last.isEmpty()) {
            return;
        }
        String what = String.join("; ", last);
        if (!KeyProgress.isTerminal(STANDARD_INPUT)) {
            throw new ParameterException(
                    command, "irreversible: " + what + "; nothing was changed, confirm with --yes");
        }
        notes("Irreversible: " + what + ". Continue? [yes/no]");
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

    @Override
    public void begins(Planned step) {
        notes(step.told() + " ...");
    }

    @Override
    public void ended(Planned step, Duration took) {
        bar.close();
        notes(step.told() + ": done in " + String.format("%.1f", took.toMillis() / 1000.0) + " s; " + step.after());
    }

    @Override
    public void catchingUp(CatchUpRate rate) {
        bar.show(rate);
    }

    @Override
    public void notes(String what) {
        command.getErr().println(what);
        command.getErr().flush();
    }

    /** Tells how it ended, and whether the goal was reached. */
    boolean outcome(Outcome outcome) {
        bar.close();
        if (outcome instanceof Outcome.Refused refused) {
            refusals(refused.refusals());
            return false;
        }
        boolean isReached = outcome instanceof Outcome.Reached;
        String why = outcome instanceof Outcome.Reached reached
                ? reached.why()
                : outcome instanceof Outcome.Failed failed ? failed.why() : "";
        if (form == OutputForm.JSON) {
            command.getOut()
                    .println(JSON.createObjectNode()
                            .put("done", isReached)
                            .put("undone", outcome instanceof Outcome.Failed failed && failed.isUndone())
                            .put("why", why)
                            .toPrettyString());
            command.getOut().flush();
        } else if (isReached) {
            command.getOut().println("done: " + why);
            command.getOut().flush();
        } else {
            notes("failed: " + why);
        }
        return isReached;
    }

    void nothingToDo(String why) {
        outcome(new Outcome.Reached(why));
    }

    void refusals(List<Refusal> refusals) {
        if (form == OutputForm.JSON) {
            ArrayNode array = JSON.createArrayNode();
            refusals.forEach(refusal -> array.addObject()
                    .put("rule", refusal.rule())
                    .put("why", refusal.why())
                    .put("wayOut", refusal.wayOut()));
            command.getOut()
                    .println(JSON.createObjectNode()
                            .put("done", false)
                            .<ObjectNode>set("refused", array)
                            .toPrettyString());
            command.getOut().flush();
            return;
        }
        refusals.forEach(refusal -> {
            notes("refused (" + refusal.rule() + "): " + refusal.why() + ".");
            notes("  " + refusal.wayOut() + ".");
        });
    }

    @Override
    public void close() {
        bar.close();
    }

    /** A bar for a learner that catches up, with rate and remaining time, on standard error if that is a terminal. */
    private static final class CatchUpBar implements AutoCloseable {

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
}
