package io.understudy.lab.ports;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the process that listens on a port in Linux's {@code /proc}. It finds none elsewhere, or of other users. */
public final class PortHolders {

    private static final String LISTENING = "0A";

    private final Path proc;

    PortHolders(Path proc) {
        this.proc = proc;
    }

    public static PortHolders ofThisMachine() {
        return new PortHolders(Path.of("/proc"));
    }

    /** Returns the process that listens on the port, on any address. Empty if it cannot be found. */
    public Optional<PortHolder> of(int port) {
        Set<String> sockets = Stream.of("net/tcp", "net/tcp6")
                .flatMap(table -> lines(proc.resolve(table)).stream())
                .flatMap(line -> socketListening(line, port).stream())
                .collect(Collectors.toSet());
        if (sockets.isEmpty()) {
            return Optional.empty();
        }
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                if (holdsOneOf(process, sockets)) {
                    return Optional.of(
                            new PortHolder(Long.parseLong(process.getFileName().toString()), commandLine(process)));
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // No /proc, no answer.
            return Optional.empty();
        }
        return Optional.empty();
    }

    /** Parses a line of the kernel's table: local address second, inode tenth. */
    private static Optional<String> socketListening(String line, int port) {
        String[] columns = line.strip().split("\\s+", -1);
        String ending = String.format(":%04X", port);
        return columns.length > 9 && columns[1].endsWith(ending) && columns[3].equals(LISTENING)
                ? Optional.of("socket:[" + columns[9] + "]")
                : Optional.empty();
    }

    private static boolean holdsOneOf(Path process, Set<String> sockets) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                if (sockets.contains(target(descriptor))) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException e) {
            // It ended meanwhile, or belongs to someone else.
            return false;
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }

    private static String commandLine(Path process) {
        try {
            String line = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
            return line.replace('\0', ' ').strip();
        } catch (IOException e) {
            return "unknown command";
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * The process that listens on a port.
     *
     * @param command its command line, shortened
     */
    public record PortHolder(long pid, String command) {

        private static final int SHOWN = 80;

        public PortHolder {
            command = command.length() <= SHOWN ? command : command.substring(0, SHOWN - 3) + "...";
        }

        @Override
        public String toString() {
            return "process " + pid + " (" + command + ")";
        }
    }
}
