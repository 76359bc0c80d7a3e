package io.understudy.mirror.takeover;

import io.understudy.mirror.home.Move.Way;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leases of the keys that are moved, as the mirror keeps them at both sides: their owners cannot keep them alive while
 * no side accepts clients. One thread, besides those that keep them alive.
 */
final class MovedLeases {

    private static final Logger LOG = LoggerFactory.getLogger(MovedLeases.class);
    /** The least TTL that etcd grants by default is twice as long. */
    static final Duration ALIVE = Duration.ofSeconds(1);

    private final Direction direction;
    private final Records to;
    private final Lock lock;
    private final Set<Long> leases = ConcurrentHashMap.newKeySet();
    /** Those that the other side has kept alive since the former primary refuses that. */
    private final Set<Long> restarted = new HashSet<>();
    /** Whether the former primary revoked leases since it was closed, or before. */
    private volatile boolean haveExpired;

    private Lock.Beats beats = () -> {};

    MovedLeases(Direction direction) {
        this.direction = direction;
        this.to = direction.recordsTo();
        this.lock = direction.lock();
    }

    /** Adds those that the mirror keeps now. */
    void find() {
        add(to.leases());
    }

    void add(Collection<Long> others) {
        leases.addAll(others);
    }

    boolean haveExpired() {
        return haveExpired;
    }

    /** A client that the former primary answered last must not outlive its lease at the other side. */
    void restart() {
        find();
        List<Long> rest =
                leases.stream().filter(lease -> !restarted.contains(lease)).toList();
        keepAlive(direction.to(), rest);
        restarted.addAll(rest);
    }

    /** Keeps them alive at the former primary once more; under an alarm the owners cannot. */
    void keepAliveFrom(Way way) {
        keepAliveFrom(way, direction.from());
    }

    /** Likewise, once no alarm is raised. */
    void keepAliveFrom() {
        keepAlive(direction.from(), leases);
    }

    /** The owners' keep-alives are rejected where they may not write. */
    private static void keepAlive(TakeOverCalls cluster, Collection<Long> leases) {
        if (!leases.isEmpty()) {
            var unused = cluster.keepAlive(List.copyOf(leases));
        }
    }

    /**
     * Keeps the leases alive at the former primary, at once; then at both, as long as the command runs. On one thread for
     * each, so that a cluster that does not respond ends no leases at the other one.
     */
    void keepAlive(Way way) {
        keepAliveFrom(way, direction.from());
        beats.end();
        Lock.Beats atFrom = repeat(() -> keepAliveFrom(way, direction.from().with(ALIVE)));
        Lock.Beats atTo = repeat(() -> {
            // Some were granted right before the closing.
            leases.addAll(to.promptly().leases());
            keepAlive(direction.to().with(ALIVE), leases);
        });
        beats = () -> {
            atFrom.end();
            atTo.end();
        };
    }

    /** Ends what {@link #keepAlive(Way)} began. */
    void end() {
        beats.end();
    }

    private Lock.Beats repeat(Runnable keepAlive) {
        return lock.repeat(
                () -> {
                    try {
                        keepAlive.run();
                    } catch (RuntimeException e) {
                        // The next attempt comes soon.
                        LOG.atDebug().addKeyValue("cause", e.getMessage()).log("leases not kept alive");
                    }
                },
                ALIVE);
    }

    /** Under an alarm none expires, and etcd does not answer a keep-alive of an overdue one. */
    private void keepAliveFrom(Way way, TakeOverCalls primary) {
        if (leases.isEmpty()) {
            return;
        }
        List<Long> all = List.copyOf(leases);
        boolean isAlarmed = way == Way.CORRUPT_ALARM;
        try {
            List<Long> alive = (isAlarmed ? primary.with(Duration.ZERO) : primary).keepAlive(all);
            if (!isAlarmed && alive.size() < all.size()) {
                haveExpired = true;
            }
        } catch (TakeOverException e) {
            if (!isAlarmed) {
                throw e;
            }
        }
    }
}
