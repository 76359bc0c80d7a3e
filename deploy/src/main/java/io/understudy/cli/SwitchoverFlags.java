package io.understudy.cli;

import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Switchover;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverOptions;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What an operator decides about a planned move of the primary role, in either direction. */
final class SwitchoverFlags {

    @Mixin
    private CloseFlags close;

    @Option(
            names = "--accept-silent-watchers",
            description = "Allow a new primary with a lower revision, although watchers may miss changes.")
    private boolean acceptSilentWatchers;

    @Option(
            names = "--max-lag",
            defaultValue = "1000",
            converter = NumberFlag.class,
            paramLabel = "REVISIONS",
            description = "Maximum lag of the new primary at the start (default: ${DEFAULT-VALUE}).")
    private long maxLag;

    @Option(
            names = "--drain-deadline",
            defaultValue = "1m",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description =
                    "Maximum time to apply all commits of the closed cluster, at least 1s (default: ${DEFAULT-VALUE}).")
    private Duration drainDeadline;

    @Option(
            names = "--undo",
            description =
                    "Open the former primary again after a move that was cut short. Possible until the role has moved.")
    private boolean undo;

    @Option(
            names = "--force",
            description = "With --undo: open it although the new primary is lost and may have taken the role.")
    private boolean force;

    int run(TakeOverFlags flags, CommandLine command, BiFunction<TakeOver, Move, Switchover> direction) {
        if (drainDeadline.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new ParameterException(command, "--drain-deadline must be at least 1s");
        }
        if (force && !undo) {
            throw new ParameterException(command, "--force requires --undo");
        }
        TakeOverText text = flags.text(command);
        Way way = close.way(command);
        TakeOverOptions options =
                new TakeOverOptions(way, acceptSilentWatchers, force, maxLag, drainDeadline, flags.patience(command));
        try (TakeOver clusters = flags.clusters(command)) {
            Switchover switchover = direction.apply(clusters, new Move(options, text));
            if (undo) {
                if (!flags.isDryRun()) {
                    text.result(Interruptible.run(switchover::undo));
                }
                return ExitCode.OK;
            }
            text.plan(switchover.plan(), flags.isDryRun());
            if (flags.copiesUsers(command)) {
                text.note("Roles and users are copied, passwords only from authPasswords. \"understudy mirror status\""
                        + " lists users without a password, which cannot log in at the target.");
            }
            if (flags.isDryRun()) {
                switchover.check();
                return ExitCode.OK;
            }
            text.confirm("Moving the primary role", switchover::check);
            return text.report(Interruptible.run(switchover::run), way == Way.NONE);
        }
    }

    /** What a move is made with. */
    record Move(TakeOverOptions options, TakeOver.Steps steps) {}

    /** Work that a signal interrupts, and that then undoes what it did before the process ends. */
    private static final class Interruptible {

        private static final int INTERRUPTED = 130;
        private static final long END_SECONDS = 120;
        private static final long SHOWN_MILLIS = 1_000;

        private Interruptible() {}

        /** Runs it on this thread. */
        static <T> T run(Supplier<T> work) {
            Thread worker = Thread.currentThread();
            CountDownLatch ended = new CountDownLatch(1);
            Thread hook = new Thread(
                    () -> {
                        worker.interrupt();
                        try {
                            boolean unused = ended.await(END_SECONDS, TimeUnit.SECONDS);
                            worker.join(SHOWN_MILLIS);
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                        Runtime.getRuntime().halt(INTERRUPTED);
                    },
                    "interrupt");
            Runtime.getRuntime().addShutdownHook(hook);
            try {
                return work.get();
            } finally {
                ended.countDown();
                try {
                    boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
                } catch (IllegalStateException e) {
                    // The hook runs, and ends the process.
                }
            }
        }
    }
}
