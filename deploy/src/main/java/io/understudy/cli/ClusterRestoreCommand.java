package io.understudy.cli;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.ConfiguredMachines;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.UnobservableException;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.Founding;
import io.understudy.cluster.snapshot.Restore;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.etcd.EtcdConnections;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Counted;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy cluster restore}: a new cluster from a snapshot. */
@Command(
        name = "restore",
        description = {
            "Create a cluster from a snapshot.",
            "Restores data directories for shape.voters machines, then starts them. Fails if a data directory exists or a"
                    + " cluster responds at the endpoints."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:the new cluster serves", "1:failed", "2:usage error"})
final class ClusterRestoreCommand implements Callable<Integer> {

    private static final Duration LOOK = Duration.ofSeconds(2);

    @Mixin
    private ConfigurationFlags configuration;

    @Option(names = "--snapshot", required = true, paramLabel = "FILE", description = "Snapshot file.")
    private Path snapshot;

    @Option(
            names = "--bump-revision",
            defaultValue = "0",
            paramLabel = "N",
            description =
                    "Increase of the latest revision (default: ${DEFAULT-VALUE}). Older revisions are marked compacted, so"
                            + " that watchers of the old cluster resynchronize instead of missing changes. Use 1000000000"
                            + " if clients watch.")
    private long bump;

    @Option(
            names = "--timeout",
            converter = DurationFlag.class,
            defaultValue = "60s",
            paramLabel = "TIME",
            description = "Maximum time until all new members serve (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        ClusterSettings settings = ClusterSettings.load(configuration.file(), System.getenv(), configuration.values());
        List<MachineSettings> machines =
                settings.machines().stream().limit(settings.shape().voters()).toList();
        if (machines.size() < settings.shape().voters()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "shape.voters is " + settings.shape().voters() + " but the configuration has only "
                            + machines.size() + " machines");
        }
        PrintWriter out = spec.commandLine().getOut();
        Consumer<String> told = line -> {
            out.println(line);
            out.flush();
        };
        Machines control = ConfiguredMachines.of(
                settings.machines(), () -> EtcdBinaries.find().etcd(), told, InstantSource.system());
        try (EtcdConnections connections =
                EtcdConnections.open(settings.cluster(), settings.otherwise().endpoints())) {
            refuseBesideAnother(new EtcdObserver(
                    settings.cluster(), settings.otherwise().believed(), connections, new SimpleMeterRegistry()));
            String token = "restored-" + Instant.now().getEpochSecond();
            new Restore(SnapshotTool.of(settings.machines()), control, told)
                    .restore(snapshot.toAbsolutePath(), machines, token, bump);
            ClusterId created =
                    new Founding(machines.stream().map(MachineSettings::member).toList(), token, bump, true).cluster();
            machines.forEach(machine -> control.start(machine.member()));
            told.accept("waiting for " + Counted.of(machines.size(), "member") + " to serve");
            EtcdObserver observer = new EtcdObserver(
                    settings.cluster().withEndpoints(clientUrls(machines)), connections, new SimpleMeterRegistry());
            ClusterFacts facts = Waiting.until(
                    timeout,
                    () -> seen(observer).filter(seen -> {
                        if (!seen.cluster().equals(created)) {
                            throw another(seen.cluster() + " instead of the restored cluster " + created);
                        }
                        return seen.healthyVoters().size() == machines.size();
                    }),
                    () -> new IllegalStateException(
                            "not all new members serve after " + timeout.toSeconds() + " s; see their logs"));
            told.accept("cluster " + facts.cluster() + " serves: " + facts.quorum());
        }
        return ExitCode.OK;
    }

    private static List<URI> clientUrls(List<MachineSettings> machines) {
        return machines.stream()
                .flatMap(machine -> machine.member().clientUrls().stream())
                .toList();
    }

    private static void refuseBesideAnother(EtcdObserver observer) {
        try {
            look(observer).ifPresent(living -> {
                throw another(living.cluster().toString());
            });
        } catch (UnobservableException e) {
            if (!e.isSilence()) {
                throw another(e.getMessage());
            }
        }
    }

    private static IllegalStateException another(@Nullable String what) {
        return new IllegalStateException(
                "a cluster already responds: " + what + "; configure other endpoints and machines");
    }

    private static Optional<ClusterFacts> seen(EtcdObserver observer) {
        try {
            return look(observer);
        } catch (UnobservableException e) {
            return Optional.empty();
        }
    }

    private static Optional<ClusterFacts> look(EtcdObserver observer) {
        try {
            return Optional.of(observer.observe(LOOK));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading the state of the cluster", e);
        }
    }
}
