package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.DaemonThreads;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the target's leases alive, and ends those that the source no longer has. A source that doesn't answer ends
 * none, however long; a slow source delays no keep-alive. Each cluster has its own thread, so that neither waits for
 * the other.
 *
 * <p>While no sink is open, as after a failure or at a target without space, it keeps the registered leases alive unless
 * the target is the primary or another process is active. It ends none then.
 *
 * <p>Invariant M10: no key expires in the target while its lease is alive at the source or the source is unreachable.
 */
public final class LeaseKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);

    private static final Duration TICK = Duration.ofMillis(100);
    /** Interval of reads of the target, without a sink, for another active process or primary. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    private static final Duration MAX_DEADLINE = Duration.ofSeconds(2);
    private static final long CLOSE_SECONDS = 1;
    private static final int ALIVE_AT_A_TIME = 500;
    /** Maximum keep-alives that are denied before others are sent: each takes a stream. */
    private static final int MAX_DENIED = 10;

    /** Bounds of the interval of checks at the source, which is a lease's TTL. */
    private static final long MIN_CHECK_SECONDS = 1;

    private static final long MAX_CHECK_SECONDS = 10;
    /** Maximum leases that are checked at the source per tick. */
    private static final int CHECKS_PER_TICK = 20;

    /** @param complete up to where the target holds what the source had */
    private record Writing(KeptLeases leases, Supplier<Revision> complete) {}

    private final String mirror;
    private final String process;
    private final EtcdCluster cluster;
    private final int maxTxnOps;
    private final LeaseMetrics metrics;
    private final ClusterCalls calls;
    private final LeaseCalls target;
    private final LeaseRegister register;
    private final ScheduledExecutorService threads;

    /** The leases of the open sink; null for none. */
    private volatile @Nullable Writing writing;
    /** The leases that this process keeps alive without a sink; null before they are read. */
    private volatile @Nullable Map<Long, HeldLease> left;
    /** Time of the next look, by {@link System#nanoTime}. */
    private volatile long lookAt = System.nanoTime();

    private boolean keeps;

    /** Keeps nothing alive before {@link #start}. */
    LeaseKeeper(String mirror, String process, EtcdCluster target, int maxTxnOps, LeaseMetrics metrics) {
        this.mirror = mirror;
        this.process = process;
        this.cluster = target;
        this.maxTxnOps = maxTxnOps;
        this.metrics = metrics;
        this.calls = new ClusterCalls(target, Duty.WRITE, deadline(target));
        this.target = new LeaseCalls(calls);
        this.register = new LeaseRegister(mirror, calls);
        this.threads = Executors.newScheduledThreadPool(2, DaemonThreads.named("mirror-" + mirror + "-leases"));
    }

    /**
     * Starts for as long as this process runs the mirror.
     *
     * @param process unique name of this process, see {@link ReservedKeys#active}
     * @param target closed by the caller
     * @param maxTxnOps maximum operations of a transaction of the target
     */
    public static LeaseKeeper start(
            String mirror, String process, EtcdCluster target, int maxTxnOps, LeaseMetrics metrics) {
        LeaseKeeper keeper = new LeaseKeeper(mirror, process, target, maxTxnOps, metrics);
        keeper.every(TICK, "lease keep-alive failed", keeper::keepAlive);
        keeper.every(TICK, "lease comparison with the source failed", keeper::check);
        return keeper;
    }

    /** Returns the deadline of a call on leases. */
    static Duration deadline(EtcdCluster cluster) {
        Duration configured = cluster.settings().requestTimeout();
        return configured.compareTo(MAX_DEADLINE) < 0 ? configured : MAX_DEADLINE;
    }

    String mirror() {
        return mirror;
    }

    EtcdCluster cluster() {
        return cluster;
    }

    int maxTxnOps() {
        return maxTxnOps;
    }

    LeaseMetrics metrics() {
        return metrics;
    }

    /**
     * Keeps the leases of an open sink, which has read the register.
     *
     * @param complete up to where the target holds what the source had
     */
    synchronized void attach(KeptLeases leases, Supplier<Revision> complete) {
        writing = new Writing(leases, complete);
        left = null;
    }

    /** Continues without the sink. */
    synchronized void detach(KeptLeases leases) {
        Writing before = writing;
        if (before != null && before.leases().equals(leases)) {
            left = byId(leases.held());
            lookAt = System.nanoTime();
            writing = null;
        }
    }

    /** Stops keeping leases alive; they stay for as long as they were granted for. Idempotent. */
    @Override
    public void close() {
        threads.shutdownNow();
        try {
            if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.atWarn().addKeyValue("mirror", mirror).log("lease keep-alive did not stop in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        metrics.held(0);
    }

    @FunctionalInterface
    private interface Work {
        void run() throws CallFailedException, InterruptedException;
    }

    private void every(Duration pause, String what, Work work) {
        var unused = threads.scheduleWithFixedDelay(
                () -> {
                    try {
                        work.run();
                    } catch (CallFailedException e) {
                        LOG.atDebug()
                                .addKeyValue("mirror", mirror)
                                .addKeyValue("cause", e.getMessage())
                                .log(what);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } catch (RuntimeException | Error e) {
                        LOG.atWarn().addKeyValue("mirror", mirror).setCause(e).log(what);
                    }
                },
                0,
                pause.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void keepAlive() throws CallFailedException, InterruptedException {
        Writing open = writing;
        if (open != null) {
            keepAlive(open.leases().held(), open.leases()::lose);
            return;
        }
        if (System.nanoTime() - lookAt >= 0) {
            lookAt = System.nanoTime() + LOOK.toNanos();
            look();
        }
        Map<Long, HeldLease> all = left;
        keepAlive(all == null ? List.of() : all.values(), lease -> {
            if (all != null) {
                all.remove(lease.id());
            }
        });
    }

    private void keepAlive(Collection<HeldLease> held, Consumer<HeldLease> ended)
            throws CallFailedException, InterruptedException {
        if (keeps || !held.isEmpty()) {
            // The mirror's other direction has the same gauge.
            metrics.held(held.size());
            keeps = !held.isEmpty();
        }
        long due = due(held, lease -> !lease.isDenied()).count();
        for (long sent = 0; sent < due; sent += ALIVE_AT_A_TIME) {
            // Those that are due again meanwhile come first: the others may be denied.
            Stream<HeldLease> next = Stream.concat(
                    due(held, HeldLease::isKept), due(held, lease -> !lease.isKept() && !lease.isDenied()));
            keepAliveOnce(next.limit(ALIVE_AT_A_TIME).toList(), MAX_DENIED, ended);
        }
        keepAliveOnce(due(held, HeldLease::isDenied).limit(MAX_DENIED).toList(), MAX_DENIED, ended);
    }

    /** Returns leases of a kind that are due, the one that is due for longest first. */
    private static Stream<HeldLease> due(Collection<HeldLease> held, Predicate<HeldLease> kind) {
        long now = System.nanoTime();
        return held.stream()
                .filter(kind.and(lease -> lease.isDue(now)))
                .map(lease -> Map.entry(lease.dueAt(), lease))
                .sorted(Map.Entry.comparingByKey())
                .map(Map.Entry::getValue);
    }

    /** Keeps leases alive once, see {@link LeaseCalls#keepAlive}. */
    void keepAliveOnce(Collection<HeldLease> some, int maxDenied, Consumer<HeldLease> ended)
            throws CallFailedException, InterruptedException {
        for (HeldLease denied : target.keepAlive(some, maxDenied, ended)) {
            LOG.atWarn()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("lease", Long.toHexString(denied.id()))
                    .addKeyValue("remedy", "grant the mirror's user write access to all keys of the lease")
                    .log("lease keep-alive denied; the lease will expire in the target");
        }
    }

    /** Reads which leases this process keeps alive without a sink. */
    private void look() throws CallFailedException, InterruptedException {
        boolean isOurs = isOurs();
        Map<Long, HeldLease> found = isOurs && left == null
                ? byId(register.ids().stream().map(id -> new HeldLease(id, 0)).toList())
                : null;
        synchronized (this) {
            if (writing == null && (!isOurs || left == null)) {
                left = found;
            }
        }
    }

    /** Whether the target is not the primary, and no other process is active. */
    private boolean isOurs() throws CallFailedException, InterruptedException {
        TxnRequest both = TxnRequest.newBuilder()
                .addSuccess(EtcdMessages.get(ReservedKeys.home(mirror)))
                .addSuccess(EtcdMessages.get(ReservedKeys.active(mirror)))
                .build();
        TxnResponse answer = calls.kv(stub -> stub.txn(both));
        ClusterId here = new ClusterId(answer.getHeader().getClusterId());
        return answer.getResponses(0).getResponseRange().getKvsList().stream()
                        .noneMatch(found -> names(found.getValue(), here))
                && answer.getResponses(1).getResponseRange().getKvsList().stream()
                        .allMatch(active -> active.getValue().toStringUtf8().equals(process));
    }

    /** Whether a record names the primary. The mirror reports one that is not readable. */
    private static boolean names(ByteString record, ClusterId cluster) {
        try {
            return Home.decode("the target", record).cluster().equals(cluster);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static Map<Long, HeldLease> byId(Collection<HeldLease> leases) {
        Map<Long, HeldLease> all = new ConcurrentHashMap<>();
        leases.forEach(lease -> all.put(lease.id(), lease));
        return all;
    }

    private void check() throws CallFailedException, InterruptedException {
        Writing open = writing;
        if (open == null) {
            return;
        }
        KeptLeases leases = open.leases();
        long now = System.nanoTime();
        List<HeldLease> some = leases.held().stream()
                .filter(lease -> now - lease.checkedAt() > between(lease))
                .map(lease -> Map.entry(lease.checkedAt(), lease))
                .sorted(Map.Entry.comparingByKey())
                .limit(CHECKS_PER_TICK)
                .map(Map.Entry::getValue)
                .toList();
        for (HeldLease lease : some) {
            leases.check(lease);
            Revision goneAt = lease.goneAt();
            if (goneAt != null && !open.complete().get().isBefore(goneAt) && leases.end(lease)) {
                LOG.atDebug()
                        .addKeyValue("mirror", mirror)
                        .addKeyValue("lease", Long.toHexString(lease.id()))
                        .log("lease ended");
            }
        }
    }

    private static long between(HeldLease lease) {
        return TimeUnit.SECONDS.toNanos(Math.max(MIN_CHECK_SECONDS, Math.min(MAX_CHECK_SECONDS, lease.seconds())));
    }

    /** Metrics of a mirror's leases. One per mirror. */
    public static final class LeaseMetrics {

        private final AtomicInteger held = new AtomicInteger();
        private final Counter restored;

        public LeaseMetrics(String mirror, MeterRegistry meters) {
            MirrorMeter.LEASES
                    .gauge(held, AtomicInteger::get)
                    .tag("mirror", mirror)
                    .register(meters);
            this.restored =
                    MirrorMeter.LEASES_RESTORED.counter().tag("mirror", mirror).register(meters);
        }

        void held(int count) {
            held.set(count);
        }

        void restored(int keys) {
            restored.increment(keys);
        }
    }
}
