package io.understudy.lab.ports;

import io.understudy.lab.failure.LabException;
import java.net.URI;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

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
}
