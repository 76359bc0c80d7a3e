package io.understudy.lab.ports;

import io.understudy.lab.failure.LabException;
import io.understudy.local.process.FreePorts;
import java.util.List;
import java.util.stream.Collectors;

/** Finds out before anything is started whether the ports are free. */
public final class PortCheck {

    private final PortHolders holders;

    public PortCheck(PortHolders holders) {
        this.holders = holders;
    }

    /**
     * Tries to listen on each port for a moment.
     *
     * @throws LabException some are in use; the message names each with its part, its flag, and the process that holds
     *     it
     */
    public void requireFree(LabPorts ports, List<LabPort> wanted) {
        List<LabPort> taken = wanted.stream()
                .filter(port -> !FreePorts.isFree(ports.number(port)))
                .toList();
        if (!taken.isEmpty()) {
            throw new LabException(
                    taken.stream().map(port -> complaint(ports, port)).collect(Collectors.joining("\n")));
        }
    }

    private String complaint(LabPorts ports, LabPort port) {
        int number = ports.number(port);
        String holder = holders.of(number).map(PortHolder::toString).orElse("a process not visible to this user");
        String remedy = port.internal()
                ? "stop it, or start with " + port.flag() + " N in a new --data-dir"
                : "stop it, or choose another port with " + port.flag();
        return "port " + number + " (" + port.part() + ": " + port.serves() + ") is in use by " + holder + "; "
                + remedy;
    }
}
