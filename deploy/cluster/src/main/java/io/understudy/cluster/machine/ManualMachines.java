package io.understudy.cluster.machine;

import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Members that an operator starts and stops: prints the exact commands, and waits for nothing. */
public final class ManualMachines implements Machines {

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
        setAsideEarlierData(machine);
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        MachineSettings machine = machine(member);
        instruct(machine, "start it without data, to join", EtcdFlags.joining(machine, initialCluster));
        setAsideEarlierData(machine);
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
        setAside(machine(member), "old");
    }

    @Override
    public void copyData(MemberSpec member) {
        operator.accept("To do for member " + member.name() + ": copy its data");
        operator.accept("  cp -a " + machine(member).dataDirectory() + " "
                + machine(member).dataDirectory() + ".copy");
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return Optional.empty();
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        operator.accept("To do for member " + to.name() + ": after " + from.name() + " has stopped, copy its data");
        operator.accept("  " + machine(from).dataDirectory());
        operator.accept("to " + machine(to).dataDirectory() + "; never start " + from.name() + " with this data again");
    }

    private void instruct(MachineSettings machine, String what, EtcdFlags flags) {
        operator.accept("To do for member " + machine.name() + ": " + what + ", with these variables");
        flags.variables().forEach(variable -> operator.accept("  " + variable));
        operator.accept("or with this command line");
        String environment = flags.environment().entrySet().stream()
                .map(variable -> variable.getKey() + "=" + variable.getValue() + " ")
                .collect(Collectors.joining());
        operator.accept(
                "  " + environment + machine.program().map(Path::toString).orElse("etcd") + " \\");
        List<String> arguments = flags.arguments();
        for (int index = 0; index < arguments.size(); index++) {
            operator.accept("    " + quoted(arguments.get(index)) + (index + 1 < arguments.size() ? " \\" : ""));
        }
    }

    private void setAsideEarlierData(MachineSettings machine) {
        operator.accept("If data of an earlier member exists, first");
        setAside(machine, "old");
    }

    private void setAside(MachineSettings machine, String as) {
        operator.accept("  mv " + machine.dataDirectory() + " " + machine.dataDirectory() + "." + as);
    }

    private static String quoted(String argument) {
        return argument.matches("[A-Za-z0-9_@%+=:,./-]+") ? argument : "'" + argument.replace("'", "'\\''") + "'";
    }

    private MachineSettings machine(MemberSpec member) {
        MachineSettings known = machines.get(member.name());
        return known != null
                ? known
                : MachineSettings.of(member, ProcessKind.MANUAL, Path.of("/var/lib/etcd", member.name()));
    }
}
