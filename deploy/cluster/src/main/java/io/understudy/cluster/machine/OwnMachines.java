package io.understudy.cluster.machine;

import io.understudy.etcd.EtcdVersion;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Members that run on this machine, with data in its file system. Thread-safe.
 *
 * <p>Invariant DP24: one process at a time starts, stops or moves a member and its data, and a running member is not
 * started again, whatever started it.
 */
public final class OwnMachines implements Machines {

    /** Lines that hold etcd's usage text, or a panic's stack trace and its reason. */
    private static final int LOG_LINES = 400;

    private final Map<String, MachineSettings> machines = new LinkedHashMap<>();
    private final ProcessControl control;
    private final InstantSource clock;
    private final JoinThrottle throttle;

    OwnMachines(List<MachineSettings> machines, ProcessControl control, InstantSource clock) {
        machines.forEach(machine -> this.machines.put(machine.name(), machine));
        this.control = control;
        this.throttle = new JoinThrottle(
                machines.stream().map(machine -> data(machine).database()).toList());
        this.clock = clock;
    }

    /** Returns members that run as processes. */
    public static OwnMachines local(List<MachineSettings> machines, LocalControl control, InstantSource clock) {
        return new OwnMachines(machines, control, clock);
    }

    /** Returns members that run as units of systemd. */
    public static OwnMachines systemd(List<MachineSettings> machines, InstantSource clock) {
        return new OwnMachines(machines, new SystemdControl("systemctl", "journalctl"), clock);
    }

    @Override
    public List<MemberSpec> places() {
        return machines.values().stream().map(MachineSettings::member).toList();
    }

    @Override
    public void found(MemberSpec member, String initialCluster, String token) {
        locked(member, machine -> {
            requireStopped(machine);
            var unused = data(machine).setAside(clock.instant());
            control.run(machine, EtcdFlags.founding(machine, initialCluster, token));
        });
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        locked(member, machine -> {
            requireStopped(machine);
            throttle.end(machine);
            var unused = data(machine).setAside(clock.instant());
            control.run(machine, EtcdFlags.joining(machine, initialCluster));
            throttle.begin(machine, () -> control.pid(machine));
        });
    }

    @Override
    public void resumeJoining(MemberSpec member) {
        locked(member, machine -> {
            if (control.isRunning(machine)) {
                throttle.begin(machine, () -> control.pid(machine));
            }
        });
    }

    @Override
    public void letGo(MemberSpec member) {
        MachineSettings machine = machine(member);
        throttle.end(machine);
        control.pid(machine).stream()
                .boxed()
                .flatMap(pid -> ProcessHandle.of(pid).stream())
                .forEach(throttle::undo);
    }

    @Override
    public void endFirstStart(MemberSpec member) {
        MachineSettings machine = machine(member);
        if (control.keepsFirstStart(machine) && data(machine).isInUse()) {
            locked(member, unused -> {
                // Another process may have begun a join since the first check.
                if (data(machine).isInUse()) {
                    control.endFirstStart(machine);
                }
            });
        }
    }

    @Override
    public OptionalLong received(MemberSpec member) {
        return IncomingSnapshot.sizeIn(data(machine(member)));
    }

    @Override
    public void start(MemberSpec member) {
        start(member, UnaryOperator.identity());
    }

    @Override
    public void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        locked(member, machine -> {
            requireData(machine);
            if (!control.isRunning(machine)) {
                data(machine).requireUnused();
                MachineSettings used = settings.apply(machine);
                control.run(used, EtcdFlags.resuming(used));
            }
        });
    }

    @Override
    public Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        return control.programFailure(settings.apply(machine(member)));
    }

    @Override
    public EtcdVersion programVersion(MemberSpec member) {
        return control.programVersion(machine(member));
    }

    @Override
    public Optional<String> maxLearners(MemberSpec member) {
        OptionalLong pid = control.pid(machine(member));
        return pid.isPresent()
                ? EtcdFlags.maxLearners(Path.of("/proc", Long.toString(pid.getAsLong())))
                : Optional.empty();
    }

    @Override
    public void stop(MemberSpec member) {
        locked(member, this::stop);
    }

    @Override
    public void retire(MemberSpec member) {
        locked(member, machine -> {
            stop(machine);
            requireStopped(machine);
            var unused = data(machine).setAside(clock.instant());
        });
    }

    @Override
    public void copyData(MemberSpec member) {
        locked(member, machine -> {
            requireStopped(machine);
            var unused = data(machine).copyAside(clock.instant());
        });
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return Optional.of(control.isRunning(machine(member)));
    }

    @Override
    public OptionalLong freeBytes(MemberSpec member) {
        return data(machine(member)).freeBytes();
    }

    @Override
    public boolean isInUse(MemberSpec member) {
        MachineSettings machine = machine(member);
        return control.isRunning(machine) || data(machine).isInUse();
    }

    @Override
    public Optional<DataOwner> owner(MemberSpec member) {
        return data(machine(member)).owner();
    }

    @Override
    public Optional<String> setAsideFailure(MemberSpec member) {
        return data(machine(member)).setAsideFailure();
    }

    @Override
    public Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        return moveFailure(machine(from), machine(to));
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        locked(from, source -> locked(to, target -> move(source, target)));
    }

    private void move(MachineSettings from, MachineSettings to) {
        requireStopped(from);
        moveFailure(from, to).ifPresent(why -> {
            throw new IllegalStateException(why);
        });
        if (data(from).hasMember()) {
            data(from).moveTo(data(to), clock.instant());
        }
    }

    private Optional<String> moveFailure(MachineSettings from, MachineSettings to) {
        DataDirectory source = data(from);
        DataDirectory target = data(to);
        if (!source.hasMember()) {
            return target.hasMember()
                    ? Optional.empty()
                    : Optional.of("no data in " + source.path() + " of " + from.name() + " or in " + target.path()
                            + " of " + to.name());
        }
        return control.isRunning(to) || target.isInUse()
                ? Optional.of("a process uses " + target.path() + " of " + to.name())
                : source.moveFailure(target);
    }

    @Override
    public List<String> endOfLog(MemberSpec member) {
        return control.endOfLog(machine(member), LOG_LINES);
    }

    /** Runs work while the state of process and data cannot change. Members do not wait for each other. */
    private void locked(MemberSpec member, Consumer<MachineSettings> work) {
        MachineSettings machine = machine(member);
        DirectoryLock.holding(machine.dataDirectory(), () -> work.accept(machine));
    }

    /** A paused process does not handle the signal to stop. */
    private void stop(MachineSettings machine) {
        throttle.end(machine);
        control.stop(machine);
    }

    private void requireStopped(MachineSettings machine) {
        if (control.isRunning(machine)) {
            throw new IllegalStateException("member " + machine.name() + " is running; stop it first");
        }
        data(machine).requireUnused();
    }

    private static void requireData(MachineSettings machine) {
        if (!data(machine).hasMember()) {
            throw new IllegalStateException("member " + machine.name() + " has no data in " + machine.dataDirectory()
                    + "; remove it from the cluster and add it again");
        }
    }

    private static DataDirectory data(MachineSettings machine) {
        return new DataDirectory(machine.dataDirectory());
    }

    private MachineSettings machine(MemberSpec member) {
        MachineSettings machine = machines.get(member.name());
        if (machine == null) {
            throw new IllegalArgumentException(
                    "no machine is configured for member " + member.name() + "; configured: " + machines.keySet());
        }
        return machine;
    }

    /** Starts and stops servers of this machine. */
    interface ProcessControl {

        /** Starts it, or gives the order to; the caller made sure that it doesn't run. */
        void run(MachineSettings machine, EtcdFlags flags);

        /** Whether a start by others, as at boot, has the flags of its first start. */
        default boolean keepsFirstStart(MachineSettings machine) {
            return false;
        }

        /** Lets it start with data only. The running server and its other flags are left as they are. */
        default void endFirstStart(MachineSettings machine) {}

        /** Returns when it has ended; does nothing if it doesn't run. */
        void stop(MachineSettings machine);

        boolean isRunning(MachineSettings machine);

        /** Returns the process ID. Empty if the server is not a running process of this kernel. */
        OptionalLong pid(MachineSettings machine);

        /** Returns why its program does not run; empty if it does, or if unknown. */
        default Optional<String> programFailure(MachineSettings machine) {
            return Optional.empty();
        }

        /** Returns the version of its program; unknown if it does not run, or is not visible here. */
        default EtcdVersion programVersion(MachineSettings machine) {
            return EtcdVersion.UNKNOWN;
        }

        /** Returns the last lines of its log. */
        List<String> endOfLog(MachineSettings machine, int lines);
    }
}
