package io.understudy.cluster.machine;

import io.understudy.etcd.EtcdVersion;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Starts and stops servers of this machine. */
interface ProcessControl {

    /** Starts it, or gives the order to; the caller made sure that it doesn't run. */
    void run(MachineSettings machine, EtcdFlags flags);

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
