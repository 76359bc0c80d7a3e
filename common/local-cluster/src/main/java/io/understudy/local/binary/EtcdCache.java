package io.understudy.local.binary;

import io.understudy.local.process.Folders;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The user's cache of downloaded programs: one folder per version, with a {@link Manifest}.
 *
 * <p>A version's folder is filled elsewhere and renamed into place, under a lock that excludes other processes. Its
 * files are compared with the manifest before each use; one that differs is replaced.
 *
 * <p>Invariant L2: the folder of a version is whole before it is used.
 */
final class EtcdCache implements BinarySource {

    private static final Comparator<Path> NEWEST_FIRST =
            Comparator.comparing(EtcdCache::versionOf).reversed();

    private final Path folder;

    EtcdCache(Path folder) {
        this.folder = folder;
    }

    static EtcdCache ofThisUser() {
        String configured = System.getenv("XDG_CACHE_HOME");
        Path base = configured == null || configured.isBlank()
                ? Path.of(System.getProperty("user.home"), ".cache")
                : Path.of(configured);
        return new EtcdCache(base.resolve("understudy").resolve("etcd"));
    }

    @Override
    public String describe() {
        return "cache " + folder;
    }

    @Override
    public EtcdBinaries look(WantedVersion wanted, Consumer<String> progress) throws NotHereException {
        List<String> reasons = new ArrayList<>();
        for (Path version : versions(wanted)) {
            try {
                Manifest.verify(version);
                return EtcdBinaries.in(version);
            } catch (NotHereException e) {
                reasons.add(e.getMessage());
            }
        }
        throw new NotHereException(reasons.isEmpty() ? "not cached" : String.join("; ", reasons));
    }

    /** Downloads and installs the version, or returns what another process has installed meanwhile. */
    EtcdBinaries install(WantedVersion wanted, Fetched.Source source, Consumer<String> progress)
            throws NotHereException {
        try (InstallLock lock = InstallLock.acquire(folder, progress)) {
            @Nullable EtcdBinaries installed = lookQuietly(wanted, progress);
            return installed == null ? fetchInto(lock.folder(), wanted, source, progress) : installed;
        } catch (IOException e) {
            throw new NotHereException("cannot install into " + folder + ": " + e, e);
        }
    }

    private static EtcdBinaries fetchInto(
            Path folder, WantedVersion wanted, Fetched.Source source, Consumer<String> progress)
            throws IOException, NotHereException {
        Path staging = Files.createTempDirectory(folder, ".fetching-");
        try {
            Path programs = Files.createDirectory(staging.resolve("programs"));
            source.fetch(wanted, programs, progress);
            ProgramVersion version = EtcdBinaries.in(programs).version();
            if (!wanted.accepts(version)) {
                throw new NotHereException("downloaded version " + version + " does not match");
            }
            Manifest.write(programs);
            Path target = folder.resolve(version.toString());
            if (Files.exists(target)) {
                Files.move(target, staging.resolve("damaged"));
            }
            Files.move(programs, target, StandardCopyOption.ATOMIC_MOVE);
            return EtcdBinaries.in(target);
        } finally {
            delete(staging);
        }
    }

    private @Nullable EtcdBinaries lookQuietly(WantedVersion wanted, Consumer<String> progress) {
        try {
            return look(wanted, progress);
        } catch (NotHereException e) {
            return null;
        }
    }

    private List<Path> versions(WantedVersion wanted) throws NotHereException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(Files::isDirectory)
                    .filter(entry -> !entry.getFileName().toString().startsWith("."))
                    .filter(entry -> wanted.accepts(versionOf(entry)))
                    .sorted(NEWEST_FIRST)
                    .toList();
        } catch (IOException e) {
            throw new NotHereException("cannot be listed: " + e, e);
        }
    }

    private static ProgramVersion versionOf(Path version) {
        return ProgramVersion.in(version.getFileName().toString()).orElse(new ProgramVersion(0, 0, 0));
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> entries = Files.walk(tree)) {
            for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(entry);
            }
        }
    }

    /**
     * Lets one process at a time, and one thread in it, install into a cache. The system frees it when the holder dies.
     */
    private static final class InstallLock implements AutoCloseable {

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
                    folder.resolve(".lock"),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.READ);
            long end = System.nanoTime() + PATIENCE.toNanos();
            boolean reported = false;
            while (!Folders.tryLock(file)) {
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
}
