package io.understudy.cli;

import io.understudy.mirror.takeover.Failback;
import io.understudy.mirror.takeover.HandoverOptions;
import io.understudy.mirror.takeover.MirrorParties;
import io.understudy.mirror.takeover.Survey;
import io.understudy.vocabulary.Counted;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy mirror failback}: moves the home back to the source. */
@Command(
        name = "failback",
        description = {
            "Return the primary role to the original cluster after a switchover or failover.",
            "Mirrors the current primary to the original cluster, then switches over. Without data loss if writers are stopped. Run it "
                    + "again to resume after a crash."
        })
final class MirrorFailbackCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Mixin
    private HandoverFlags decisions;

    @Mixin
    private UndoFlag undo;

    @Option(
            names = "--sync-deadline",
            defaultValue = "60m",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "Maximum time to synchronize the original cluster (default: ${DEFAULT-VALUE}).")
    private Duration syncDeadline;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        TakeOverText text = flags.text(spec.commandLine());
        try (MirrorParties parties = flags.parties(spec.commandLine())) {
            HandoverOptions options = decisions.options(flags.patience());
            Failback failback = new Failback(parties, options, syncDeadline, text, SnapshotBars.onTerminal());
            if (undo.isGiven() && flags.isDryRun()) {
                text.undoing(failback.undoPlan());
                return ExitCode.OK;
            }
            if (undo.isGiven()) {
                text.undone(
                        failback.undo(),
                        "The primary role has not moved back. The current primary accepts writes; the original cluster"
                                + " does not if it was frozen.");
                return ExitCode.OK;
            }
            Survey survey = failback.survey();
            text.plan(failback.plan(survey), flags.isDryRun());
            shown(survey, options, text);
            if (flags.copiesUsers(spec.commandLine())) {
                text.users(true);
            }
            if (flags.isDryRun()) {
                failback.check(survey);
            } else {
                text.confirm("Overwriting the original cluster", () -> failback.check(survey));
                text.report(failback.run());
            }
            return ExitCode.OK;
        }
    }

    private static void shown(Survey survey, HandoverOptions options, TakeOverText text) {
        survey.lost().ifPresent(lost -> text.note("Data loss: " + lost));
        if (survey.behind() > 0 && !options.acceptSilentWatchers()) {
            text.note("The original cluster is " + Counted.of(survey.behind(), "revision")
                    + " behind the current primary. A failback to a lower revision requires --accept-silent-watchers.");
        }
    }
}
