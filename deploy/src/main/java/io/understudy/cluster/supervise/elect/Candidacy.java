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
 * Tries all the time to be the supervisor that acts: the one whose name stands at a key of the cluster, on a lease that it
 * keeps alive. Who could not do so for as long as the lease lasts, counted from when it last asked, acts no more by its own
 * clock before another one may. Besides, {@link #mayAct} asks the cluster itself, before every change.
 *
 * <p>Thread-safe; has a thread of its own.
 */
public final class Candidacy implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Candidacy.class);

    /** So many times per lease is it kept alive, or is looked whether it is free. */
    private static final int BEATS = 4;

    /** An active supervisor reads whether it is paused less often than it renews its lease, which is no unary call. */
    private static final int BEATS_PER_READ = 2;

    /** What a look takes, and what passes until the one that acts next reads that it is paused. */
    private static final Duration CONFIRMATION = Duration.ofSeconds(8);

    private static final long BETWEEN_READS_MILLIS = 100;
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(2);

    private final String name;
    private final Duration ttl;
    private final Duration silence;
    private final Keys keys;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);

    private ElectionState standing = new ElectionState.Unknown("not read yet");
    private Keys.Found seen = Keys.Found.NOTHING;
    /** By {@link System#nanoTime}. */
    private long activeUntil;
    /** When the supervisor completed an observation, by {@link System#nanoTime}. */
    private volatile long observedAt = System.nanoTime();
    /** 0 for none. */
    private volatile long lease;

    private int beats;

    private Candidacy(String name, Duration ttl, Duration silence, Keys keys) {
        this.name = name;
        this.ttl = ttl;
        this.silence = silence;
        this.keys = keys;
        this.thread = new Thread(this::run, "supervisor-candidacy");
        thread.setDaemon(true);
    }

    /**
     * Begins to try.
     *
     * @param name of this process; differs between any two
     * @param endpoints voters to ask, best first
     * @param ttl how long the lease lasts, in whole seconds
     * @param silence without {@link #observed} for so long, another supervisor may act
     */
    public static Candidacy start(
            String name,
            EtcdConnections connections,
            Supplier<List<Endpoint>> endpoints,
            Duration ttl,
            Duration silence) {
        Candidacy candidacy =
                new Candidacy(name, ttl, silence, new Keys(connections, endpoints, ttl.dividedBy(BEATS + 1L)));
        candidacy.thread.start();
        return candidacy;
    }

    public String name() {
        return name;
    }

    /** As far as known here; never waits for the network. */
    public synchronized ElectionState standing() {
        if (standing instanceof ElectionState.Active && activeUntil - System.nanoTime() <= 0) {
            become(new ElectionState.Unknown("no response from the cluster for " + ttl.toSeconds() + " s"));
        }
        return standing;
    }

    /** Why nobody is to act, as last seen in the cluster. */
    public synchronized Optional<String> paused() {
        return seen.paused();
    }

    /** To be called after each observation. */
    public void observed() {
        observedAt = System.nanoTime();
    }

    /** Asks the cluster whether this supervisor acts, and nobody paused it; false also if there is no answer. */
    public boolean mayAct() throws InterruptedException {
        try {
            Keys.Found found = keys.read();
            saw(found);
            return lease != 0
                    && found.isHeldBy(name, lease)
                    && found.paused().isEmpty()
                    && standing() instanceof ElectionState.Active;
        } catch (Keys.FailedException e) {
            return false;
        }
    }

    /**
     * To be called now and then by whoever acts, when no step is under way: tells those who paused it that they may go on.
     */
    public void betweenSteps() throws InterruptedException {
        Keys.Found found = lastSeen();
        long own = lease;
        if (found.paused().isEmpty() || !found.isHeldBy(name, own) || found.isSeen(found.pausedAt())) {
            return;
        }
        try {
            keys.acknowledge(found.pausedAt(), own);
            saw(keys.read());
        } catch (Keys.FailedException e) {
            LOG.atDebug()
                    .addKeyValue("supervisor", name)
                    .addKeyValue("cause", e.getMessage())
                    .log("cannot acknowledge the pause; retrying");
        }
    }

    /**
     * Tells all supervisors of the cluster to change nothing, and waits for the one that acts to have finished its step.
     *
     * @throws UntoldException they could not be told, or the one that acts has not confirmed it in time
     */
    public void pause(String why) throws UntoldException, InterruptedException {
        try {
            long since = keys.pause(why);
            long end = System.nanoTime() + CONFIRMATION.toNanos();
            while (true) {
                Keys.Found found = keys.read();
                saw(found);
                if (found.isSeen(since)) {
                    return;
                }
                if (System.nanoTime() > end) {
                    throw new UntoldException(
                            "the pause is stored; the active supervisor has not acknowledged it within "
                                    + CONFIRMATION.toSeconds() + " s: one of its steps may be in progress",
                            true);
                }
                TimeUnit.MILLISECONDS.sleep(BETWEEN_READS_MILLIS);
            }
        } catch (Keys.FailedException e) {
            throw new UntoldException(
                    "cannot store the pause, so supervisors may not be paused: " + e.getMessage(), false);
        }
    }

    /**
     * Undoes {@link #pause}.
     *
     * @throws UntoldException they could not be told
     */
    public void resume() throws UntoldException, InterruptedException {
        try {
            keys.resume();
            saw(keys.read());
        } catch (Keys.FailedException e) {
            throw new UntoldException("cannot store the change: " + e.getMessage(), false);
        }
    }

    /** Lets another one act, at once if the cluster answers. Waits for a few seconds at most. Idempotent. */
    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        try {
            thread.join(CLOSE_DEADLINE.toMillis());
            revoke();
        } catch (Keys.FailedException e) {
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
            beats++;
            if (standing() instanceof ElectionState.Active && beats % BEATS_PER_READ != 0 && keys.keepAlive(lease)) {
                hold(began);
                return;
            }
            Keys.Found found = keys.read();
            saw(found);
            if (found.active().isPresent() && !found.isHeldBy(name, lease)) {
                String holder = found.active().get().getValue().toStringUtf8();
                become(new ElectionState.Standby(holder));
                return;
            }
            if (lease == 0 || !keys.keepAlive(lease)) {
                lease = keys.grant(ttl);
            }
            if (found.isHeldBy(name, lease) || keys.claim(name, lease)) {
                hold(began);
            }
        } catch (Keys.FailedException e) {
            if (!(standing() instanceof ElectionState.Active)) {
                become(new ElectionState.Unknown(String.valueOf(e.getMessage())));
            }
        } catch (RuntimeException e) {
            LOG.atError().addKeyValue("supervisor", name).setCause(e).log("election failed; retrying");
        }
    }

    private void revoke() throws Keys.FailedException, InterruptedException {
        if (lease != 0) {
            keys.revoke(lease);
            lease = 0;
        }
    }

    private synchronized void hold(long asked) {
        activeUntil = asked + ttl.toNanos();
        become(new ElectionState.Active());
    }

    private synchronized Keys.Found lastSeen() {
        return seen;
    }

    private synchronized void saw(Keys.Found found) {
        seen = found;
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
}
