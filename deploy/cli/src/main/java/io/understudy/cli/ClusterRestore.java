package io.understudy.cli;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.run.LogExplanation;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.snapshot.Founding;
import io.understudy.cluster.snapshot.Restore;
import io.understudy.cluster.snapshot.SnapshotTool;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Counted;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Creates a cluster from a snapshot. */
final class ClusterRestore extends ClusterFlags {

    private static final Duration LOOK = Duration.ofSeconds(2);

    @Option(names = "--snapshot", required = true, paramLabel = "FILE", description = "Snapshot file.")
    private Path snapshot;

    @Option(
            names = "--bump-revision",
            paramLabel = "N",
            description =
                    "Increase of the latest revision (default: to the time in microseconds, above all earlier restores)."
                            + " Older revisions are marked compacted, so that watchers of the old cluster resynchronize."
                            + " With 0 they miss changes until their revision is reached.")
    private @Nullable Long bump;

    @Option(
            names = "--start-timeout",
            defaultValue = "60s",
            paramLabel = "TIME",
            description = "Maximum time until all new members serve (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

    void run() {
        try (ClusterConnection cluster = connect()) {
            ClusterSettings settings = cluster.settings();
            List<MachineSettings> machines = settings.votingMachines().stream()
                    .limit(settings.shape().voters())
                    .toList();
            if (machines.size() < settings.shape().voters()) {
                throw usageError("shape.voters is " + settings.shape().voters() + " but the configuration has only "
                        + machines.size() + " machines for voting members");
            }
            Machines control = cluster.machines(this::progress);
            refuseBesideAnother(cluster.observerOfAll());
            String token = "restored-" + Instant.now().getEpochSecond();
            ClusterId created =
                    new Founding(machines.stream().map(MachineSettings::member).toList(), token, 0, true).cluster();
            Foreground.interruptible(() -> {
                new Restore(SnapshotTool.of(settings.machines()), control, this::progress)
                        .restore(
                                snapshot.toAbsolutePath(),
                                machines,
                                token,
                                bump == null ? OptionalLong.empty() : OptionalLong.of(bump));
                machines.forEach(machine -> control.start(machine.member()));
                return created;
            });
            progress("waiting for " + Counted.of(machines.size(), "member") + " to serve");
            EtcdObserver observer = cluster.observerAt(clientUrls(machines));
            ClusterFacts facts = Waiting.until(
                    timeout,
                    () -> seen(observer).filter(seen -> {
                        if (!seen.cluster().equals(created)) {
                            throw another(seen.cluster() + " instead of the restored cluster " + created);
                        }
                        return seen.healthyVoters().size() == machines.size();
                    }),
                    () -> new IllegalStateException(
                            "not all new members serve after " + timeout.toSeconds() + " s; see their logs"
                                    + LogExplanation.ofExited(
                                            machines.stream()
                                                    .map(MachineSettings::member)
                                                    .toList(),
                                            control)));
            if (isJson()) {
                json(cells(
                        "cluster", facts.cluster().toString(),
                        "quorum", facts.quorum().toString()));
            } else {
                progress("cluster " + facts.cluster() + " serves: " + facts.quorum());
            }
        }
    }

    private static List<URI> clientUrls(List<MachineSettings> machines) {
        return machines.stream()
                .flatMap(machine -> machine.member().clientUrls().stream())
                .toList();
    }

    /** @throws IllegalStateException a cluster responds */
    static void refuseBesideAnother(ClusterObserver observer) {
        try {
            look(observer).ifPresent(living -> {
                throw another(living.cluster().toString());
            });
        } catch (UnobservableException e) {
            if (e.isRejection()) {
                throw new IllegalStateException("a cluster may serve: " + e.getMessage(), e);
            }
            if (!e.isSilence()) {
                throw another(e.getMessage());
            }
        }
    }

    private static IllegalStateException another(@Nullable String what) {
        return new IllegalStateException(
                "a cluster already responds: " + what + "; configure other endpoints and machines");
    }

    /** Returns the state of the cluster; empty if no member responds. */
    static Optional<ClusterFacts> seen(ClusterObserver observer) {
        try {
            return look(observer);
        } catch (UnobservableException e) {
            return Optional.empty();
        }
    }

    private static Optional<ClusterFacts> look(ClusterObserver observer) {
        try {
            return Optional.of(observer.observe(LOOK));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading the state of the cluster", e);
        }
    }
}
