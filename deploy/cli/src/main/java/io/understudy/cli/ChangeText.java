package io.understudy.cli;

import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.RunListener;
import io.understudy.cluster.run.RunListener.CatchUpRate;
import io.understudy.report.TextTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ParameterException;

/** Prints the plan, the steps and the result of a change to a cluster. */
final class ChangeText implements RunListener, AutoCloseable {

    private static final int STANDARD_INPUT = 0;

    private final ClusterFlags.Change flags;
    private final TerminalBar bar = new TerminalBar();

    ChangeText(ClusterFlags.Change flags) {
        this.flags = flags;
    }

    /** Prints the plan: the result of a dry run, else a notice. */
    void plan(Quorum now, List<Planned> steps, boolean isResult) {
        if (isResult && flags.isJson()) {
            flags.json(steps.stream().map(ChangeText::fields).toList());
        } else if (isResult) {
            flags.lines(table(now, steps).lines());
        } else {
            table(now, steps).lines().forEach(flags::note);
        }
    }

    static TextTable table(Quorum now, List<Planned> steps) {
        TextTable table = new TextTable("STEP", "VOTERS", "HEALTHY", "NEEDED", "SURVIVES", "ACTION");
        row(table, "now", now, "");
        int number = 0;
        for (Planned step : steps) {
            row(table, Integer.toString(++number), step.after(), step.action() + (step.isFinal() ? " (final)" : ""));
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

    private static Map<String, Object> fields(Planned step) {
        return Output.cells(
                "step", step.action(),
                "final", step.isFinal(),
                "before", fields(step.before()),
                "after", fields(step.after()));
    }

    private static Map<String, Object> fields(Quorum quorum) {
        return Output.cells(
                "voters", quorum.voters(),
                "healthy", quorum.healthy(),
                "needed", quorum.needed(),
                "survives", quorum.tolerance());
    }

    /**
     * Reads a confirmation of the irreversible steps.
     *
     * @throws ParameterException they are not confirmed, or standard input is not a terminal
     */
    void confirm(List<Planned> steps) {
        List<String> last =
                steps.stream().filter(Planned::isFinal).map(Planned::action).toList();
        if (flags.isConfirmed || last.isEmpty()) {
            return;
        }
        String what = String.join("; ", last);
        if (!TerminalBar.isTerminal(STANDARD_INPUT)) {
            throw flags.usageError("irreversible: " + what + "; nothing was changed, confirm with --yes");
        }
        flags.confirm("Irreversible: " + what + ".");
    }

    @Override
    public void begins(Planned step) {
        notes(step.action() + " ...");
    }

    @Override
    public void ended(Planned step, Duration took) {
        bar.close();
        notes(step.action() + ": done in " + String.format("%.1f", took.toMillis() / 1000.0) + " s; " + step.after());
    }

    @Override
    public void catchingUp(CatchUpRate rate) {
        bar.show(rate);
    }

    @Override
    public void notes(String what) {
        flags.note(what);
    }

    /** Prints the outcome; returns whether the goal was reached. */
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
        if (flags.isJson()) {
            boolean isUndone = outcome instanceof Outcome.Failed failed && failed.isUndone();
            flags.json(Output.cells("done", isReached, "undone", isUndone, "why", why));
        } else if (isReached) {
            flags.lines(List.of("done: " + why));
        } else {
            notes("failed: " + why);
        }
        return isReached;
    }

    void nothingToDo(String why) {
        outcome(new Outcome.Reached(why));
    }

    void refusals(List<Refusal> refusals) {
        flags.refusals(refusals);
    }

    @Override
    public void close() {
        bar.close();
    }
}
