package io.understudy.cluster.machine;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** How servers of this machine are started and stopped. */
interface ProcessControl {

    /** Starts it, or gives the order to; the caller made sure that it doesn't run. */
    void run(MachineSettings machine, EtcdFlags flags);

    /** Returns when it has ended; does nothing if it doesn't run. */
    void stop(MachineSettings machine);

    boolean isRunning(MachineSettings machine);

    /** Its process id on this machine; empty if it doesn't run, or is not a process of this kernel. */
    OptionalLong pid(MachineSettings machine);

    /** Why its program does not run; empty if it does, or if that cannot be seen. */
    default Optional<String> programFailure(MachineSettings machine) {
        return Optional.empty();
    }

    /** What it printed last. */
    List<String> endOfLog(MachineSettings machine, int lines);
}
