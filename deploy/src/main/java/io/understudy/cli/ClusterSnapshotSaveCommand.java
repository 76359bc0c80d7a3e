package io.understudy.cli;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.UnobservableException;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.SnapshotDirectory;
import io.understudy.cluster.snapshot.SnapshotException;
import io.understudy.cluster.snapshot.SnapshotTaker;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.etcd.EtcdConnections;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster snapshot save}: one now. */
@Command(name = "save", description = "Save and verify a snapshot, from a learner if possible.")
final class ClusterSnapshotSaveCommand implements Callable<Integer> {

    private static final Duration LOOK = Duration.ofSeconds(5);

    @Mixin
    private ConfigurationFlags configuration;

    @Option(names = "--to", paramLabel = "DIR", description = "Destination directory (default: snapshots.directory).")
    private Path directory;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        ClusterSettings settings = ClusterSettings.load(configuration.file(), System.getenv(), configuration.values());
        SnapshotDirectory target = new SnapshotDirectory(Optional.ofNullable(directory)
                .or(() -> settings.snapshots().directory())
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(), "specify --to, or snapshots.directory in the configuration")));
        SnapshotTool tool = SnapshotTool.of(settings.machines());
        try (EtcdConnections connections =
                EtcdConnections.open(settings.cluster(), settings.otherwise().endpoints())) {
            EtcdObserver observer =
                    new EtcdObserver(settings.cluster(), settings.otherwise(), connections, new SimpleMeterRegistry());
            SnapshotTaker.Taken taken =
                    save(observer, new SnapshotTaker(observer::endpointOf, connections, tool), target, settings);
            PrintWriter out = spec.commandLine().getOut();
            out.println("saved " + taken.file().path() + ": revision "
                    + taken.contents().revision() + ", " + taken.file().bytes() + " bytes, from " + taken.member()
                    + " in " + taken.took().toMillis() + " ms");
            out.flush();
        }
        return ExitCode.OK;
    }

    /** A learner alone still gives a snapshot, which may be the last copy. */
    private static SnapshotTaker.Taken save(
            EtcdObserver observer, SnapshotTaker taker, SnapshotDirectory target, ClusterSettings settings)
            throws InterruptedException {
        try {
            return taker.take(observer.observe(LOOK), target, Instant.now());
        } catch (UnobservableException e) {
            try {
                return taker.takeFromLearners(settings.machines(), target, Instant.now());
            } catch (SnapshotException none) {
                e.addSuppressed(none);
                throw e;
            }
        }
    }
}
