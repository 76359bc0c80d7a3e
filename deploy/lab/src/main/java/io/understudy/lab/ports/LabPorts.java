package io.understudy.lab.ports;

import io.understudy.lab.failure.LabException;
import io.understudy.lab.ports.PortHolders.PortHolder;
import io.understudy.local.process.FreePorts;
import java.net.URI;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A number for each {@link LabPort}, all different.
 *
 * @param numbers complete
 */
public record LabPorts(Map<LabPort, Integer> numbers) {

    /** Everything listens here and nowhere else. */
    public static final String HOST = "127.0.0.1";

    /**
     * Completes the numbers with the standard ones.
     *
     * @throws LabException a number is not a port, or given twice
     */
    public LabPorts {
        EnumMap<LabPort, Integer> all = new EnumMap<>(LabPort.class);
        Map<Integer, LabPort> owners = new HashMap<>();
        for (LabPort port : LabPort.values()) {
            int number = requireValid(port, numbers.getOrDefault(port, port.standard()));
            LabPort owner = owners.putIfAbsent(number, port);
            if (owner != null) {
                throw new LabException(
                        "port " + number + " is used twice: by " + owner.flag() + " and by " + port.flag());
            }
            all.put(port, number);
        }
        numbers = Collections.unmodifiableMap(all);
    }

    /**
     * Returns the number.
     *
     * @throws LabException it is not a port's
     */
    private static int requireValid(LabPort port, int number) {
        if (number < 1 || number > 65535) {
            throw new LabException(port.flag() + " is " + number + "; allowed: 1 to 65535");
        }
        return number;
    }

    /** The standard ones. */
    public static LabPorts standard() {
        return new LabPorts(Map.of());
    }

    /**
     * These ports where {@code chosen} names no other.
     *
     * @throws LabException two would be the same, or one is not a port
     */
    public LabPorts with(Map<LabPort, Integer> chosen) {
        EnumMap<LabPort, Integer> merged = new EnumMap<>(LabPort.class);
        merged.putAll(numbers);
        merged.putAll(chosen);
        return new LabPorts(merged);
    }

    public int number(LabPort port) {
        return numbers.getOrDefault(port, port.standard());
    }

    /** {@code host:port}. */
    public String address(LabPort port) {
        return HOST + ":" + number(port);
    }

    /** {@code http://host:port}. */
    public URI url(LabPort port) {
        return URI.create("http://" + address(port));
    }

    /** Finds out before anything is started whether the ports are free. */
    public static final class PortCheck {

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
}
