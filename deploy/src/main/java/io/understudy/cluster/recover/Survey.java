package io.understudy.cluster.recover;

import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.ProcessKind;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.UnobservableException;
import io.understudy.cluster.snapshot.SnapshotException;
import io.understudy.cluster.snapshot.SnapshotTool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Looks at what is left of a cluster: at those that answer, and at the data of those that don't.
 *
 * @param machines where members run
 */
public record Survey(ClusterObserver observer, Machines control, List<MachineSettings> machines, SnapshotTool tool) {

    private static final Duration LOOK = Duration.ofSeconds(3);

    public Survey {
        machines = List.copyOf(machines);
    }

    /** Empty if nobody answers. */
    Optional<ClusterFacts> look() {
        try {
            return Optional.of(observer.observe(LOOK));
        } catch (UnobservableException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecoveryException("interrupted while looking at the cluster", e);
        }
    }

    /** What is left of each. */
    List<Remains> remains(Optional<ClusterFacts> facts) {
        return machines.stream().map(machine -> remains(machine, facts)).toList();
    }

    private Remains remains(MachineSettings machine, Optional<ClusterFacts> facts) {
        Optional<MemberFacts> member = facts.flatMap(seen -> seen.named(machine.name()));
        boolean isLearner = member.filter(MemberFacts::isLearner).isPresent();
        Optional<Boolean> isRunning = control.isRunning(machine.member());
        if (machine.process() == ProcessKind.MANUAL) {
            return new Remains(
                    machine,
                    isLearner,
                    member.flatMap(MemberFacts::answer),
                    isRunning,
                    Optional.empty(),
                    Optional.empty());
        }
        boolean hasData = new DataDirectory(machine.dataDirectory()).hasMember();
        return new Remains(
                machine,
                isLearner,
                member.flatMap(MemberFacts::answer),
                isRunning,
                Optional.of(hasData),
                // A member that runs keeps its database locked.
                hasData && !isRunning.orElse(true) ? revision(machine) : Optional.empty());
    }

    private Optional<Long> revision(MachineSettings machine) {
        Path database =
                machine.dataDirectory().resolve("member").resolve("snap").resolve("db");
        if (!Files.exists(database)) {
            return Optional.empty();
        }
        try {
            return Optional.of(tool.contents(database).revision());
        } catch (SnapshotException e) {
            return Optional.empty();
        }
    }
}
