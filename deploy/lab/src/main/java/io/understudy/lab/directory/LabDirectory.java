package io.understudy.lab.directory;

import io.understudy.lab.failure.LabException;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The lab's data directory, held exclusively until closed.
 *
 * <p>Only an empty directory or one created by a lab is used, and only the latter is wiped.
 *
 * <p>Invariant DP5: only a directory made by a lab is used or wiped, by one lab at a time.
 */
public final class LabDirectory implements AutoCloseable {

    /** Space of a new lab, mostly log segments of etcd and indexes of Kafka. */
    static final long NEW_BYTES = 1L << 30;

    /** Free space below which servers have most likely failed for lack of it. */
    private static final long FULL_BYTES = 32L << 20;

    /** Space for a day of use. */
    static final long GROWTH_BYTES = 256L << 20;

    private static final String LOCK = "lock";
    private static final Set<String> KEPT_WHEN_WIPED = Set.of(LOCK, Marker.FILE_NAME);

    private final Path path;
    private final LabLock lock;
    private final LabPorts remembered;
    private final boolean resumed;

    private LabDirectory(Path path, LabLock lock, LabPorts remembered, boolean resumed) {
        this.path = path;
        this.lock = lock;
        this.remembered = remembered;
        this.resumed = resumed;
    }

    /** Returns the default directory: below {@code $XDG_STATE_HOME}, else below {@code ~/.local/state}. */
    public static Path standard(Map<String, String> environment, Path home) {
        String state = environment.get("XDG_STATE_HOME");
        Path base = state == null || state.isBlank() ? home.resolve(".local/state") : Path.of(state);
        return base.resolve("understudy/lab");
    }

    /**
     * Creates the directory, or opens one of an earlier lab, and locks it.
     *
     * @param fresh whether data of an earlier lab is deleted
     * @throws LabException it is not a lab's, is in use, is not writable, or its disk is nearly full
     */
    public static LabDirectory open(Path path, boolean fresh) {
        Path absolute = path.toAbsolutePath().normalize();
        try {
            return opened(absolute, fresh);
        } catch (IOException e) {
            throw new LabException("cannot use the data directory " + absolute, e);
        }
    }

    private static LabDirectory opened(Path path, boolean fresh) throws IOException {
        Path marker = path.resolve(Marker.FILE_NAME);
        requireOurs(path, marker);
        Files.createDirectories(path);
        LabLock lock = LabLock.acquire(path.resolve(LOCK));
        try {
            if (fresh) {
                wipe(path);
                Files.deleteIfExists(marker);
            }
            boolean resumed = Files.exists(marker);
            requireSpace(path, resumed ? GROWTH_BYTES : NEW_BYTES);
            LabPorts remembered = resumed ? Marker.read(marker) : LabPorts.standard();
            return new LabDirectory(path, lock, remembered, resumed);
        } catch (IOException | RuntimeException e) {
            closeAfter(e, lock);
            throw e;
        }
    }

    private static void requireOurs(Path path, Path marker) throws IOException {
        if (Files.exists(marker) || !Files.exists(path)) {
            return;
        }
        if (!Files.isDirectory(path)) {
            throw new LabException(
                    "the data directory " + path + " is not a directory; choose another with --data-dir");
        }
        List<String> strangers;
        try (Stream<Path> entries = Files.list(path)) {
            strangers = entries.map(entry -> entry.getFileName().toString())
                    // Left by a lab that ended before it had anything else.
                    .filter(name -> !name.equals(LOCK) && !name.startsWith(Marker.FILE_NAME))
                    .sorted()
                    .limit(3)
                    .toList();
        }
        if (!strangers.isEmpty()) {
            throw new LabException("the data directory " + path + " does not belong to a lab: it contains "
                    + strangers.stream().collect(Collectors.joining(", "))
                    + " but no " + Marker.FILE_NAME + "; choose an empty or new one with --data-dir");
        }
    }

    private static void requireSpace(Path path, long needed) throws IOException {
        long usable = Files.getFileStore(path).getUsableSpace();
        if (usable < needed) {
            throw new LabException("the disk of the data directory " + path + " is nearly full: " + (usable >> 20)
                    + " MiB free, " + (needed >> 20) + " MiB required; choose another with --data-dir");
        }
    }

    /** Deletes the content without following symbolic links; the lock stays. */
    private static void wipe(Path path) throws IOException {
        Files.walkFileTree(path, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!path.equals(file.getParent())
                        || !KEPT_WHEN_WIPED.contains(file.getFileName().toString())) {
                    Files.delete(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                if (!folder.equals(path)) {
                    Files.delete(folder);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** Returns the absolute path. */
    public Path path() {
        return path;
    }

    /** Whether an earlier lab's data is here. */
    public boolean resumed() {
        return resumed;
    }

    /** Returns the process ID of a lab that ended here without cleanup. */
    public OptionalLong abandonedBy() {
        return lock.abandonedBy();
    }

    /**
     * Returns the ports: as chosen, else of the previous run, else the standard ones.
     *
     * @throws LabException the servers cannot move to a chosen port, or two are equal
     */
    public LabPorts ports(Map<LabPort, Integer> chosen) {
        chosen.forEach((port, number) -> {
            if (resumed && port.internal() && remembered.number(port) != number) {
                throw new LabException(port.flag() + " is " + number + ", but the servers in " + path + " use port "
                        + remembered.number(port) + " for each other; omit the flag, or add --fresh");
            }
        });
        return remembered.with(chosen);
    }

    /**
     * Stores the ports of this run, which marks the directory as a lab's.
     *
     * @throws LabException the file is not writable
     */
    public void remember(LabPorts ports) {
        try {
            Marker.write(path.resolve(Marker.FILE_NAME), ports);
        } catch (IOException e) {
            throw new LabException("cannot write to the data directory " + path, e);
        }
    }

    /**
     * Returns a folder in the directory, created if needed.
     *
     * @throws LabException the folder cannot be created
     */
    public Path folder(String name) {
        try {
            return Files.createDirectories(path.resolve(name));
        } catch (IOException e) {
            throw new LabException("cannot write to the data directory " + path, e);
        }
    }

    /** Returns a message if the disk is full, which servers report only in long logs. */
    public Optional<String> full() {
        try {
            long usable = Files.getFileStore(path).getUsableSpace();
            return usable < FULL_BYTES
                    ? Optional.of(
                            "the disk of the data directory " + path + " is full: " + (usable >> 20) + " MiB free")
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.of("cannot read the free space of the data directory " + path + ": " + e.getMessage());
        }
    }

    /** Releases the lock. */
    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw new LabException("cannot release the lock of " + path, e);
        }
    }

    private static void closeAfter(Exception failure, LabLock lock) {
        try {
            lock.close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /** The file that marks a lab's data directory: layout version and last ports. Later starts use these ports again. */
    static final class Marker {

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
}
