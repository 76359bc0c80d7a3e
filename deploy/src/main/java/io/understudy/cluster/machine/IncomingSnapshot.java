package io.understudy.cluster.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The data that a member is being sent by its leader. It gets another name once all of it is there and flushed
 * ({@code SaveDBFrom} in {@code etcdserver/api/snap/db.go}).
 */
final class IncomingSnapshot implements AutoCloseable {

    private final Path file;
    private final FileChannel data;

    private IncomingSnapshot(Path file, FileChannel data) {
        this.file = file;
        this.data = data;
    }

    /** Empty if none is being sent now. */
    static Optional<IncomingSnapshot> of(Path dataDirectory) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(dataDirectory.resolve("member/snap"), "tmp*")) {
            for (Path file : files) {
                return Optional.of(new IncomingSnapshot(file, FileChannel.open(file, StandardOpenOption.READ)));
            }
            return Optional.empty();
        } catch (NoSuchFileException | NotDirectoryException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look for a snapshot in " + dataDirectory, e);
        }
    }

    /** Bytes of the one that is being sent; empty if none is. */
    static OptionalLong sizeIn(Path dataDirectory) {
        return of(dataDirectory)
                .map(coming -> {
                    try (coming) {
                        return OptionalLong.of(coming.size());
                    }
                })
                .orElse(OptionalLong.empty());
    }

    boolean isComing() {
        return Files.exists(file);
    }

    /** Bytes that are there. */
    long size() {
        try {
            return data.size();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot measure " + file, e);
        }
    }

    /** Returns when what is there is on the disk. */
    void flush() {
        try {
            data.force(false);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot flush " + file, e);
        }
    }

    @Override
    public void close() {
        try {
            data.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close " + file, e);
        }
    }
}
