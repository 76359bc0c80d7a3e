package io.understudy.cluster.supervise.elect;

import io.understudy.cluster.supervise.elect.SteadyClock.ClockTime;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A command's exclusive right to change a cluster, without supervisors and other commands.
 *
 * <p>It is a leased key, so it ends with the process.
 *
 * <p>Thread-safe; has its own thread.
 *
 * <p>Invariant DP23: one command or supervisor changes a cluster at a time, and any supervisor can resume what another
 * paused.
 */
public final class Turn implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Turn.class);
    static final Duration TTL = Duration.ofSeconds(10);
    private static final int BEATS = 4;
    private static final Duration REQUEST = Duration.ofSeconds(2);

    /** Maximum wait for another command: if killed, its turn ends with its lease. */
    private static final Duration FOR_OTHERS = TTL.plusSeconds(5);

    /** Maximum wait for a supervisor's step, which may be a stop by systemd. */
    private static final Duration FOR_SUPERVISOR = Duration.ofMinutes(2);

    private static final long PAUSE_MILLIS = 100;
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(2);

    private final SupervisorStore store;
    private final long lease;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "turn");
    private final SteadyClock clock;
    /** Time of the last request that renewed the lease. */
    private volatile ClockTime renewedAt;

    private volatile boolean isExpired;

    private Turn(SupervisorStore store, long lease, SteadyClock clock, ClockTime requestedAt) {
        this.store = store;
        this.lease = lease;
        this.clock = clock;
        this.renewedAt = requestedAt;
        thread.setDaemon(true);
    }

    /**
     * Waits for other commands and for the active supervisor's step, then holds the right.
     *
     * @param holder unique name of the command and its process, for messages
     * @param endpoints voters, best first
     * @param waiting receives what is waited for
     * @throws IllegalStateException another command holds it, or the key cannot be stored; nothing was changed
     */
    public static Turn take(
            String holder, EtcdConnections connections, Supplier<List<Endpoint>> endpoints, Consumer<String> waiting)
            throws InterruptedException {
        SupervisorStore store = new SupervisorStore(connections, endpoints, REQUEST);
        try {
            SteadyClock clock = new SteadyClock();
            ClockTime requestedAt = clock.now();
            Turn turn = new Turn(store, store.grant(TTL), clock, requestedAt);
            turn.thread.start();
            try {
                turn.awaitSupervisor(turn.awaitOthers(holder, waiting), waiting);
                return turn;
            } catch (SupervisorStore.FailedException | InterruptedException | RuntimeException e) {
                turn.close();
                throw e;
            }
        } catch (SupervisorStore.FailedException e) {
            throw new IllegalStateException(
                    "cannot pause the supervisors, so nothing was changed: " + e.getMessage()
                            + ". Repair an alarm first (understudy cluster repair), or stop all supervisors and repeat"
                            + " with --take-over",
                    e);
        }
    }

    /**
     * Returns the name of the supervisor that acts, as the cluster stores it.
     *
     * @throws IllegalStateException it cannot be read
     */
    public static Optional<String> activeSupervisor(EtcdConnections connections, Supplier<List<Endpoint>> endpoints)
            throws InterruptedException {
        try {
            return new SupervisorStore(connections, endpoints, REQUEST)
                    .read()
                    .active()
                    .map(found -> found.getValue().toStringUtf8());
        } catch (SupervisorStore.FailedException e) {
            throw new IllegalStateException("cannot read the name of the active supervisor: " + e.getMessage(), e);
        }
    }

    private long awaitOthers(String holder, Consumer<String> waiting)
            throws SupervisorStore.FailedException, InterruptedException {
        long end = System.nanoTime() + FOR_OTHERS.toNanos();
        boolean isReported = false;
        while (true) {
            OptionalLong since = store.change(holder, lease);
            if (since.isPresent()) {
                return since.getAsLong();
            }
            String other = store.read().changing().orElse("another command");
            if (System.nanoTime() > end) {
                throw new IllegalStateException(
                        "another command is changing the cluster; nothing was changed: " + other);
            }
            if (!isReported) {
                waiting.accept("waiting for " + other);
                isReported = true;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    private void awaitSupervisor(long since, Consumer<String> waiting)
            throws SupervisorStore.FailedException, InterruptedException {
        long end = System.nanoTime() + FOR_SUPERVISOR.toNanos();
        boolean isReported = false;
        for (SupervisorStore.Found found = store.read(); !found.isSeen(since); found = store.read()) {
            String active = found.active().orElseThrow().getValue().toStringUtf8();
            if (System.nanoTime() > end) {
                throw new IllegalStateException("supervisor " + active + " has not acknowledged the pause within "
                        + FOR_SUPERVISOR.toSeconds() + " s; nothing was changed");
            }
            if (!isReported) {
                waiting.accept("waiting for supervisor " + active + " to pause");
                isReported = true;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    /**
     * Returns why the right is lost, after which no step may begin. Empty while the cluster has the key with this lease.
     * Without a quorum, waits until the lease may have expired.
     */
    public Optional<String> lost() throws InterruptedException {
        for (Optional<String> expired = expired(); ; expired = expired()) {
            if (expired.isPresent()) {
                return expired;
            }
            try {
                return store.read()
                                .change()
                                .filter(command -> command.getLease() == lease)
                                .isPresent()
                        ? Optional.empty()
                        : Optional.of("the key of this command was deleted, so supervisors may act again");
            } catch (SupervisorStore.FailedException e) {
                LOG.atInfo().addKeyValue("cause", e.getMessage()).log("key of this command not read; retrying");
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        }
    }

    private Optional<String> expired() {
        if (isExpired) {
            return Optional.of("the lease of this command has expired, so supervisors may act again");
        }
        return renewedAt.until(clock.now()).compareTo(TTL) < 0
                ? Optional.empty()
                : Optional.of("cannot renew the lease of this command for " + TTL.toSeconds()
                        + " s, so supervisors may act again");
    }

    private void run() {
        try {
            while (!closed.await(TTL.toMillis() / BEATS, TimeUnit.MILLISECONDS)) {
                keepAlive();
            }
        } catch (InterruptedException e) {
            // Only close() interrupts.
            Thread.currentThread().interrupt();
        }
    }

    private void keepAlive() throws InterruptedException {
        ClockTime requestedAt = clock.now();
        try {
            if (expired().isPresent()) {
                return;
            }
            isExpired = !store.keepAlive(lease);
            renewedAt = requestedAt;
        } catch (SupervisorStore.FailedException e) {
            LOG.atInfo().addKeyValue("cause", e.getMessage()).log("lease renewal failed; retrying");
        }
    }

    /** Releases the right, at the latest when its lease expires. Idempotent. */
    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        try {
            thread.join(CLOSE_DEADLINE.toMillis());
            store.revoke(lease);
        } catch (SupervisorStore.FailedException e) {
            LOG.atInfo()
                    .addKeyValue("ttl_s", TTL.toSeconds())
                    .addKeyValue("cause", e.getMessage())
                    .log("lease not revoked; it expires after its TTL");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
