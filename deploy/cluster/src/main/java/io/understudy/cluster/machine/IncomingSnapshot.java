package io.understudy.cluster.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot that a member is receiving from its leader. It is renamed when complete and flushed, and removed on
 * failure ({@code SaveDBFrom} in {@code etcdserver/api/snap/db.go}).
 */
final class IncomingSnapshot implements AutoCloseable {

    private final Path file;
    private final FileChannel data;
    private final WriteBack back;
    private final @Nullable Object identity;

    private IncomingSnapshot(Path file, FileChannel data, WriteBack back, @Nullable Object identity) {
        this.file = file;
        this.data = data;
        this.back = back;
        this.identity = identity;
    }

    /** Returns the current snapshot; empty if none is being received. */
    static Optional<IncomingSnapshot> of(DataDirectory dataDirectory) {
        try {
            Optional<Path> newest = newestIn(dataDirectory);
            if (newest.isEmpty()) {
                return Optional.empty();
            }
            Path file = newest.get();
            @Nullable Object identity = identity(file);
            FileChannel data = FileChannel.open(file, StandardOpenOption.READ);
            return Optional.of(new IncomingSnapshot(file, data, WriteBack.of(file, data), identity));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot search for a snapshot in " + dataDirectory.path(), e);
        }
    }

    /** Returns the size of the current snapshot. Empty if there is none, or it is not visible here. */
    static OptionalLong sizeIn(DataDirectory dataDirectory) {
        try {
            Optional<Path> newest = newestIn(dataDirectory);
            return newest.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Files.size(newest.get()));
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns the newest one: after an election, an incomplete one may be left. */
    private static Optional<Path> newestIn(DataDirectory dataDirectory) throws IOException {
        Path folder = dataDirectory.snapshots();
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith("tmp"))
                    .max(Comparator.comparing(IncomingSnapshot::changedAt));
        } catch (UncheckedIOException e) {
            throw new IOException("cannot list " + folder, e);
        }
    }

    private static FileTime changedAt(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException e) {
            return FileTime.fromMillis(0);
        }
    }

    private static @Nullable Object identity(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    boolean isComing() {
        return Files.exists(file);
    }

    /** Whether the snapshot was received completely, so that it has a final name. */
    boolean isTaken() {
        try (Stream<Path> files = Files.list(file.resolveSibling("."))) {
            return files.filter(each -> each.getFileName().toString().endsWith("db"))
                    .anyMatch(this::isSame);
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }

    private boolean isSame(Path other) {
        try {
            return identity != null && identity.equals(identity(other));
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the received bytes. */
    long size() {
        try {
            return data.size();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot determine the size of " + file, e);
        }
    }

    /** Returns when about all received data is written to the disk. */
    void writeBack() {
        try {
            back.catchUp();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write back " + file, e);
        }
    }

    /** Prefetches the following data, if the sender is on this machine. */
    void readAhead(Prefetch prefetch) {
        prefetch.follow(data, size());
    }

    @Override
    public void close() {
        try {
            try {
                back.close();
            } finally {
                data.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close " + file, e);
        }
    }
}
