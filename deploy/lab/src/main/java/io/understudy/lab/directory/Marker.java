package io.understudy.lab.directory;

import io.understudy.lab.failure.LabException;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** The file that marks a lab's data directory: layout version and last ports. Later starts use these ports again. */
final class Marker {

    static final String FILE_NAME = "understudy-lab.properties";

    private static final String FORMAT = "1";
    private static final String FORMAT_KEY = "format";

    private Marker() {}

    /** @throws LabException the file is of another version, or damaged */
    static LabPorts read(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            properties.load(reader);
        }
        String format = properties.getProperty(FORMAT_KEY);
        if (!FORMAT.equals(format)) {
            throw new LabException(file + " has format " + format + ", this version of understudy supports format "
                    + FORMAT + "; choose another directory with --data-dir");
        }
        Map<LabPort, Integer> numbers = new EnumMap<>(LabPort.class);
        for (LabPort port : LabPort.values()) {
            Integer number = number(file, port, properties.getProperty(key(port)));
            if (number != null) {
                numbers.put(port, number);
            }
        }
        return new LabPorts(numbers);
    }

    private static @Nullable Integer number(Path file, LabPort port, @Nullable String text) {
        if (text == null) {
            return null;
        }
        try {
            return Integer.valueOf(text.strip());
        } catch (NumberFormatException e) {
            throw new LabException(file + ": " + key(port) + " is '" + text + "', not a port number", e);
        }
    }

    /** Replaces the file atomically, so that a crash leaves the old or the new one. */
    static void write(Path file, LabPorts ports) throws IOException {
        StringBuilder text = new StringBuilder("""
                # A data directory of 'understudy lab'. Stop the lab before you delete it;
                # 'understudy lab --fresh' deletes it and starts a new lab.
                """);
        text.append(FORMAT_KEY).append('=').append(FORMAT).append('\n');
        ports.numbers()
                .forEach((port, number) ->
                        text.append(key(port)).append('=').append(number).append('\n'));
        Path written = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(written, text);
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Independent of names of parts, which may change between versions. */
    private static String key(LabPort port) {
        return port.name().toLowerCase(Locale.ROOT).replace('_', '-') + "-port";
    }
}
