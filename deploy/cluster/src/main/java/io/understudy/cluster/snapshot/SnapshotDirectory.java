package io.understudy.cluster.snapshot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The directory of snapshots; files of any other name are ignored. */
public record SnapshotDirectory(Path path) {

    private static final Pattern NAME = Pattern.compile("snapshot-(\\d{8}T\\d{6}\\.\\d{3}Z)\\.db");
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSSX").withZone(ZoneOffset.UTC);
    private static final String UPLOADED = ".uploaded";
    private static final String PART = ".part";

    /** Limit of files that wait for an upload, as a multiple of kept ones. */
    private static final int WAITING_TIMES = 10;

    /** Returns the file of a snapshot that starts at that time. */
    public Path fileOf(Instant taken) {
        return path.resolve("snapshot-" + STAMP.format(taken) + ".db");
    }

    /** Returns the name of an incomplete snapshot. */
    static Path part(Path file) {
        return file.resolveSibling(file.getFileName() + PART);
    }

    /**
     * Deletes incomplete snapshots of processes that have ended, unless one is being taken.
     *
     * @return a lock; no process deletes incomplete ones before it is closed. Null if another user's file or the file
     *     system allows none, and nothing is deleted
     */
    @Nullable FileChannel deleteIncomplete() throws IOException {
        FileChannel lock;
        try {
            lock = FileChannel.open(
                    path.resolve(".snapshots.lock"),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
        } catch (IOException e) {
            return null;
        }
        try {
            FileLock alone = lock.tryLock();
            if (alone != null) {
                try (alone;
                        DirectoryStream<Path> incomplete = Files.newDirectoryStream(
                                path, file -> isIncomplete(file.getFileName().toString()))) {
                    for (Path file : incomplete) {
                        Files.delete(file);
                    }
                }
            }
            var unused = lock.lock(0, Long.MAX_VALUE, true);
        } catch (IOException | OverlappingFileLockException e) {
            lock.close();
            return null;
        }
        return lock;
    }

    private static boolean isIncomplete(String name) {
        return name.endsWith(PART)
                && NAME.matcher(name.substring(0, name.length() - PART.length()))
                        .matches();
    }

    /** Returns all snapshots, newest first; none without the directory. */
    public List<SnapshotFile> list() {
        if (!Files.isDirectory(path)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(path)) {
            return files.flatMap(file -> read(file).stream())
                    .sorted(Comparator.comparing(SnapshotFile::taken).reversed())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + path, e);
        }
    }

    /** Returns those taken until a time. Later ones are of a wrong clock: they neither end the schedule nor count as kept. */
    List<SnapshotFile> list(Instant now) {
        return list().stream().filter(file -> !file.taken().isAfter(now)).toList();
    }

    private static Optional<SnapshotFile> read(Path file) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (!name.matches()) {
            return Optional.empty();
        }
        return Optional.of(new SnapshotFile(
                file, Instant.from(STAMP.parse(name.group(1))), file.toFile().length(), Files.exists(marker(file))));
    }

    /** Remembers that the upload command has taken it. */
    void uploaded(SnapshotFile snapshot) throws IOException {
        Path marker = marker(snapshot.path());
        if (!Files.exists(marker)) {
            Files.createFile(marker);
        }
    }

    /**
     * Deletes those that are too many and too old.
     *
     * @param count how many of the newest stay however old they are
     * @param age how long the others stay
     * @param awaitsUpload whether those that were not uploaded stay as well, up to ten times as many
     * @return what was deleted
     */
    List<SnapshotFile> prune(int count, Duration age, boolean awaitsUpload, Instant now) throws IOException {
        List<SnapshotFile> deleted = new ArrayList<>();
        List<SnapshotFile> all = list(now);
        for (int rank = count; rank < all.size(); rank++) {
            SnapshotFile snapshot = all.get(rank);
            boolean waits = awaitsUpload && !snapshot.isUploaded() && rank < (long) WAITING_TIMES * count;
            if (!waits && !snapshot.taken().isAfter(now.minus(age))) {
                Files.delete(snapshot.path());
                Files.deleteIfExists(marker(snapshot.path()));
                deleted.add(snapshot);
            }
        }
        return deleted;
    }

    private static Path marker(Path file) {
        return file.resolveSibling(file.getFileName() + UPLOADED);
    }

    /**
     * A snapshot that is whole.
     *
     * @param taken when it was begun
     * @param isUploaded whether the upload command has taken it
     */
    public record SnapshotFile(Path path, Instant taken, long bytes, boolean isUploaded) {}
}
