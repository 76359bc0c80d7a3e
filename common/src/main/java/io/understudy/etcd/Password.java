package io.understudy.etcd;

import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The password of one user, which may change while this process runs. Its file is read again once the cluster has
 * rejected it. Never logged. Thread-safe.
 */
final class Password {

    private static final Logger LOG = LoggerFactory.getLogger(Password.class);

    private static final long READ_DEADLINE_SECONDS = 5;

    private final String cluster;
    private final Credentials given;
    private volatile String current;
    private final AtomicBoolean warned = new AtomicBoolean();
    private CompletableFuture<Boolean> reading = CompletableFuture.completedFuture(true);
    /** The same with a timeout, for callers, since a file system may hang. */
    private CompletableFuture<Void> inTime = CompletableFuture.completedFuture(null);

    /** @param cluster name of the cluster in logs */
    Password(String cluster, Credentials given) {
        this.cluster = cluster;
        this.given = given;
        this.current = given.password();
    }

    String current() {
        return current;
    }

    /**
     * Whether the rejected password has been replaced, perhaps after an earlier rejection, since logins overlap. The
     * file is read on a thread of its own, since a file system may block it.
     */
    synchronized CompletableFuture<Boolean> isAnother(String refused) {
        Path file = given.passwordFile();
        if (file == null || !current.equals(refused)) {
            return CompletableFuture.completedFuture(file != null);
        }
        if (reading.isDone()) {
            reading = CompletableFuture.supplyAsync(
                    () -> readAgain(file), work -> DaemonThreads.start("etcd-password", work));
            inTime = reading.copy()
                    .completeOnTimeout(false, READ_DEADLINE_SECONDS, TimeUnit.SECONDS)
                    .thenAccept(hasEnded -> {
                        if (!hasEnded) {
                            keep(file, "not read within " + READ_DEADLINE_SECONDS + " s");
                        }
                    });
        }
        // One thread at most is held up: later callers wait for the same read, and no longer than the deadline.
        return inTime.thenApply(ended -> !current.equals(refused));
    }

    /** @return that it has ended */
    private boolean readAgain(Path file) {
        try {
            String read = Files.readString(file).strip();
            if (read.isEmpty()) {
                keep(file, "file is empty");
            } else {
                take(file, read);
            }
        } catch (IOException e) {
            keep(file, String.valueOf(e));
        }
        return true;
    }

    private void take(Path file, String read) {
        warned.set(false);
        if (!read.equals(current)) {
            current = read;
            LOG.atInfo()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("user", given.user())
                    .addKeyValue("file", file)
                    .log("password reloaded");
        }
    }

    /** Keeps the password and logs that once, until the file can be read. Logins are still tried, and rejected. */
    private void keep(Path file, String why) {
        if (warned.compareAndSet(false, true)) {
            LOG.atWarn()
                    .addKeyValue("cluster", cluster)
                    .addKeyValue("user", given.user())
                    .addKeyValue("file", file)
                    .addKeyValue("cause", why)
                    .log("password reload failed; keeping previous password");
        }
    }
}
