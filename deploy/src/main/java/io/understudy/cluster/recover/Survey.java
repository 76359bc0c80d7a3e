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
import io.understudy.etcd.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Looks at what is left of a cluster: at those that answer, and at the data of those that don't.
 *
 * @param machines where members run
 * @param patience how long each look waits for those that don't answer
 */
public record Survey(
        ClusterObserver observer,
        Machines control,
        List<MachineSettings> machines,
        SnapshotTool tool,
        Duration patience) {

    private static final Duration LOOK = Duration.ofSeconds(3);

    public Survey {
        machines = List.copyOf(machines);
    }

    public Survey(ClusterObserver observer, Machines control, List<MachineSettings> machines, SnapshotTool tool) {
        this(observer, control, machines, tool, LOOK);
    }

    /** Empty if nobody answers. */
    Optional<ClusterFacts> look() {
        try {
            return Optional.of(observer.observe(patience));
        } catch (UnobservableException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecoveryException("interrupted while reading the state of the cluster", e);
        }
    }

    /** What is left of each. */
    List<Remains> remains(Optional<ClusterFacts> facts) {
        return machines.stream().map(machine -> remains(machine, facts)).toList();
    }

    /** Members that have run where no machine is configured: what they have can't be known. */
    List<String> elsewhere(Optional<ClusterFacts> facts) {
        return facts.stream()
                .flatMap(seen -> seen.members().stream())
                .filter(MemberFacts::hasStarted)
                .map(MemberFacts::name)
                .filter(name ->
                        machines.stream().noneMatch(machine -> machine.name().equals(name)))
                .toList();
    }

    private Remains remains(MachineSettings machine, Optional<ClusterFacts> facts) {
        Optional<MemberFacts> member = facts.flatMap(seen -> seen.named(machine.name()));
        Optional<Boolean> isRunning = control.isRunning(machine.member());
        if (machine.process() == ProcessKind.MANUAL) {
            return new Remains(
                    machine,
                    member.map(MemberFacts::role),
                    member.flatMap(MemberFacts::answer),
                    isRunning,
                    Optional.empty(),
                    Optional.empty());
        }
        boolean hasData = new DataDirectory(machine.dataDirectory()).hasMember();
        // A member that runs keeps its database locked.
        Optional<Stored> stored = hasData && !isRunning.orElse(true) ? stored(machine) : Optional.empty();
        return new Remains(
                machine,
                facts.isPresent() ? member.map(MemberFacts::role) : stored.flatMap(data -> role(machine, data)),
                member.flatMap(MemberFacts::answer),
                isRunning,
                Optional.of(hasData),
                stored);
    }

    private static Optional<Role> role(MachineSettings machine, Stored data) {
        return Optional.of(Role.VOTER).filter(voter -> data.voters().contains(machine.name()));
    }

    private Optional<Stored> stored(MachineSettings machine) {
        Path database =
                machine.dataDirectory().resolve("member").resolve("snap").resolve("db");
        if (!Files.exists(database)) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Stored(tool.contents(database).revision(), Stored.voters(database)));
        } catch (SnapshotException e) {
            return Optional.empty();
        }
    }
}
