package io.understudy.cluster.machine;

import io.understudy.local.process.Folders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A lock beside a data directory, for all processes that start and stop members. Whether a member runs must not change
 * between the check and the renaming of its data. The file stays; the system releases the lock of a process that dies.
 */
public final class DirectoryLock {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long PAUSE_MILLIS = 50;

    private DirectoryLock() {}

    /**
     * Runs work while holding the lock.
     *
     * @throws IllegalStateException another process held it for 30 s; the message has the file
     */
    public static void holding(Path dataDirectory, Runnable work) {
        Path path = file(dataDirectory);
        var unused = Folders.create(path.resolveSibling(".").normalize());
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            await(file, path);
            work.run();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot lock " + path, e);
        }
    }

    static Path file(Path dataDirectory) {
        return dataDirectory.resolveSibling(dataDirectory.getFileName() + ".lock");
    }

    private static void await(FileChannel file, Path path) throws IOException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!Folders.tryLock(file)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(
                        "another process is starting or stopping a member: " + path + " is locked");
            }
            try {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while waiting for the lock on " + path, e);
            }
        }
    }
}
