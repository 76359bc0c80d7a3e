package io.understudy.bench.mirror;

import io.understudy.local.etcd.LocalEtcd;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Cuts a cluster off from its clients again and again, until closed: all connections are reset, new ones too. */
final class Cuts implements AutoCloseable {

    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration EVERY = Duration.ofMinutes(1);

    private final LocalEtcd cluster;
    private final Duration length;
    private final Duration delay;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread made = new Thread(task, "cuts");
        made.setDaemon(true);
        return made;
    });

    /**
     * Does nothing until {@link #begin}.
     *
     * @param cluster behind proxies, unless the length is zero
     * @param length of each cut; zero for none
     * @param delay that its connections have otherwise, each way
     */
    Cuts(LocalEtcd cluster, Duration length, Duration delay) {
        this.cluster = cluster;
        this.length = length;
        this.delay = delay;
    }

    /** The first cut comes in a second, the next each a minute later. */
    void begin() {
        if (!length.isZero()) {
            repeat(this::cut, FIRST);
            repeat(this::heal, FIRST.plus(length));
        }
    }

    private void repeat(Runnable change, Duration first) {
        ScheduledFuture<?> unused =
                timer.scheduleAtFixedRate(change, first.toMillis(), EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void cut() {
        cluster.members().forEach(member -> member.clientProxy().cut());
    }

    private void heal() {
        cluster.members().forEach(member -> {
            member.clientProxy().heal();
            member.clientProxy().delay(delay);
        });
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
