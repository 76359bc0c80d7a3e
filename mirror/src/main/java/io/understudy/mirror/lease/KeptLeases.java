package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.call.Repeated;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.DaemonThreads;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leases of the target with the IDs and TTLs that the source granted. Each is registered in the target before it is
 * granted there. The register separates leases of other clients and preserves interrupted grants.
 *
 * <p>Thread-safe.
 *
 * <p>Invariant M9: with copied leases, keys have the source's leases, and queues for locks keep their order.
 */
public final class KeptLeases implements TargetLeases {

    private static final Logger LOG = LoggerFactory.getLogger(KeptLeases.class);

    /** TTL of a lease that ended at the source: a later commit deletes its keys. */
    private static final long ENDED_SECONDS = 60;

    private static final int READ_AT_A_TIME = 32;
    private static final int PROBED_AT_A_TIME = 500;
    private static final int MAX_GRANTED_AT_A_TIME = 100;

    private final String mirror;
    private final List<KeyRange> mirrored;
    private final MirrorScope scope;
    private final Repeated repeated;
    private final Repeated atSource;
    private final LeaseKeeper keeper;
    private final LeaseRegister register;
    private final LeaseCalls source;
    private final LeaseCalls target;
    /** Reads the source's revision. */
    private final ClusterCalls head;

    /** Leases that the target has. */
    private final Map<Long, HeldLease> held = new ConcurrentHashMap<>();
    /** Registered leases, including those that the target lacks. Changed under this object's lock. */
    private final Set<Long> registered = ConcurrentHashMap.newKeySet();

    /** The source's state of leases needed soon, read after it put their keys. */
    private final Map<Long, Future<LeaseCalls.Facts>> prefetched = new ConcurrentHashMap<>();
    /** The lease that this writer attached each key to. Guarded by its own lock, which is never held during a call. */
    private final Map<ByteString, HeldLease> attached = new HashMap<>();

    private final int grantedAtATime;
    private final ExecutorService reads;
    private final ClusterCalls sourceKeys;
    private final ClusterCalls targetKeys;
    /** Revision up to which {@link #restore} made the target equal. */
    private volatile @Nullable Revision restoredAt;
    /** The shortest TTL that the target grants; 0 while unknown. */
    private long minimum;

    private volatile @Nullable ClusterId sourceId;
    private volatile @Nullable Supplier<Compare> epoch;
    private volatile @Nullable SinkException lost;

    /**
     * Creates the leases of one sink.
     *
     * @param keeper keeps them alive, also after the sink is closed
     * @param source closed by the caller
     */
    public KeptLeases(LeaseKeeper keeper, MirrorScope scope, EtcdCluster source, SinkListener listener) {
        EtcdCluster cluster = keeper.cluster();
        this.keeper = keeper;
        this.mirror = keeper.mirror();
        this.scope = scope;
        this.mirrored = scope.targetRanges();
        this.repeated = new Repeated(listener);
        this.atSource = new Repeated(listener, source.settings().requestTimeout());
        this.grantedAtATime = Math.min(MAX_GRANTED_AT_A_TIME, keeper.maxTxnOps());
        this.reads =
                Executors.newFixedThreadPool(READ_AT_A_TIME, DaemonThreads.named("mirror-" + mirror + "-lease-times"));
        ClusterCalls writes = new ClusterCalls(cluster, Duty.WRITE, LeaseKeeper.deadline(cluster));
        this.register = new LeaseRegister(mirror, writes);
        this.target = new LeaseCalls(writes);
        // Any member that serves watches forwards lease requests to the leader.
        this.source = new LeaseCalls(new ClusterCalls(source, Duty.WATCH, LeaseKeeper.deadline(source)));
        this.head = new ClusterCalls(source, Duty.READ_INDEX, source.settings().requestTimeout());
        this.sourceKeys =
                new ClusterCalls(source, Duty.SNAPSHOT, source.settings().requestTimeout());
        this.targetKeys =
                new ClusterCalls(cluster, Duty.WRITE, cluster.settings().requestTimeout());
    }

    /**
     * Rejects kept leases before a sink that drops leases is opened.
     *
     * @throws SinkException.Refused the target has leases kept by this mirror, which would delete keys on expiry
     */
    public static void requireNone(String mirror, EtcdCluster target, SinkListener listener) {
        LeaseRegister register = new LeaseRegister(
                mirror, new ClusterCalls(target, Duty.WRITE, target.settings().requestTimeout()));
        new Repeated(listener).run("read of the lease register", () -> {
            if (!register.ids().isEmpty()) {
                throw new SinkException.Refused("mirror " + mirror + " has leases in the target, but leases is drop:"
                        + " their keys would be deleted on expiry. Set leases to ttl, or delete the checkpoint and "
                        + register.shownKeys() + " to start over");
            }
            if (register.isWhole()) {
                register.setWhole(false, List.of());
            }
        });
    }

    @Override
    public boolean areKept() {
        return true;
    }

    @Override
    public boolean attach(Supplier<Compare> epoch, Supplier<Revision> complete) {
        in(epoch);
        boolean whole = begin();
        keeper.attach(this, complete);
        return whole;
    }

    @Override
    public void detach() {
        keeper.detach(this);
    }

    /**
     * Determines the registered leases that the target still has, by a keep-alive. Called before any other method.
     *
     * @return whether no key can have been lost: all leases exist, and keys were complete before
     */
    boolean begin() {
        registered.addAll(repeated.until("read of the lease register", register::ids));
        registered.forEach(id -> held.put(id, new HeldLease(id, 0)));
        List<HeldLease> all = List.copyOf(held.values());
        for (int from = 0; from < all.size(); from += PROBED_AT_A_TIME) {
            List<HeldLease> some = all.subList(from, Math.min(all.size(), from + PROBED_AT_A_TIME));
            repeated.run(
                    "lease lookup",
                    () -> keeper.keepAliveOnce(some, Integer.MAX_VALUE, lease -> held.remove(lease.id(), lease)));
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

    @Override
    public void setWhole(boolean whole) {
        if (whole) {
            forgetMissing();
        }
        repeated.run("write of the lease register", () -> register.setWhole(whole, fence()));
    }

    /** Sets a compare that holds until another writer takes over, as the register's fence. */
    void in(Supplier<Compare> held) {
        epoch = held;
    }

    @Override
    public void of(ClusterId cluster) {
        sourceId = cluster;
    }

    @Override
    public void requireNoneLost() {
        SinkException why = lost;
        if (why != null) {
            throw why;
        }
    }

    @Override
    public long forPut(ByteString key, long id) {
        if (id == 0) {
            deleted(key);
            return 0;
        }
        requireNoneLost();
        if (!isAttached(id)) {
            var unused = hold(List.of(id));
        }
        attach(key, id);
        return id;
    }

    @Override
    public void deleted(ByteString key) {
        synchronized (attached) {
            detach(attached.remove(key));
        }
    }

    @Override
    public boolean restore(Position at, @Nullable List<KeyValue> keys, Consumer<List<RequestOp>> writer) {
        if (at.revision().equals(restoredAt)) {
            return true;
        }
        OptionalInt put = new LeaseRestore(
                        mirror, scope, sourceKeys, targetKeys, grantedAtATime, atSource, repeated, this)
                .run(at, keys, writer);
        put.ifPresent(count -> {
            keeper.metrics().restored(count);
            restoredAt = at.revision();
        });
        return put.isPresent();
    }

    /** Records that a key is attached to a lease that the target has. */
    void attach(ByteString key, long id) {
        synchronized (attached) {
            HeldLease lease = present(id);
            lease.attach();
            detach(attached.put(key, lease));
        }
    }

    /** @throws SinkException the target lost it, or it has ended */
    private HeldLease present(long id) {
        HeldLease lease = held.get(id);
        if (lease == null) {
            requireNoneLost();
            throw new SinkException.Unavailable("lease " + Long.toHexString(id) + " in the target ended", null);
        }
        return lease;
    }

    private void detach(@Nullable HeldLease before) {
        if (before != null) {
            before.detach();
            if (!before.hasKeys()) {
                // The source may grant it again from now on.
                prefetched.remove(before.id());
            }
        }
    }

    /** Whether the lease has keys, and thus is the one that the source granted. */
    private boolean isAttached(long id) {
        synchronized (attached) {
            HeldLease lease = held.get(id);
            return lease != null && lease.goneAt() == null && lease.hasKeys();
        }
    }

    @Override
    public void snapshotFollows() {
        synchronized (attached) {
            attached.clear();
            prefetched.clear();
            held.values().forEach(HeldLease::detachAll);
            restoredAt = null;
        }
    }

    @Override
    public void expect(long id) {
        if (!isAttached(id)) {
            // Always again: what was read before may be of an earlier lease with that ID.
            prefetched.put(id, reads.submit(() -> source.facts(id, false)));
        }
    }

    @Override
    public void expectInSnapshot(long id) {
        prefetched.computeIfAbsent(id, unknown -> reads.submit(() -> source.facts(id, false)));
    }

    /** Stops reads; leases remain. */
    @Override
    public void close() {
        reads.shutdownNow();
    }

    Collection<HeldLease> held() {
        return held.values();
    }

    /**
     * Records an expired lease without waiting for a grant, which may take as long as the target takes no puts. The loss
     * comes before the removal, so that no thread finds the lease absent without it: a new grant would hide it. One that
     * is no longer registered was ended by this mirror.
     */
    void lose(HeldLease lease) {
        held.computeIfPresent(lease.id(), (id, present) -> {
            if (!present.equals(lease)) {
                return present;
            }
            if (registered.contains(id)) {
                lost = new SinkException.Unavailable(
                        "lease " + Long.toHexString(id)
                                + " in the target expired despite keep-alives: the target was"
                                + " unreachable for longer than the TTL, or the lease was revoked. Its keys are restored",
                        null);
            }
            return null;
        });
    }

    /** Reads from the source whether it still has the lease, and stores the answer. */
    void check(HeldLease lease) throws CallFailedException, InterruptedException {
        // The responding member may be behind the leader, so puts with the lease may come after its own revision.
        lease.checked(source.facts(lease.id(), false).exists() ? null : head());
    }

    /** Reads the source's revision, confirmed by a quorum, which covers every change before. */
    Revision head() throws CallFailedException, InterruptedException {
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(scope.sourceRanges().get(0).etcdKey())
                .setCountOnly(true)
                .build();
        return new Revision(head.kv(stub -> stub.range(request)).getHeader().getRevision());
    }

    /**
     * Ends a lease that the source no longer has, unless mirrored keys are attached to it. The register comes first: its
     * write fails if another process has taken over, which may use the lease.
     *
     * @return whether it is no longer kept alive
     */
    synchronized boolean end(HeldLease lease) throws CallFailedException, InterruptedException {
        LeaseCalls.Facts facts = target.facts(lease.id(), true);
        if (hasMirroredKeys(facts) || lease.goneAt() == null) {
            return false;
        }
        register.remove(lease.id(), fence());
        registered.remove(lease.id());
        // Other keys are of other mirrors, or of clients here, which may keep it alive. A mirror that has it registered
        // would take it for lost.
        if (facts.keys().isEmpty() && !register.isOfSibling(lease.id(), source())) {
            target.revoke(lease.id());
        }
        held.remove(lease.id(), lease);
        return true;
    }

    /** Unregisters leases that the target lacks and no key needs. */
    synchronized void forgetMissing() {
        for (long id : Set.copyOf(registered)) {
            if (!held.containsKey(id)) {
                requireNoneLost();
                repeated.run("write of the lease register", () -> register.remove(id, fence()));
                registered.remove(id);
            }
        }
    }

    /**
     * Grants leases in the target, each with the source's TTL.
     *
     * @return leases with another TTL and keys in the target, which are granted again once the keys are deleted
     */
    Set<Long> hold(Collection<Long> ids) {
        if (ids.size() > 1) {
            ids.forEach(this::expectInSnapshot);
        }
        Map<Long, LeaseCalls.Facts> granted = new LinkedHashMap<>();
        ids.forEach(id -> granted.put(id, atSource(id)));
        return hold(granted);
    }

    private synchronized Set<Long> hold(Map<Long, LeaseCalls.Facts> granted) {
        // One that is held but not registered was about to end.
        List<Long> missing = granted.keySet().stream()
                .filter(id -> !held.containsKey(id) || !registered.contains(id))
                .toList();
        for (int from = 0; from < missing.size(); from += grantedAtATime) {
            List<Long> some = missing.subList(from, Math.min(missing.size(), from + grantedAtATime));
            register(some.stream().filter(id -> !registered.contains(id)).toList());
            List<Long> absent =
                    some.stream().filter(id -> !held.containsKey(id)).toList();
            requireNoneLost();
            together(absent, id -> {
                LeaseCalls.Facts atSource = Objects.requireNonNull(granted.get(id));
                grant(id, atSource.exists() ? atSource.grantedSeconds() : ENDED_SECONDS);
            });
        }
        return granted.keySet().stream()
                .filter(id -> !isAsGranted(id, Objects.requireNonNull(granted.get(id))))
                .collect(Collectors.toSet());
    }

    private void register(List<Long> ids) {
        together(
                ids.stream().filter(id -> !held.containsKey(id)).toList(),
                id -> repeated.run(
                        "lookup of lease " + Long.toHexString(id) + " in the target", () -> requireOurs(id)));
        if (!ids.isEmpty()) {
            add(ids);
            registered.addAll(ids);
        }
    }

    /** Writes the register, which fails once another process has taken over. */
    private void add(List<Long> ids) {
        repeated.run("write of the lease register", () -> register.add(ids, source(), fence()));
    }

    /** Works for all at the same time, since each takes several calls; for one alone on the calling thread. */
    private void together(List<Long> ids, LongConsumer work) {
        if (ids.size() == 1) {
            work.accept(ids.get(0));
            return;
        }
        var unused = together(ids.stream()
                .map(id -> Executors.callable(() -> work.accept(id)))
                .toList());
    }

    /** Makes calls at the same time, and returns their results in order. */
    <T> List<T> together(List<Callable<T>> work) {
        try {
            List<T> results = new ArrayList<>(work.size());
            for (Future<T> each : reads.invokeAll(work)) {
                results.add(each.get());
            }
            return results;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SinkException.Stopped("calls for leases");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : new IllegalStateException(e.getCause());
        }
    }

    /** @return false if the lease has another TTL, and keys in the target */
    private boolean isAsGranted(long id, LeaseCalls.Facts granted) {
        HeldLease lease = present(id);
        // The source has it again, or had it when it put the key.
        lease.checked(null);
        long seconds = lease.seconds();
        if (!granted.exists()
                || seconds == granted.grantedSeconds()
                || (seconds > granted.grantedSeconds() && seconds <= minimum())) {
            return true;
        }
        String name = Long.toHexString(id);
        boolean isRevoked = repeated.until("revocation of lease " + name + " in the target", () -> {
            // A process that has taken over may use it.
            register.add(List.of(id), source(), fence());
            LeaseCalls.Facts found = target.facts(id, true);
            if (!found.exists()) {
                // It had keys, perhaps. Not recorded if an earlier attempt revoked it.
                lose(lease);
                requireNoneLost();
            }
            if (!found.keys().isEmpty()) {
                return false;
            }
            held.remove(id);
            target.revoke(id);
            return true;
        });
        LOG.atInfo()
                .addKeyValue("mirror", mirror)
                .addKeyValue("lease", name)
                .addKeyValue("ttl_s", granted.grantedSeconds())
                .addKeyValue("target_ttl_s", seconds)
                .addKeyValue("revoked", isRevoked)
                .log("lease has another TTL in the target");
        if (isRevoked) {
            // Again: a new grant would hide from such a process that its keys are gone.
            add(List.of(id));
            grant(id, granted.grantedSeconds());
        }
        return isRevoked;
    }

    private void grant(long id, long seconds) {
        HeldLease lease = repeated.until("grant of lease " + Long.toHexString(id) + " in the target", () -> {
            long granted = target.grant(id, seconds);
            return granted > 0
                    ? new HeldLease(id, granted)
                    : new HeldLease(id, target.facts(id, false).grantedSeconds());
        });
        held.put(id, lease);
    }

    private long minimum() {
        if (minimum == 0) {
            minimum = repeated.until("grant of a lease in the target", () -> target.grant(0, 1));
        }
        return minimum;
    }

    private LeaseCalls.Facts atSource(long id) {
        Future<LeaseCalls.Facts> expected = prefetched.remove(id);
        try {
            if (expected != null) {
                return expected.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SinkException.Stopped("reading lease " + Long.toHexString(id));
        } catch (ExecutionException e) {
            LOG.atDebug()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("lease", Long.toHexString(id))
                    .addKeyValue("cause", e.getCause())
                    .log("lease TTL read failed");
        }
        return atSource.until(
                "read of lease " + Long.toHexString(id) + " from the source", () -> source.facts(id, false));
    }

    /**
     * Rejects a lease of another client. An unregistered lease belongs to this mirror as well if a key of it is mirrored:
     * a client granted it before the primary moved away.
     */
    private void requireOurs(long id) throws CallFailedException, InterruptedException {
        LeaseCalls.Facts facts = target.facts(id, true);
        if (facts.exists() && !hasMirroredKeys(facts) && !register.isOfSibling(id, source())) {
            throw new SinkException.Refused(
                    "lease " + Long.toHexString(id) + " in the target was not granted by mirror "
                            + mirror
                            + ", but a source key has a lease with the same ID. Revoke it in the target if it is unused,"
                            + " or set leases to drop");
        }
    }

    private boolean hasMirroredKeys(LeaseCalls.Facts facts) {
        return facts.keys().stream().anyMatch(key -> mirrored.stream().anyMatch(range -> range.contains(key)));
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
}
