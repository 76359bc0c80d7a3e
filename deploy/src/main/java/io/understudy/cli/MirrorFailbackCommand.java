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
            "Bring the home back after a switchover or a failover.",
            "The new home is mirrored into the old source while clients go on writing, then switched over to it. Run it "
                    + "again to go on after a crash."
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
            description = "How long the old source may take to become a copy; ${DEFAULT-VALUE} by default.")
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
                        "The home has not moved back: clients can write there, and not in the old source if that was"
                                + " frozen.");
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
                text.confirm("overwriting the old source", () -> failback.check(survey));
                text.report(failback.run());
            }
            return ExitCode.OK;
        }
    }

    private static void shown(Survey survey, HandoverOptions options, TakeOverText text) {
        survey.lost().ifPresent(lost -> text.note("Will be lost: " + lost));
        if (survey.behind() > 0 && !options.acceptSilentWatchers()) {
            text.note("The old source is " + Counted.of(survey.behind(), "revision")
                    + " behind the new home. Going back while it is behind needs --accept-silent-watchers.");
        }
    }
}
