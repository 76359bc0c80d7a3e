package io.understudy.etcd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The password of one user, which may be changed while this process runs: its file is read again once the cluster has
 * refused what was read before. Never shown. Any thread.
 */
final class Password {

    private static final Logger log = LoggerFactory.getLogger(Password.class);

    private static final long READ_DEADLINE_SECONDS = 5;

    private final String cluster;
    private final Credentials given;
    private volatile String current;
    private final AtomicBoolean warned = new AtomicBoolean();
    private CompletableFuture<Boolean> reading = CompletableFuture.completedFuture(false);

    /** @param cluster what logs call it */
    Password(String cluster, Credentials given) {
        this.cluster = cluster;
        this.given = given;
        this.current = given.password();
    }

    String current() {
        return current;
    }

    /**
     * Whether there is another one in the place of what was refused. On a thread that may be held up by a file system, as
     * those of the network may not.
     */
    synchronized CompletableFuture<Boolean> isAnother() {
        Path file = given.passwordFile();
        if (file == null) {
            return CompletableFuture.completedFuture(false);
        }
        if (reading.isDone()) {
            reading = CompletableFuture.supplyAsync(() -> readAgain(file));
        }
        // One thread at most is held up: who asks while it is waits for the same.
        return reading.copy().completeOnTimeout(false, READ_DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    private boolean readAgain(Path file) {
        String read;
        try {
            read = Files.readString(file).strip();
        } catch (IOException e) {
            return keep(file, String.valueOf(e));
        }
        if (read.isEmpty()) {
            return keep(file, "it is empty");
        }
        warned.set(false);
        if (read.equals(current)) {
            return false;
        }
        current = read;
        log.info("password read again cluster={} user={} file={}", cluster, given.user(), file);
        return true;
    }

    /** Told once, until the file can be read: logins go on to be tried, and refused. */
    private boolean keep(Path file, String why) {
        if (warned.compareAndSet(false, true)) {
            log.warn(
                    "the password's file can't be used, so what was read before goes on to count cluster={} user={}"
                            + " file={} why=\"{}\"",
                    cluster,
                    given.user(),
                    file,
                    why);
        }
        return false;
    }
}
