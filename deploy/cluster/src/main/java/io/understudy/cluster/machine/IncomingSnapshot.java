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
 * The data that a member is being sent by its leader. It gets another name once all of it is there and flushed, and is
 * removed if it breaks off ({@code SaveDBFrom} in {@code etcdserver/api/snap/db.go}).
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

    /** Empty if none is being sent now. */
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

    /** Bytes of the one that is being sent; empty if none is, or it can't be seen from here. */
    static OptionalLong sizeIn(DataDirectory dataDirectory) {
        try {
            Optional<Path> newest = newestIn(dataDirectory);
            return newest.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Files.size(newest.get()));
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    /** After another leader was elected, one that broke off may still be there. */
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

    /** Whether all of it came: by now it has one of the names under which a member takes it for its own. */
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

    /** Bytes that are there. */
    long size() {
        try {
            return data.size();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot determine the size of " + file, e);
        }
    }

    /** Returns when about all that is there is written to the disk. */
    void writeBack() {
        try {
            back.catchUp();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write back " + file, e);
        }
    }

    /** Has what comes next read ahead, if it is to be found on this machine. */
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
