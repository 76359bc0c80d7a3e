package io.understudy.cluster.machine;

import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.local.process.Command;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

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

    /** Members that an operator starts and stops: prints the exact commands, and waits for nothing. */
    public static final class ManualMachines implements Machines {

        private final Map<String, MachineSettings> machines = new LinkedHashMap<>();
        private final Consumer<String> operator;

        /**
         * @param machines their settings; members of any other name have etcd's defaults
         * @param operator receives the instructions, a line at a time
         */
        public ManualMachines(List<MachineSettings> machines, Consumer<String> operator) {
            machines.forEach(machine -> this.machines.put(machine.name(), machine));
            this.operator = operator;
        }

        @Override
        public List<MemberSpec> places() {
            return machines.values().stream().map(MachineSettings::member).toList();
        }

        @Override
        public void found(MemberSpec member, String initialCluster, String token) {
            MachineSettings machine = machine(member);
            instruct(
                    machine,
                    "start it as a founding member, without data",
                    EtcdFlags.founding(machine, initialCluster, token));
            finishFirstStart(machine);
        }

        @Override
        public void join(MemberSpec member, String initialCluster) {
            MachineSettings machine = machine(member);
            instruct(machine, "start it without data, to join", EtcdFlags.joining(machine, initialCluster));
            finishFirstStart(machine);
        }

        @Override
        public void start(MemberSpec member) {
            start(member, UnaryOperator.identity());
        }

        @Override
        public void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
            MachineSettings machine = settings.apply(machine(member));
            instruct(machine, "start it with its existing data", EtcdFlags.resuming(machine));
        }

        @Override
        public void stop(MemberSpec member) {
            operator.accept("To do for member " + member.name() + ": stop etcd; keep its data unchanged");
        }

        @Override
        public void retire(MemberSpec member) {
            operator.accept("To do for removed member " + member.name() + ": stop etcd, then");
            print("mv", machine(member), ".old-");
        }

        @Override
        public void copyData(MemberSpec member) {
            operator.accept("To do for member " + member.name() + ": copy its data");
            print("cp -a", machine(member), ".copy-");
        }

        @Override
        public Optional<Boolean> isRunning(MemberSpec member) {
            return Optional.empty();
        }

        @Override
        public void moveData(MemberSpec from, MemberSpec to) {
            operator.accept("To do for member " + to.name() + ": after " + from.name() + " has stopped, copy its data");
            operator.accept("  " + machine(from).dataDirectory());
            operator.accept(
                    "to " + machine(to).dataDirectory() + "; never start " + from.name() + " with this data again");
        }

        private void instruct(MachineSettings machine, String what, EtcdFlags flags) {
            operator.accept("To do for member " + machine.name() + ": " + what + ", with these variables");
            flags.variables().forEach(variable -> operator.accept("  " + variable));
            operator.accept("or with this command line");
            String environment = flags.environment().entrySet().stream()
                    .map(variable -> variable.getKey() + "=" + Command.quoted(variable.getValue()) + " ")
                    .collect(Collectors.joining());
            operator.accept(
                    "  " + environment + machine.program().map(Command::quoted).orElse("etcd") + " \\");
            List<String> arguments = flags.arguments();
            for (int index = 0; index < arguments.size(); index++) {
                operator.accept(
                        "    " + Command.quoted(arguments.get(index)) + (index + 1 < arguments.size() ? " \\" : ""));
            }
        }

        private void finishFirstStart(MachineSettings machine) {
            operator.accept("If data of an earlier member exists, first");
            print("mv", machine, ".old-");
            operator.accept(
                    "Once it serves, remove initial-cluster and initial-cluster-token from its unit or script, and"
                            + " set initial-cluster-state=existing: without its data, it must not start");
        }

        /** The shell completes the new name: an existing directory would receive or mix the data. */
        private void print(String command, MachineSettings machine, String suffix) {
            operator.accept("  " + command + " " + Command.quoted(machine.dataDirectory()) + " "
                    + Command.quoted(machine.dataDirectory() + suffix) + "$(date -u +%Y%m%dT%H%M%S)");
        }

        private MachineSettings machine(MemberSpec member) {
            MachineSettings known = machines.get(member.name());
            return known != null
                    ? known
                    : MachineSettings.of(member, ProcessKind.MANUAL, Path.of("/var/lib/etcd", member.name()));
        }
    }
}
