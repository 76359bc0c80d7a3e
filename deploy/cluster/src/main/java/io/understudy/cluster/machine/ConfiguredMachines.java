package io.understudy.cluster.machine;

import io.understudy.etcd.EtcdVersion;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The configured machines of members; those without one are left to their operator. */
public final class ConfiguredMachines implements Machines {

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
    public void found(MemberSpec member, String initialCluster, String token) {
        of(member).found(member, initialCluster, token);
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        of(member).join(member, initialCluster);
    }

    @Override
    public void resumeJoining(MemberSpec member) {
        of(member).resumeJoining(member);
    }

    @Override
    public void letGo(MemberSpec member) {
        of(member).letGo(member);
    }

    @Override
    public OptionalLong received(MemberSpec member) {
        return of(member).received(member);
    }

    @Override
    public void start(MemberSpec member) {
        of(member).start(member);
    }

    @Override
    public void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        of(member).start(member, settings);
    }

    @Override
    public Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        return of(member).programFailure(member, settings);
    }

    @Override
    public EtcdVersion programVersion(MemberSpec member) {
        return of(member).programVersion(member);
    }

    @Override
    public Optional<String> maxLearners(MemberSpec member) {
        return of(member).maxLearners(member);
    }

    @Override
    public void stop(MemberSpec member) {
        of(member).stop(member);
    }

    @Override
    public void retire(MemberSpec member) {
        of(member).retire(member);
    }

    @Override
    public void copyData(MemberSpec member) {
        of(member).copyData(member);
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return of(member).isRunning(member);
    }

    @Override
    public OptionalLong freeBytes(MemberSpec member) {
        return of(member).freeBytes(member);
    }

    @Override
    public boolean isInUse(MemberSpec member) {
        return of(member).isInUse(member);
    }

    @Override
    public Optional<DataOwner> owner(MemberSpec member) {
        return of(member).owner(member);
    }

    @Override
    public Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        return of(from) == of(to)
                ? of(from).moveFailure(from, to)
                : Optional.of("members " + from.name() + " and " + to.name()
                        + " have different process settings (machines.*.process)");
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        if (of(from) != of(to)) {
            throw new UnsupportedOperationException(moveFailure(from, to).orElseThrow());
        }
        of(from).moveData(from, to);
    }

    @Override
    public List<String> endOfLog(MemberSpec member) {
        return of(member).endOfLog(member);
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
