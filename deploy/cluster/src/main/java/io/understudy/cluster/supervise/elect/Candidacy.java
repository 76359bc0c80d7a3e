package io.understudy.cluster.supervise.elect;

import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.vocabulary.ElectionState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Campaigns to be the active supervisor, named by a leased key of the cluster.
 *
 * <p>A supervisor that has not renewed its lease for the TTL, counted from its last request, is inactive by its own
 * clock before another one is active. In addition, {@link #mayAct} reads the key before every change.
 *
 * <p>Thread-safe; has its own thread.
 */
public final class Candidacy implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Candidacy.class);

    /** Renewals of the lease, or attempts to get it, per TTL. */
    private static final int BEATS = 4;

    /** TTLs without a campaign after {@link #stepDown}: other supervisors read the key {@link #BEATS} times per TTL. */
    private static final int REST = 3;

    private static final String STEPPED_DOWN = "stepped down: this supervisor sees too little of the cluster";

    /** Renewals per read of a pause; a renewal is no unary call. */
    private static final int BEATS_PER_READ = 2;

    /** Timeout of an acknowledgement: an observation, and the delay until the pause is read. */
    private static final Duration CONFIRMATION = Duration.ofSeconds(8);

    private static final long BETWEEN_READS_MILLIS = 100;
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(2);

    private final String name;
    private final Duration ttl;
    private final Duration silence;
    private final SupervisorStore store;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);

    private ElectionState standing = new ElectionState.Unknown("not read yet");
    private SupervisorStore.Found seen = SupervisorStore.Found.NOTHING;
    /** Time of the last read, by {@link System#nanoTime}. */
    private long readAt = System.nanoTime();
    /** End of the active state unless renewed, by {@link System#nanoTime}. */
    private long activeUntil;
    /** Time of the last completed observation, by {@link System#nanoTime}. */
    private volatile long observedAt = System.nanoTime();
    /** Earliest time of a campaign, by {@link System#nanoTime}. */
    private volatile long campaignFrom = System.nanoTime();
    /** ID of the lease, 0 for none. */
    private volatile long lease;

    private int beats;

    private Candidacy(String name, Duration ttl, Duration silence, SupervisorStore store) {
        this.name = name;
        this.ttl = ttl;
        this.silence = silence;
        this.store = store;
        this.thread = new Thread(this::run, "supervisor-candidacy");
        thread.setDaemon(true);
    }

    /**
     * Starts the campaign.
     *
     * @param name unique name of this process
     * @param endpoints voters, best first
     * @param ttl TTL of the lease, in whole seconds
     * @param silence time without {@link #observed} after which another supervisor may act
     */
    public static Candidacy start(
            String name,
            EtcdConnections connections,
            Supplier<List<Endpoint>> endpoints,
            Duration ttl,
            Duration silence) {
        Candidacy candidacy = new Candidacy(
                name, ttl, silence, new SupervisorStore(connections, endpoints, ttl.dividedBy(BEATS + 1L)));
        candidacy.thread.start();
        return candidacy;
    }

    public String name() {
        return name;
    }

    /** Returns the locally known state; never waits for the network. */
    public synchronized ElectionState standing() {
        if (standing instanceof ElectionState.Active && activeUntil - System.nanoTime() <= 0) {
            become(new ElectionState.Unknown("no response from the cluster for " + ttl.toSeconds() + " s"));
        }
        return standing;
    }

    /** Returns why supervisors are paused, as last read from the cluster. */
    public synchronized Optional<String> paused() {
        return seen.paused();
    }

    /**
     * Returns why own members are not started. Without a quorum no lease expires: a command counts as ended if nothing
     * was read for its lease and that time.
     */
    public synchronized Optional<String> startsPaused(Duration grace) {
        boolean isExpired = System.nanoTime() - readAt > Turn.TTL.plus(grace).toNanos();
        return isExpired ? seen.withoutCommand().paused() : seen.paused();
    }

    /** Records an observation; called after each one. */
    public void observed() {
        observedAt = System.nanoTime();
    }

    /** Lets another supervisor become active: this one is inactive at once, and does not campaign for some TTLs. */
    public synchronized void stepDown() {
        campaignFrom = System.nanoTime() + ttl.multipliedBy(REST).toNanos();
        become(new ElectionState.Unknown(STEPPED_DOWN));
    }

    /** Campaigns again, if no other supervisor is active. */
    public void endRest() {
        campaignFrom = System.nanoTime();
    }

    /** Returns whether the cluster confirms that this supervisor is active and not paused. */
    public boolean mayAct() throws InterruptedException {
        try {
            SupervisorStore.Found found = store.read();
            saw(found);
            return lease != 0
                    && found.isHeldBy(name, lease)
                    && found.paused().isEmpty()
                    && standing() instanceof ElectionState.Active;
        } catch (SupervisorStore.FailedException e) {
            return false;
        }
    }

    /** Returns whether the cluster confirms that supervisors are not paused. */
    public boolean isUnpaused() throws InterruptedException {
        try {
            SupervisorStore.Found found = store.read();
            saw(found);
            return found.paused().isEmpty();
        } catch (SupervisorStore.FailedException e) {
            return false;
        }
    }

    /** Acknowledges a pause; the active supervisor calls it regularly while no step is in progress. */
    public void betweenSteps() throws InterruptedException {
        SupervisorStore.Found found = lastSeen();
        long own = lease;
        if (found.paused().isEmpty() || !found.isHeldBy(name, own) || found.isSeen(found.pausedAt())) {
            return;
        }
        try {
            store.acknowledge(found.pausedAt(), own);
            saw(store.read());
        } catch (SupervisorStore.FailedException e) {
            LOG.atDebug()
                    .addKeyValue("supervisor", name)
                    .addKeyValue("cause", e.getMessage())
                    .log("cannot acknowledge the pause; retrying");
        }
    }

    /**
     * Pauses all supervisors of the cluster, and waits for the active one's step.
     *
     * @throws PauseNotAcknowledgedException the pause could not be stored, or was not acknowledged in time
     */
    public void pause(String why) throws PauseNotAcknowledgedException, InterruptedException {
        try {
            long since = store.pause(why);
            long end = System.nanoTime() + CONFIRMATION.toNanos();
            while (true) {
                SupervisorStore.Found found = store.read();
                saw(found);
                if (found.isSeen(since)) {
                    return;
                }
                if (System.nanoTime() > end) {
                    throw new PauseNotAcknowledgedException(
                            "the pause is stored; the active supervisor has not acknowledged it within "
                                    + CONFIRMATION.toSeconds() + " s: one of its steps may be in progress",
                            true);
                }
                TimeUnit.MILLISECONDS.sleep(BETWEEN_READS_MILLIS);
            }
        } catch (SupervisorStore.FailedException e) {
            throw new PauseNotAcknowledgedException(
                    "cannot store the pause, so supervisors may not be paused: " + e.getMessage(), false);
        }
    }

    /**
     * Ends the pause.
     *
     * @throws PauseNotAcknowledgedException the end could not be stored
     */
    public void resume() throws PauseNotAcknowledgedException, InterruptedException {
        try {
            store.resume();
            saw(store.read());
        } catch (SupervisorStore.FailedException e) {
            throw new PauseNotAcknowledgedException("cannot store the change: " + e.getMessage(), false);
        }
    }

    /** Releases the active role, at once if the cluster responds. Waits a few seconds at most. Idempotent. */
    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        try {
            thread.join(CLOSE_DEADLINE.toMillis());
            revoke();
        } catch (SupervisorStore.FailedException e) {
            LOG.atInfo()
                    .addKeyValue("supervisor", name)
                    .addKeyValue("cause", e.getMessage())
                    .log("lease not revoked; it expires after its TTL");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            long due = System.nanoTime();
            do {
                beat();
                // A beat that waited for a member does not delay the next.
                due = Math.max(due + ttl.toNanos() / BEATS, System.nanoTime());
            } while (!closed.await(due - System.nanoTime(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            // Only close() interrupts.
            Thread.currentThread().interrupt();
        }
    }

    private void beat() throws InterruptedException {
        long began = System.nanoTime();
        try {
            if (began - observedAt > silence.toNanos()) {
                become(new ElectionState.Unknown("no observation completed for " + silence.toSeconds() + " s"));
                revoke();
                return;
            }
            boolean isResting = campaignFrom - began > 0;
            if (isResting && lease != 0) {
                become(new ElectionState.Unknown(STEPPED_DOWN));
                revoke();
            }
            beats++;
            if (standing() instanceof ElectionState.Active && beats % BEATS_PER_READ != 0 && store.keepAlive(lease)) {
                hold(began);
                return;
            }
            SupervisorStore.Found found = store.read();
            saw(found);
            if (found.active().isPresent() && !found.isHeldBy(name, lease)) {
                String holder = found.active().get().getValue().toStringUtf8();
                become(new ElectionState.Standby(holder));
                return;
            }
            if (isResting) {
                return;
            }
            if (lease == 0 || !store.keepAlive(lease)) {
                lease = store.grant(ttl);
            }
            if (found.isHeldBy(name, lease) || store.claim(name, lease)) {
                hold(began);
            }
        } catch (SupervisorStore.FailedException e) {
            if (!(standing() instanceof ElectionState.Active)) {
                become(new ElectionState.Unknown(String.valueOf(e.getMessage())));
            }
        } catch (RuntimeException e) {
            LOG.atError().addKeyValue("supervisor", name).setCause(e).log("election failed; retrying");
        }
    }

    private void revoke() throws SupervisorStore.FailedException, InterruptedException {
        if (lease != 0) {
            store.revoke(lease);
            lease = 0;
        }
    }

    private synchronized void hold(long requestedAt) {
        // It may have stepped down during the request.
        if (campaignFrom - System.nanoTime() > 0) {
            return;
        }
        activeUntil = requestedAt + ttl.toNanos();
        become(new ElectionState.Active());
    }

    private synchronized SupervisorStore.Found lastSeen() {
        return seen;
    }

    private synchronized void saw(SupervisorStore.Found found) {
        seen = found;
        readAt = System.nanoTime();
    }

    private synchronized void become(ElectionState next) {
        boolean changed = !next.getClass().equals(standing.getClass());
        if (changed) {
            LOG.atInfo()
                    .addKeyValue("supervisor", name)
                    .addKeyValue("from", standing)
                    .addKeyValue("to", next)
                    .log("election state changed");
        }
        standing = next;
    }

    /** A pause or its end was not stored, or the pause was not acknowledged. */
    public static final class PauseNotAcknowledgedException extends Exception {
        private final boolean isStored;

        PauseNotAcknowledgedException(String message, boolean isStored) {
            super(message);
            this.isStored = isStored;
        }

        /** Whether the pause is stored, so that supervisors read it before their next step. */
        public boolean isStored() {
            return isStored;
        }
    }
}
