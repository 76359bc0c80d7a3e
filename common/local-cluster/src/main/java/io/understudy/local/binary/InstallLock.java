package io.understudy.local.binary;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Lets one process at a time, and one thread in it, install into a cache. The system frees it when the holder dies. */
final class InstallLock implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(25);
    private static final Duration RETRY = Duration.ofMillis(100);

    private final Path folder;
    private final FileChannel file;

    private InstallLock(Path folder, FileChannel file) {
        this.folder = folder;
        this.file = file;
    }

    static InstallLock acquire(Path folder, Consumer<String> progress) throws IOException, NotHereException {
        Files.createDirectories(folder);
        FileChannel file = FileChannel.open(
                folder.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.READ);
        long end = System.nanoTime() + PATIENCE.toNanos();
        boolean reported = false;
        while (!tryLock(file)) {
            if (System.nanoTime() > end) {
                file.close();
                throw new NotHereException(folder.resolve(".lock") + " is locked by another process for more than "
                        + PATIENCE.toMinutes() + " minutes");
            }
            if (!reported) {
                progress.accept("waiting for another process to install etcd");
                reported = true;
            }
            pause(file);
        }
        return new InstallLock(folder, file);
    }

    /** The folder that the holder may write to. */
    Path folder() {
        return folder;
    }

    private static boolean tryLock(FileChannel file) throws IOException {
        try {
            return file.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            // Another thread of this JVM holds it.
            return false;
        }
    }

    private static void pause(FileChannel file) throws IOException, NotHereException {
        try {
            TimeUnit.NANOSECONDS.sleep(RETRY.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            file.close();
            throw new NotHereException("interrupted while waiting for another process to install etcd", e);
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
