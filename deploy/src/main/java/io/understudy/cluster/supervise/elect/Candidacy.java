package io.understudy.cluster.supervise.elect;

import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
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

    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(2);

    private final String name;
    private final Duration ttl;
    private final Keys keys;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);

    private Standing standing = new Standing.Unknown("not asked yet");
    private Optional<String> paused = Optional.empty();
    /** By {@link System#nanoTime}. */
    private long activeUntil;
    /** 0 for none. */
    private volatile long lease;

    private Candidacy(String name, Duration ttl, Keys keys) {
        this.name = name;
        this.ttl = ttl;
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
     */
    public static Candidacy start(
            String name, EtcdConnections connections, Supplier<List<Endpoint>> endpoints, Duration ttl) {
        Candidacy candidacy = new Candidacy(name, ttl, new Keys(connections, endpoints, ttl.dividedBy(BEATS + 1L)));
        candidacy.thread.start();
        return candidacy;
    }

    public String name() {
        return name;
    }

    /** As far as known here; never waits for the network. */
    public synchronized Standing standing() {
        if (standing instanceof Standing.Active && activeUntil - System.nanoTime() <= 0) {
            become(new Standing.Unknown("the cluster could not be asked for " + ttl.toSeconds() + " s"));
        }
        return standing;
    }

    /** Why nobody is to act, as last seen in the cluster. */
    public synchronized Optional<String> paused() {
        return paused;
    }

    /** Asks the cluster whether this supervisor acts, and nobody paused it; false also if there is no answer. */
    public boolean mayAct() throws InterruptedException {
        try {
            Keys.Found found = keys.read();
            saw(found);
            return lease != 0
                    && found.isHeldBy(name, lease)
                    && found.paused().isEmpty()
                    && standing() instanceof Standing.Active;
        } catch (Keys.FailedException e) {
            return false;
        }
    }

    /**
     * Tells all supervisors of the cluster to change nothing.
     *
     * @return why they could not be told; empty if they were
     */
    public Optional<String> pause(String why) throws InterruptedException {
        return told(() -> keys.pause(why));
    }

    /** Undoes {@link #pause}; as that one. */
    public Optional<String> resume() throws InterruptedException {
        return told(keys::resume);
    }

    @FunctionalInterface
    private interface Telling {
        void tell() throws Keys.FailedException, InterruptedException;
    }

    private Optional<String> told(Telling telling) throws InterruptedException {
        try {
            telling.tell();
            saw(keys.read());
            return Optional.empty();
        } catch (Keys.FailedException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** Lets another one act, at once if the cluster answers. Waits for a few seconds at most. Idempotent. */
    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        try {
            thread.join(CLOSE_DEADLINE.toMillis());
            if (lease != 0) {
                keys.revoke(lease);
                lease = 0;
            }
        } catch (Keys.FailedException e) {
            LOG.info("supervisor={} closed; its lease runs out by itself: {}", name, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            do {
                beat();
            } while (!closed.await(ttl.toMillis() / BEATS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            // Only close() interrupts.
            Thread.currentThread().interrupt();
        }
    }

    private void beat() throws InterruptedException {
        long asked = System.nanoTime();
        try {
            Keys.Found found = keys.read();
            saw(found);
            if (found.active().isPresent() && !found.isHeldBy(name, lease)) {
                String holder = found.active().get().getValue().toStringUtf8();
                become(new Standing.Standby(holder));
                return;
            }
            if (lease == 0 || !keys.keepAlive(lease)) {
                lease = keys.grant(ttl);
            }
            if (found.isHeldBy(name, lease) || keys.claim(name, lease)) {
                hold(asked);
            }
        } catch (Keys.FailedException e) {
            if (!(standing() instanceof Standing.Active)) {
                become(new Standing.Unknown(String.valueOf(e.getMessage())));
            }
        } catch (RuntimeException e) {
            LOG.error("supervisor={} the election could not be looked after, tries again", name, e);
        }
    }

    private synchronized void hold(long asked) {
        activeUntil = asked + ttl.toNanos();
        become(new Standing.Active());
    }

    private synchronized void saw(Keys.Found found) {
        paused = found.paused();
    }

    private synchronized void become(Standing next) {
        boolean changed = !next.getClass().equals(standing.getClass());
        if (changed) {
            LOG.info("supervisor={} from=\"{}\" to=\"{}\"", name, standing, next);
        }
        standing = next;
    }
}
