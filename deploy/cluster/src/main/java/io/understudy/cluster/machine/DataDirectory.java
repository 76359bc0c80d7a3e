package io.understudy.cluster.machine;

import io.understudy.local.process.Folders;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member's data on this machine. Nothing here deletes any: existing data is renamed.
 *
 * <p>Invariant DP7: no member's data is deleted; a directory in the way is renamed, unless a process uses it.
 *
 * @param path the {@code --data-dir} of etcd
 */
public record DataDirectory(Path path) {

    private static final Logger LOG = LoggerFactory.getLogger(DataDirectory.class);
    /** End of the name of an incomplete copy. */
    private static final String PART = ".part";

    /** Bytes that hold the first records of a write-ahead log. */
    private static final int LOG_START = 4096;

    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss").withZone(ZoneOffset.UTC);

    /** Whether the path is absent or an empty directory, such as a mount point. */
    public boolean isVacant() {
        try (Stream<Path> all = Files.list(path)) {
            return all.findAny().isEmpty();
        } catch (NoSuchFileException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether a file system is mounted here: the directory can neither be renamed nor replaced. */
    public boolean isMountPoint() {
        try {
            return Files.isDirectory(path) && !Files.getFileStore(path).equals(store(path));
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether a member has run here. */
    public boolean hasMember() {
        return Files.isDirectory(path.resolve("member"));
    }

    /** Whether a member has run here. Empty if access is denied, or if an empty folder may be a lost mount. */
    public Optional<Boolean> seesMember() {
        if (hasMember()) {
            return Optional.of(true);
        }
        boolean isAbsent = isAbsent(path.resolve("member"))
                && (hasContent(path) || (isAbsent(path) && hasContent(path.resolveSibling("."))));
        return isAbsent ? Optional.of(false) : Optional.empty();
    }

    /** Whether the folder has more than the lock file. An order to an absent member creates that file. */
    private boolean hasContent(Path folder) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.anyMatch(
                    each -> !each.getFileName().equals(DirectoryLock.file(path).getFileName()));
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isAbsent(Path file) {
        return Files.notExists(file, LinkOption.NOFOLLOW_LINKS);
    }

    /** Reads the owner from the metadata at the start of the write-ahead log. Empty without a readable log. */
    public Optional<DataOwner> owner() {
        List<Path> logs = logs();
        if (logs.isEmpty()) {
            return Optional.empty();
        }
        try (InputStream file = Files.newInputStream(logs.get(0))) {
            return DataOwner.in(ByteBuffer.wrap(file.readNBytes(LOG_START)).order(ByteOrder.LITTLE_ENDIAN));
        } catch (IOException e) {
            LOG.atDebug().addKeyValue("path", path).setCause(e).log("write-ahead log not readable");
            return Optional.empty();
        }
    }

    /** Whether a process has the write-ahead log open: etcd locks its files ({@code wal/file_pipeline.go}). */
    boolean isInUse() {
        return logs().stream().anyMatch(DataDirectory::isLocked);
    }

    /** @throws IllegalStateException a process uses it */
    void requireUnused() {
        if (isInUse()) {
            throw new IllegalStateException("a process uses " + path
                    + owner().map(owner -> " (" + owner + ")").orElse("") + "; stop it first");
        }
    }

    private static boolean isLocked(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
            return lock == null;
        } catch (OverlappingFileLockException e) {
            // Held by this check in another thread, so by no other process.
            return false;
        } catch (IOException e) {
            LOG.atDebug().addKeyValue("path", file).setCause(e).log("lock not readable");
            return false;
        }
    }

    private List<Path> logs() {
        try (Stream<Path> files = Files.list(path.resolve("member/wal"))) {
            return files.filter(file -> file.toString().endsWith(".wal"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns the directory of a member's database and incoming snapshot. */
    Path snapshots() {
        return path.resolve("member/snap");
    }

    /** Returns a member's database, which exists only after its first start. */
    Path database() {
        return snapshots().resolve("db");
    }

    /**
     * Renames the directory, so that a member can start without data.
     *
     * @return its new name; empty if there was none, or an empty one
     * @throws UncheckedIOException renaming fails
     * @throws IllegalStateException a process uses it
     */
    public Optional<Path> setAside(Instant now) {
        if (isVacant()) {
            return Optional.empty();
        }
        requireUnused();
        Path aside = free("old", now);
        try {
            rename(path, aside);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot rename " + path + " to " + aside, e);
        }
        LOG.atInfo().addKeyValue("from", path).addKeyValue("to", aside).log("data directory set aside");
        return Optional.of(aside);
    }

    /** Returns why {@link #setAside} would fail. Empty if it would not, or only until a process has ended. */
    Optional<String> setAsideFailure() {
        if (isVacant()) {
            return Optional.empty();
        }
        if (isMountPoint() && !Files.isSymbolicLink(path)) {
            return Optional.of(path + " is a mount point with files in it, which cannot be renamed");
        }
        return Files.isWritable(path.resolveSibling("."))
                ? Optional.empty()
                : Optional.of("the directory above " + path + " is not writable, so that it cannot be renamed");
    }

    /** Returns why {@link #moveTo} would fail; empty if there is room. */
    Optional<String> moveFailure(DataDirectory other) {
        try {
            FileStore store = store(other.path);
            if (!Files.getFileStore(path).equals(store)) {
                requireRoom(other.path, store);
            }
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("cannot move " + path + " to " + other.path + ": " + e.getMessage());
        }
    }

    /**
     * Moves the data to another member's directory, which is set aside if it exists. Between file systems it is copied,
     * and the original set aside.
     */
    void moveTo(DataDirectory other, Instant now) {
        var unused = other.setAside(now);
        try {
            Path folder = Folders.create(other.path.resolveSibling(".").normalize());
            if (Files.getFileStore(path).equals(Files.getFileStore(folder))) {
                rename(path, other.path);
            } else {
                copyTo(other.path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot move " + path + " to " + other.path, e);
        }
        LOG.atInfo()
                .addKeyValue("from", path)
                .addKeyValue("to", other.path)
                .addKeyValue("copied", setAside(now).isPresent())
                .log("data directory moved");
    }

    /**
     * Copies the directory while nothing writes to it. An incomplete copy has a name that ends in {@code .part}.
     *
     * @return the copy
     * @throws UncheckedIOException copying fails, or there is too little room
     */
    public Path copyAside(Instant now) {
        Path copy = free("copy", now);
        try {
            incompleteCopies().forEach(Folders::delete);
            copyTo(copy);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot copy " + path + " to " + copy, e);
        }
        LOG.atInfo().addKeyValue("from", path).addKeyValue("to", copy).log("data directory copied");
        return copy;
    }

    private void copyTo(Path copy) throws IOException {
        requireRoom(copy, Files.getFileStore(copy.resolveSibling(".")));
        Path part = copy.resolveSibling(copy.getFileName() + PART);
        Folders.delete(part);
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.toList()) {
                Files.copy(each, part.resolve(path.relativize(each).toString()), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
        publish(part, copy);
    }

    /** Renames a complete directory. After a power failure it is complete under one of both names. */
    public static void publish(Path part, Path directory) throws IOException {
        // The original may be changed or set aside next.
        try (Stream<Path> all = Files.walk(part)) {
            for (Path each : all.toList()) {
                force(each);
            }
        }
        rename(part, directory);
    }

    private static void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        force(to.resolveSibling("."));
        force(from.resolveSibling("."));
    }

    private static void force(Path fileOrFolder) throws IOException {
        try (FileChannel channel = FileChannel.open(fileOrFolder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Returns directories that were set aside or completely copied earlier, oldest first. */
    public List<Path> earlier() {
        return beside("\\.(old|copy)-.*(?<!\\" + PART + ")");
    }

    /** Returns copies that were interrupted; the next one replaces them. */
    private List<Path> incompleteCopies() {
        return beside("\\.copy-.*\\" + PART);
    }

    /** Returns the bytes that another copy needs, without those of interrupted copies. */
    public long copyBytes() {
        return size()
                - incompleteCopies().stream()
                        .mapToLong(each -> new DataDirectory(each).size())
                        .sum();
    }

    private List<Path> beside(String suffix) {
        Pattern name = Pattern.compile(Pattern.quote(path.getFileName().toString()) + suffix);
        try (Stream<Path> beside = Files.list(path.resolveSibling("."))) {
            return beside.map(Path::normalize)
                    .filter(each -> name.matcher(each.getFileName().toString()).matches())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list the directories beside " + path, e);
        }
    }

    /** Returns the free bytes on the disk; empty if unreadable. */
    OptionalLong freeBytes() {
        try {
            return OptionalLong.of(Files.getFileStore(path).getUsableSpace());
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns the size of all files. */
    public long size() {
        try (Stream<Path> all = Files.walk(path)) {
            return all.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot determine the size of " + path, e);
        }
    }

    /** Returns the file system of a directory that may be absent. */
    public static FileStore store(Path directory) throws IOException {
        Path folder = directory.toAbsolutePath().normalize();
        do {
            folder = folder.resolveSibling(".").normalize();
        } while (!Files.exists(folder));
        return Files.getFileStore(folder);
    }

    private void requireRoom(Path copy, FileStore store) throws IOException {
        if (store.getUsableSpace() < size()) {
            throw new IOException(copy + " needs " + size() + " bytes; " + store + " has only " + store.getUsableSpace()
                    + " bytes left");
        }
    }

    private Path free(String why, Instant now) {
        String name = path.getFileName() + "." + why + "-" + STAMP.format(now);
        Path candidate = path.resolveSibling(name);
        for (int more = 2; Files.exists(candidate); more++) {
            candidate = path.resolveSibling(name + "-" + more);
        }
        return candidate;
    }
}
