package io.understudy.cluster.machine;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /**
     * Writes back appended data of another process, so that its own flush is short.
     *
     * <p>A direct read writes the cached range to disk first ({@code filemap_write_and_wait_range} in {@code mm/filemap.c}
     * of Linux). Unlike a flush, it does not commit the file system's journal, which delays every other flush. The price is
     * one read of the file from the disk.
     */
    private static final class WriteBack implements AutoCloseable {

        private static final Logger LOG = LoggerFactory.getLogger(WriteBack.class);

        /** Multiple of the block sizes of disks and file systems. */
        private static final int BLOCK = 4096;

        private static final int AT_ONCE = 1 << 20;

        private final FileChannel data;
        private @Nullable FileChannel direct;
        private final ByteBuffer read;
        private long written;

        private WriteBack(FileChannel data, @Nullable FileChannel direct) {
            this.data = data;
            this.direct = direct;
            this.read = ByteBuffer.allocateDirect(direct == null ? BLOCK : AT_ONCE + BLOCK)
                    .alignedSlice(BLOCK);
        }

        /** @param data the same file, closed by the caller */
        static WriteBack of(Path file, FileChannel data) {
            try {
                return new WriteBack(data, FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT));
            } catch (IOException | UnsupportedOperationException e) {
                LOG.atDebug()
                        .addKeyValue("file", file)
                        .addKeyValue("cause", e.getMessage())
                        .log("direct I/O not supported");
                return new WriteBack(data, null);
            }
        }

        /** Returns when existing data is written; without direct I/O, when it is flushed. */
        void catchUp() throws IOException {
            FileChannel past = direct;
            if (past == null) {
                data.force(false);
                return;
            }
            try {
                readFrom(past);
            } catch (ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                // Some file systems report that only now.
                LOG.atDebug().addKeyValue("cause", e.getMessage()).log("direct I/O not supported");
                close();
                data.force(false);
            }
        }

        private void readFrom(FileChannel past) throws IOException {
            long end = data.size();
            int count;
            do {
                read.clear().limit(AT_ONCE);
                count = Math.max(0, past.read(read, written));
                written += count - count % BLOCK;
            } while (count == AT_ONCE && written < end);
        }

        @Override
        public void close() throws IOException {
            FileChannel past = direct;
            direct = null;
            if (past != null) {
                past.close();
            }
        }
    }
}
