package io.understudy.cluster.machine;

import io.understudy.cluster.machine.OwnMachines.ProcessControl;
import io.understudy.etcd.EtcdVersion;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import io.understudy.local.process.Folders;
import io.understudy.local.process.LastingProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerHost;
import io.understudy.local.process.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Members as processes that a {@link ServerHost} runs. Thread-safe. */
public final class LocalControl implements ProcessControl {

    /** A directory has one process at most, even if other flags have changed. */
    private static final List<String> IDENTIFYING_FLAGS = List.of(EtcdFlags.DATA_DIRECTORY);

    private static final Duration VERSION_DEADLINE = Duration.ofSeconds(20);

    private final ServerHost host;
    private final Supplier<Path> etcd;
    private final Map<String, ServerProcess> processes = new ConcurrentHashMap<>();
    private @Nullable Path found;

    /**
     * @param host decides whether members outlive this process
     * @param etcd returns the absolute path of the default server; called once, may take long
     */
    public LocalControl(ServerHost host, Supplier<Path> etcd) {
        this.host = host;
        this.etcd = etcd;
    }

    /** Runs members that outlive this process, and finds those of an earlier one. */
    public static LocalControl lasting(Supplier<Path> etcd) {
        return new LocalControl(new LastingProcesses(IDENTIFYING_FLAGS), etcd);
    }

    @Override
    public void run(MachineSettings machine, EtcdFlags flags) {
        ServerCommand command = command(machine, flags);
        var unused = Folders.create(command.directory());
        ServerProcess process = host.prepare(command);
        processes.put(machine.name(), process);
        process.start();
    }

    @Override
    public void stop(MachineSettings machine) {
        process(machine).stop();
    }

    @Override
    public boolean isRunning(MachineSettings machine) {
        return process(machine).isAlive();
    }

    @Override
    public OptionalLong pid(MachineSettings machine) {
        return process(machine).pid();
    }

    @Override
    public Optional<String> programFailure(MachineSettings machine) {
        Path program = program(machine);
        try {
            String output = Command.of(List.of(program.toString(), "--version")).run(VERSION_DEADLINE);
            return ProgramVersion.in(output).isPresent()
                    ? Optional.empty()
                    : Optional.of("'" + program + " --version' prints no version of etcd");
        } catch (CommandFailedException e) {
            return Optional.ofNullable(e.getMessage());
        }
    }

    @Override
    public EtcdVersion programVersion(MachineSettings machine) {
        try {
            return EtcdVersion.in(Command.of(List.of(program(machine).toString(), "--version"))
                    .run(VERSION_DEADLINE));
        } catch (CommandFailedException e) {
            return EtcdVersion.UNKNOWN;
        }
    }

    @Override
    public List<String> endOfLog(MachineSettings machine, int lines) {
        return process(machine).log().tail(lines);
    }

    /** Returns the current process of a member, or the last one. */
    public ServerProcess process(MachineSettings machine) {
        return processes.computeIfAbsent(
                machine.name(), name -> host.prepare(command(machine, EtcdFlags.resuming(machine))));
    }

    /** Returns the default server, searched and verified once. */
    private synchronized Path etcd() {
        Path known = found == null ? etcd.get() : found;
        found = known;
        return known;
    }

    private Path program(MachineSettings machine) {
        return machine.program().orElseGet(this::etcd);
    }

    private ServerCommand command(MachineSettings machine, EtcdFlags flags) {
        return new ServerCommand(
                machine.name(),
                program(machine),
                flags.arguments(),
                flags.environment(),
                machine.dataDirectory().resolveSibling(".").normalize(),
                machine.log());
    }
}
