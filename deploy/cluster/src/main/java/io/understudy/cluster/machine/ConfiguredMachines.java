package io.understudy.cluster.machine;

import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** The configured machines of members; those without one are left to their operator. */
public final class ConfiguredMachines extends DelegatingMachines {

    private final List<MachineSettings> machines;
    private final Map<ProcessKind, Machines> byKind = new EnumMap<>(ProcessKind.class);

    private ConfiguredMachines(List<MachineSettings> machines) {
        this.machines = List.copyOf(machines);
    }

    /**
     * Local members outlive this process.
     *
     * @param etcd the server of local members that name none; called only if there are any
     * @param operator receives the instructions for members that are started manually
     */
    public static ConfiguredMachines of(
            List<MachineSettings> machines, Supplier<Path> etcd, Consumer<String> operator, InstantSource clock) {
        ConfiguredMachines configured = new ConfiguredMachines(machines);
        configured.byKind.put(
                ProcessKind.LOCAL,
                OwnMachines.local(of(ProcessKind.LOCAL, machines), LocalControl.lasting(etcd), clock));
        configured.byKind.put(ProcessKind.SYSTEMD, OwnMachines.systemd(of(ProcessKind.SYSTEMD, machines), clock));
        configured.byKind.put(ProcessKind.MANUAL, new ManualMachines(of(ProcessKind.MANUAL, machines), operator));
        return configured;
    }

    private static List<MachineSettings> of(ProcessKind kind, List<MachineSettings> machines) {
        return machines.stream().filter(machine -> machine.process() == kind).toList();
    }

    @Override
    public List<MemberSpec> places() {
        return machines.stream().map(MachineSettings::member).toList();
    }

    @Override
    <T> T pass(MemberSpec member, String name, boolean isOrder, Function<Machines, T> request) {
        return request.apply(of(member));
    }

    @Override
    public Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        return of(from) == of(to)
                ? super.moveFailure(from, to)
                : Optional.of("members " + from.name() + " and " + to.name()
                        + " have different process settings (machines.*.process)");
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        if (of(from) != of(to)) {
            throw new UnsupportedOperationException(moveFailure(from, to).orElseThrow());
        }
        super.moveData(from, to);
    }

    private Machines of(MemberSpec member) {
        ProcessKind kind = machines.stream()
                .filter(machine -> machine.name().equals(member.name()))
                .map(MachineSettings::process)
                .findFirst()
                .orElse(ProcessKind.MANUAL);
        Machines machinesOfKind = byKind.get(kind);
        if (machinesOfKind == null) {
            throw new IllegalStateException("no process control for " + kind);
        }
        return machinesOfKind;
    }
}
