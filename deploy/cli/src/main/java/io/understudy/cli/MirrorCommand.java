package io.understudy.cli;

import io.understudy.cluster.access.EtcdAccess;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorInspector;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.auth.AuthMode;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.MirrorLine;
import io.understudy.mirror.status.StatusClient;
import io.understudy.mirror.status.TranslationPage;
import io.understudy.mirror.status.VerifyPage;
import io.understudy.mirror.takeover.Failover;
import io.understudy.mirror.takeover.Rejoin;
import io.understudy.mirror.takeover.Switchover;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverOptions;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.seed.Seed;
import io.understudy.seed.TargetSeeding;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy mirror}: runs mirrors; one method per sub-command. */
@Command(
        name = "mirror",
        description = "Run mirrors that replicate commits to another etcd cluster or to Kafka.",
        exitCodeList = {"0:stopped by SIGTERM or SIGINT", "1:failed", "2:usage error"})
final class MirrorCommand implements Callable<Integer> {

    /** Above what closing takes with the connections' own deadlines. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(20);

    @Mixin
    private Flags.OptionalConfiguration configuration;

    @Spec
    private CommandSpec spec;

    /** A cluster of the mirror. */
    enum Side {
        source,
        target
    }

    /** A direction of the primary role. */
    @FunctionalInterface
    private interface Direction {

        Switchover plan(TakeOver clusters, TakeOverOptions options, TakeOver.Steps steps);
    }

    @Override
    public Integer call() throws Exception {
        Path file = configuration.required(spec.commandLine());
        return Foreground.hold(
                () -> MirrorProcess.start(MirrorConfiguration.load(file, System.getenv(), configuration.values)),
                running -> {
                    SnapshotBars.show(running::reports);
                    return new CompletableFuture<Void>();
                },
                CLOSE_DEADLINE);
    }

    @Command(
            name = "status",
            description = "Show the state of the mirrors of a running process.",
            exitCodeList = {
                "0:every mirror is synced or standby",
                "1:a mirror is in another state, such as conflict, or lacks permissions for a take-over, or no response",
                "2:usage error"
            })
    int status(@Mixin MirrorFlags.Running process, @Mixin Output output) throws Exception {
        process.check(output.command());
        String status = process.response(output.command(), StatusClient::status);
        List<MirrorLine> mirrors = StatusClient.lines(status);
        if (output.isJson()) {
            output.raw(status);
        } else {
            output.lines(MirrorText.status(mirrors));
        }
        boolean healthy = !mirrors.isEmpty()
                && mirrors.stream().allMatch(mirror -> mirror.isReady() && mirror.isTakeOverPermitted());
        return healthy ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    @Command(
            name = "verify",
            description = {
                "Compare a mirror's target with its source at one revision.",
                "Works with a running or stopped mirror, and during writes."
            },
            exitCodeList = {"0:equal", "1:different, or not comparable", "2:usage error"})
    int verify(@Mixin MirrorFlags.One flags) throws Exception {
        Path log = LogFile.temporary();
        LogFile.use(log);
        MirrorSettings.Mirror mirror = flags.mirror();
        VerifyResult result;
        try (TerminalBar bar = new TerminalBar()) {
            result = MirrorInspector.verify(mirror, bar::comparing);
        }
        flags.raw(
                flags.isJson() ? VerifyPage.json(mirror.name(), result) : MirrorText.comparison(mirror.name(), result));
        Files.delete(log);
        return result instanceof VerifyReport report && report.isEqual() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    @Command(
            name = "translate",
            description = {
                "Translate a source revision to the start revision of a watcher in the target.",
                "Queries a running process; with --config, reads the target directly."
            })
    int translate(
            @Option(
                            names = "--revision",
                            required = true,
                            paramLabel = "N",
                            description = "Last revision received from the source.")
                    long revision,
            @Mixin MirrorFlags.Running process,
            @Mixin MirrorFlags.Name mirror,
            @Mixin Output output)
            throws Exception {
        process.check(output.command());
        Revision seen = new Revision(revision);
        String page;
        if (process.isConfigured()) {
            Path log = LogFile.temporary();
            LogFile.use(log);
            MirrorSettings.Mirror configured = process.mirror(mirror.name, output.command());
            page = TranslationPage.json(
                    configured.name(),
                    seen,
                    process.within(
                            "the target of mirror " + configured.name(),
                            () -> MirrorInspector.translate(configured, seen)));
            Files.delete(log);
        } else {
            page = process.response(output.command(), client -> client.translate(mirror.name, seen));
        }
        output.page(page);
        return ExitCode.OK;
    }

    @Command(
            name = "grant",
            description = {
                "Create the mirror's users and roles at source and target, with the least privileges.",
                "Names and passwords are those of the configuration; the role has the name of the user. Changes only what is"
                        + " missing, and revokes nothing. Kafka has ACLs instead of roles: a cluster in Kafka is left out."
            })
    void grant(
            @Mixin MirrorFlags.Clusters flags,
            @Option(names = "--switchover", description = "Permit the other direction as well, as after a switchover.")
                    boolean isBothWays) {
        MirrorSettings.Mirror mirror = flags.mirror();
        MirrorScope scope = mirror.scope();
        try (Grants grants = new Grants(flags, flags.timeout)) {
            boolean isMarked = true;
            if (mirror.source() instanceof MirrorSettings.Source.Etcd source) {
                isMarked = source.marked();
                List<EtcdAccess.Need> needs = reading(scope, isMarked);
                grants.at(
                        "source",
                        source.cluster(),
                        flags.sourceUser(),
                        isBothWays ? both(needs, writing(scope.sourceRanges())) : needs);
            }
            if (mirror.target() instanceof MirrorSettings.Target.Etcd target) {
                List<EtcdAccess.Need> needs = writing(scope.targetRanges());
                grants.at(
                        "target.etcd",
                        target.cluster(),
                        flags.targetUser(),
                        isBothWays ? both(needs, reading(scope.reversed(), isMarked)) : needs);
            }
            grants.run(flags.isDryRun);
        }
    }

    private static List<EtcdAccess.Need> both(List<EtcdAccess.Need> one, List<EtcdAccess.Need> other) {
        return Stream.concat(one.stream(), other.stream()).toList();
    }

    private static List<EtcdAccess.Need> reading(MirrorScope scope, boolean isMarked) {
        return List.of(EtcdAccess.Need.read(scope.feedRange(isMarked)), EtcdAccess.Need.readWrite(ReservedKeys.HOMES));
    }

    private static List<EtcdAccess.Need> writing(List<KeyRange> ranges) {
        return Stream.concat(ranges.stream(), Stream.of(ReservedKeys.RANGE))
                .map(EtcdAccess.Need::readWrite)
                .toList();
    }

    @Command(
            name = "init-target",
            description = {
                "Create the data directory of a target's first member from a snapshot of the source.",
                "Raises the revision and compacts older history, so that watchers of the source list again instead of missing changes. Prints the command that starts the member."
            })
    int initTarget(@Mixin MirrorFlags.Clusters flags, @Mixin MirrorFlags.FirstMember member) throws Exception {
        LogFile.use(LogFile.temporary());
        Seed seed = member.seed();
        EtcdBinaries binaries = EtcdBinaries.find(flags::note);
        TargetSeeding seeding = new TargetSeeding(binaries, flags.sourceUser(), flags::note);
        try (TakeOver clusters = flags.connect()) {
            if (flags.isDryRun) {
                seeding.check(clusters.sourceCluster(), seed, flags.timeout);
                flags.note("dry run: took no snapshot, so free space and the restore are not checked");
            } else {
                Foreground.interruptible(() -> {
                    seeding.make(clusters.sourceCluster(), seed, flags.timeout);
                    return seed;
                });
            }
        }
        flags.text("command", String.join(" ", seed.startCommand(binaries.etcd())));
        flags.note(
                "Configure the mirror with onForeignKeys: delete. The first synchronization writes only differences.");
        return ExitCode.OK;
    }

    @Command(
            name = "switchover",
            description = {
                "Make the target the primary without data loss.",
                "Compares both clusters while clients write, closes the source, waits for its last commits, and moves the primary"
                        + " role. A failure before that opens the source again. Run it again to resume after a crash."
            })
    int switchover(@Mixin MirrorFlags.Clusters flags, @Mixin MirrorFlags.Move move) {
        return move(flags, move, TakeOver::switchover);
    }

    @Command(
            name = "failback",
            description = {
                "Return the primary role to the source: a switchover in the other direction.",
                "Requires that the mirror runs in that direction and is synced. After a failover, run \"understudy mirror rejoin\""
                        + " first."
            })
    int failback(@Mixin MirrorFlags.Clusters flags, @Mixin MirrorFlags.Move move) {
        return move(flags, move, TakeOver::failback);
    }

    private static int move(MirrorFlags.Clusters flags, MirrorFlags.Move move, Direction direction) {
        TakeOverOptions options = move.options(flags);
        TakeOverText text = flags.text();
        try (TakeOver clusters = flags.connect()) {
            Switchover switchover = direction.plan(clusters, options, text);
            if (move.isUndo) {
                text.plan(switchover.undoPlan(), flags.isDryRun, switchover::checkUndo);
                if (flags.isDryRun) {
                    return ExitCode.OK;
                }
                if (options.force()) {
                    text.confirm(
                            "Opening the former primary, without the writes of the new one,", switchover::checkUndo);
                }
                return text.report(Foreground.interruptible(switchover::undo));
            }
            text.plan(switchover.plan(), flags.isDryRun, switchover::check);
            // A switchover does not move roles and users.
            if (flags.mirror().target() instanceof MirrorSettings.Target.Etcd etcd
                    && etcd.auth().mode() == AuthMode.COPY) {
                flags.note("Roles and users are copied, passwords only from authPasswords. \"understudy mirror status\""
                        + " lists users without a password, which cannot log in at the target.");
            }
            if (flags.isDryRun) {
                return ExitCode.OK;
            }
            text.confirm("Moving the primary role", switchover::check);
            return text.report(Foreground.interruptible(switchover::run));
        }
    }

    @Command(
            name = "failover",
            description = {
                "Make the target the primary after the loss of the source, or the source after that of the target.",
                "Reports the revision and time up to which it has the data. Later writes are lost. Run it again to"
                        + " complete it after a crash.",
                "When the lost cluster returns, the mirror closes it as --close selects, and names the keys written there."
            })
    int failover(
            @Mixin MirrorFlags.Clusters flags,
            @Mixin MirrorFlags.Close close,
            @Option(
                            names = "--to",
                            defaultValue = "target",
                            paramLabel = "source|target",
                            description =
                                    "Cluster that becomes the primary (default: ${DEFAULT-VALUE}). source: after a switchover,"
                                            + " or during one, if the target is lost.")
                    Side to,
            @Option(
                            names = "--force",
                            description =
                                    "Fail over even if the other cluster responds or the checkpoint is syncing or torn.")
                    boolean force) {
        TakeOverOptions options = close.options(flags, force);
        TakeOverText text = flags.text();
        try (TakeOver clusters = flags.connect()) {
            Failover failover = clusters.failover(to == Side.source, options, text);
            text.plan(failover.plan(), flags.isDryRun, failover::check);
            if (flags.isDryRun) {
                return ExitCode.OK;
            }
            text.confirm("Moving the primary role, without the last writes of the lost cluster,", failover::check);
            return text.report(failover.run());
        }
    }

    @Command(
            name = "rejoin",
            description = {
                "Make the former primary a copy after a failover, or if both clusters are the primary.",
                "Closes it, names the keys with writes that the new primary lacks, and has the mirror overwrite them."
            })
    int rejoin(
            @Mixin MirrorFlags.Clusters flags,
            @Mixin MirrorFlags.Close close,
            @Option(
                            names = "--primary",
                            paramLabel = "source|target",
                            description =
                                    "Cluster that remains the primary. Required if neither replaced the other, such as with equal epochs.")
                    @Nullable Side primary) {
        TakeOverOptions options = close.options(flags, primary != null);
        TakeOverText text = flags.text();
        try (TakeOver clusters = flags.connect()) {
            Rejoin rejoin = primary == null
                    ? clusters.rejoin(options, text)
                    : clusters.rejoin(primary == Side.target, options, text);
            text.plan(rejoin.plan(), flags.isDryRun, () -> {});
            if (flags.isDryRun) {
                return ExitCode.OK;
            }
            text.confirm("Overwriting the former primary", () -> {});
            return text.report(rejoin.run());
        }
    }

    @Command(
            name = "release",
            description = {
                "Open a cluster that gave up the primary role, although it is not the primary.",
                "The mirror overwrites what clients write there."
            })
    int release(
            @Mixin MirrorFlags.Clusters flags,
            @Option(
                            names = "--side",
                            required = true,
                            paramLabel = "source|target",
                            description = "Cluster to open, as configured in the mirror.")
                    Side side,
            @Option(names = "--force", description = "Open it even if the primary does not respond.") boolean force) {
        TakeOverOptions options = force ? TakeOverOptions.DEFAULTS.forced() : TakeOverOptions.DEFAULTS;
        TakeOverText text = flags.text();
        try (TakeOver clusters = flags.connect()) {
            Rejoin release = clusters.release(side == Side.target, options);
            text.plan(
                    List.of("open: opens the " + side + ", although it is not the primary"),
                    flags.isDryRun,
                    release::checkRelease);
            if (!flags.isDryRun) {
                text.confirm("Opening a cluster that is not the primary", release::checkRelease);
                flags.text("result", release.release());
            }
            return ExitCode.OK;
        }
    }
}
