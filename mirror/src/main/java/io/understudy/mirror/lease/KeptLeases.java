package io.understudy.mirror.lease;

import io.etcd.jetcd.api.Compare;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.call.Repeated;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leases of the target under the ids, and for the times, that the source granted. Each stands in a register in the target
 * before it is granted there: so a lease that somebody else granted is never taken for one of these, and one whose grant
 * was cut short is not forgotten.
 *
 * <p>Thread-safe.
 *
 * <p>Invariant M9: with copied leases, keys have the source's leases, and queues for locks keep their order.
 */
final class KeptLeases implements TargetLeases, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(KeptLeases.class);

    /** What a lease is granted for of which the source no longer, or not now, tells. */
    static final long FALLBACK_SECONDS = 60;

    private static final Duration MAX_DEADLINE = Duration.ofSeconds(2);
    private static final int SOURCE_ATTEMPTS = 3;
    private static final int ASKED_AT_A_TIME = 8;
    private static final int PROBED_AT_A_TIME = 500;

    private final String mirror;
    private final List<KeyRange> mirrored;
    private final Repeated repeated;
    private final LeaseRegister register;
    private final LeaseCalls source;
    private final LeaseCalls target;
    /** Of the source. */
    private final ConfirmedRevision head;

    /** Those that the target has. */
    private final Map<Long, HeldLease> held = new ConcurrentHashMap<>();
    /** Those in the register, also those that the target doesn't have. Changed under this object's lock. */
    private final Set<Long> registered = ConcurrentHashMap.newKeySet();

    /** What the source granted those for that will be needed soon. */
    private final Map<Long, Future<Long>> asked = new ConcurrentHashMap<>();

    private final ExecutorService asking;
    private volatile @Nullable ClusterId sourceId;
    private volatile @Nullable Supplier<Compare> epoch;
    private volatile @Nullable SinkException lost;

    /** Clusters stay the caller's to close. {@link #in} is to be called before anything else. */
    KeptLeases(
            String mirror,
            MirrorScope scope,
            EtcdCluster source,
            ConfirmedRevision head,
            EtcdCluster target,
            SinkListener listener) {
        this.mirror = mirror;
        this.mirrored = scope.targetRanges();
        this.repeated = new Repeated(listener);
        this.asking = Executors.newFixedThreadPool(ASKED_AT_A_TIME, work -> {
            Thread thread = new Thread(work, "mirror-" + mirror + "-lease-times");
            thread.setDaemon(true);
            return thread;
        });
        ClusterCalls writes = new ClusterCalls(target, Duty.WRITE, deadline(target));
        this.register = new LeaseRegister(mirror, writes);
        this.target = new LeaseCalls(writes);
        // Any member that serves watches asks the leader about leases.
        this.head = head;
        this.source = new LeaseCalls(new ClusterCalls(source, Duty.WATCH, deadline(source)));
    }

    private static Duration deadline(EtcdCluster cluster) {
        Duration configured = cluster.settings().requestTimeout();
        return configured.compareTo(MAX_DEADLINE) < 0 ? configured : MAX_DEADLINE;
    }

    @Override
    public boolean areKept() {
        return true;
    }

    /**
     * Finds out which of the registered leases the target still has, and keeps those alive once. To be called before any is
     * asked for.
     *
     * @return whether no key can have been lost: all of them are there, and were when they were last looked after
     */
    boolean begin() {
        registered.addAll(repeated.until("read of the lease register", register::ids));
        List<Long> all = new ArrayList<>(registered);
        for (int from = 0; from < all.size(); from += PROBED_AT_A_TIME) {
            List<Long> some = all.subList(from, Math.min(all.size(), from + PROBED_AT_A_TIME));
            repeated.until("lease lookup", () -> {
                target.keepAlive(some, (id, seconds) -> {
                    if (seconds > 0) {
                        held.put(id, new HeldLease(id, seconds));
                    }
                });
                return true;
            });
        }
        boolean whole =
                repeated.until("read of the lease register", register::isWhole) && held.size() == registered.size();
        LOG.atInfo()
                .addKeyValue("mirror", mirror)
                .addKeyValue("registered", registered.size())
                .addKeyValue("alive", held.size())
                .addKeyValue("whole", whole)
                .log("leases loaded");
        return whole;
    }

    /** Every key that should be attached to a lease is; or may not be, from now on. */
    void setWhole(boolean whole) {
        repeated.until("write of the lease register", () -> {
            register.setWhole(whole, fence());
            return true;
        });
    }

    /** What holds while nobody else has taken the mirror over: the register is written only then. */
    void in(Supplier<Compare> held) {
        epoch = held;
    }

    /** The cluster whose leases these are. */
    void of(ClusterId cluster) {
        sourceId = cluster;
    }

    /** @throws SinkException leases of the target have run out: a new sink puts back what went with them */
    void requireNoneLost() {
        SinkException why = lost;
        if (why != null) {
            throw why;
        }
    }

    @Override
    public long forPut(long id) {
        if (id == 0) {
            return 0;
        }
        requireNoneLost();
        HeldLease known = held.get(id);
        if (known == null || known.goneAt() != null) {
            hold(id);
        }
        return id;
    }

    /**
     * A key will be put with it soon: the source, which may be far away, is asked for how long it granted it while what
     * comes before is being written.
     */
    void expect(long id) {
        if (!held.containsKey(id)) {
            asked.computeIfAbsent(id, unknown -> asking.submit(() -> seconds(id)));
        }
    }

    /** Asks for no more. Leases stay. */
    @Override
    public void close() {
        asking.shutdownNow();
    }

    Collection<HeldLease> held() {
        return held.values();
    }

    /** Keeps the leases alive once. */
    void keepAlive(List<HeldLease> leases) throws CallFailedException, InterruptedException {
        long asked = System.nanoTime();
        target.keepAlive(leases.stream().map(HeldLease::id).toList(), (id, seconds) -> {
            HeldLease lease = held.get(id);
            if (lease == null) {
                return;
            }
            if (seconds > 0) {
                lease.keptAlive(asked, seconds);
            } else {
                lose(lease);
            }
        });
    }

    /** Nobody can grant it anew in between: it would look as if it, and its keys, had been there all the time. */
    private synchronized void lose(HeldLease lease) {
        if (held.remove(lease.id(), lease)) {
            lost = new SinkException.Unavailable(
                    "lease " + Long.toHexString(lease.id())
                            + " in the target expired despite keep-alives: the target was"
                            + " unreachable for longer than the TTL, or the lease was revoked. Its keys are restored",
                    null);
        }
    }

    /** Asks the source whether it still has the lease, and remembers the answer. */
    void look(HeldLease lease) throws CallFailedException, InterruptedException {
        // Who answers may be behind the leader, which it asked: puts with the lease may come after its own revision.
        lease.looked(source.facts(lease.id(), false).exists() ? null : head.ask());
    }

    /**
     * Ends a lease that the source no longer has, unless keys are still attached to it.
     *
     * @return whether it is ended
     */
    synchronized boolean end(HeldLease lease) throws CallFailedException, InterruptedException {
        LeaseCalls.Facts facts = target.facts(lease.id(), true);
        if (!facts.keys().isEmpty() || lease.goneAt() == null) {
            return false;
        }
        held.remove(lease.id());
        try {
            target.revoke(lease.id());
            register.remove(lease.id(), fence());
        } catch (CallFailedException e) {
            held.put(lease.id(), lease);
            throw e;
        }
        registered.remove(lease.id());
        return true;
    }

    /** Forgets registered leases that the target doesn't have and no key needs. */
    synchronized void forgetMissing() {
        for (long id : Set.copyOf(registered)) {
            if (!held.containsKey(id)) {
                repeated.until("write of the lease register", () -> {
                    register.remove(id, fence());
                    return true;
                });
                registered.remove(id);
            }
        }
    }

    private synchronized void hold(long id) {
        requireNoneLost();
        Future<Long> expected = asked.remove(id);
        HeldLease known = held.get(id);
        if (known != null) {
            // The source has it again, or had it when it put this key.
            known.looked(null);
            return;
        }
        long wanted = answer(id, expected == null ? asking.submit(() -> seconds(id)) : expected);
        if (!registered.contains(id)) {
            repeated.until("lookup of lease " + Long.toHexString(id) + " in the target", () -> {
                requireOurs(id);
                register.add(id, source(), fence());
                return true;
            });
            registered.add(id);
        }
        held.put(id, repeated.until("grant of lease " + Long.toHexString(id) + " in the target", () -> {
            long granted = target.grant(id, wanted);
            return new HeldLease(
                    id, granted > 0 ? granted : target.facts(id, false).grantedSeconds());
        }));
    }

    /**
     * A lease that stands in no register is ours as well if it has keys, and all of them are mirrored: whoever granted it
     * had the range before its home moved away.
     */
    private void requireOurs(long id) throws CallFailedException, InterruptedException {
        LeaseCalls.Facts facts = target.facts(id, true);
        boolean ofMirroredKeys = !facts.keys().isEmpty()
                && facts.keys().stream().allMatch(key -> mirrored.stream().anyMatch(range -> range.contains(key)));
        if (facts.exists() && !ofMirroredKeys && !register.isOfSibling(id, source())) {
            throw new SinkException.Refused(
                    "lease " + Long.toHexString(id) + " in the target was not granted by mirror "
                            + mirror
                            + ", but a source key has a lease with the same ID. Revoke it in the target if it is unused,"
                            + " or set leases to drop");
        }
    }

    private List<Compare> fence() {
        Supplier<Compare> held = epoch;
        if (held == null) {
            throw new IllegalStateException("lease register written before its fence is known");
        }
        return List.of(held.get());
    }

    private ClusterId source() {
        ClusterId known = sourceId;
        if (known == null) {
            throw new IllegalStateException("leases requested before the source cluster is known");
        }
        return known;
    }

    private static long answer(long id, Future<Long> expected) {
        try {
            return expected.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SinkException.Stopped("reading lease " + Long.toHexString(id));
        } catch (ExecutionException e) {
            throw new SinkException.Unavailable(
                    "cannot read lease " + Long.toHexString(id) + " from the source", e.getCause());
        }
    }

    /** What the source granted it for. Who mirrors the past can't wait for an answer for ever: the source may be gone. */
    private long seconds(long id) throws InterruptedException {
        for (int attempt = 0; attempt < SOURCE_ATTEMPTS; attempt++) {
            try {
                LeaseCalls.Facts facts = source.facts(id, false);
                return facts.exists() ? facts.grantedSeconds() : FALLBACK_SECONDS;
            } catch (CallFailedException e) {
                LOG.atDebug()
                        .addKeyValue("mirror", mirror)
                        .addKeyValue("lease", Long.toHexString(id))
                        .addKeyValue("cause", e.getMessage())
                        .log("lease TTL read failed");
            }
        }
        LOG.atWarn()
                .addKeyValue("mirror", mirror)
                .addKeyValue("lease", Long.toHexString(id))
                .addKeyValue("ttl_s", FALLBACK_SECONDS)
                .addKeyValue("cause", "source did not return the TTL")
                .log("lease granted with default TTL");
        return FALLBACK_SECONDS;
    }
}
