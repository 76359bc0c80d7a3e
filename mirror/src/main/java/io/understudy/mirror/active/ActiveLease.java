package io.understudy.mirror.active;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ElectionState;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Elects the active process of a mirror by a key in the target. The key is attached to a lease that the process keeps
 * alive. By its own clock, a process is inactive when the TTL has passed since its last successful request. Only then
 * can the target elect another.
 *
 * <p>Invariant M8: one process of a mirror is active; another takes over within 5 s of its failure, and at once after a
 * stop.
 */
public final class ActiveLease implements ActiveRole {

    private static final Logger LOG = LoggerFactory.getLogger(ActiveLease.class);

    /** Renewals of the lease per TTL. */
    private static final int BEATS = 3;

    /** Reads of the key by standby processes, and retries, per TTL. */
    private static final int LOOKS = 10;

    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(1);

    private final String mirror;
    private final ActiveKey key;
    private final Duration ttl;
    private final Counter activations;
    private final Thread thread;

    private ElectionState state = new ElectionState.Undecided();
    /** End of the active state unless the target responds, by {@link System#nanoTime}. */
    private long activeUntil;

    private long activation;

    private boolean competes;

    private boolean closed;
    /** ID of the granted lease, 0 for none. Used by the thread, and after its end by {@link #close}. */
    private long lease;
    /** Expiry of the lease unless renewed, by {@link System#nanoTime}. */
    private long leaseUntil;
    /** Whether the key is attached to the lease, and thus lives as long. */
    private boolean attached;

    private ActiveLease(String mirror, ActiveKey key, Duration ttl, MeterRegistry meters) {
        this.mirror = mirror;
        this.key = key;
        this.ttl = ttl;
        this.activations =
                MirrorMeter.ACTIVATIONS.counter().tag("mirror", mirror).register(meters);
        this.thread = new Thread(this::run, "mirror-" + mirror + "-active");
        thread.setDaemon(true);
    }

    /**
     * Starts the election thread, which is idle until {@link #compete}.
     *
     * @param name unique name of this process
     * @param target closed by the caller
     * @param ttl the requested TTL; the target may grant a longer one
     */
    public static ActiveLease start(
            String mirror, String name, EtcdCluster target, Duration ttl, MeterRegistry meters) {
        ActiveKey key = new ActiveKey(mirror, name, target, ttl.dividedBy(BEATS + 1));
        ActiveLease active = new ActiveLease(mirror, key, ttl, meters);
        active.thread.start();
        return active;
    }

    @Override
    public synchronized ElectionState state() {
        if (state instanceof ElectionState.Active && activeUntil - System.nanoTime() <= 0) {
            become(new ElectionState.Unknown("lease of the active process not renewed for " + ttl.toMillis() + " ms"
                    + "; another process may be active"));
        }
        return state;
    }

    @Override
    public synchronized void awaitChange(ElectionState seen, Duration atMost) throws InterruptedException {
        long deadline = System.nanoTime() + atMost.toNanos();
        for (long left = atMost.toNanos(); left > 0 && state().equals(seen); left = deadline - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    @Override
    public synchronized long activation() {
        return activation;
    }

    @Override
    public boolean isConfirmed(long since) throws InterruptedException {
        try {
            KeyValue found = key.read();
            if (found != null && !key.isOurs(found)) {
                become(new ElectionState.Standby(key.holder(found)));
            }
            return found != null && key.isOurs(found) && activation() == since;
        } catch (CallFailedException e) {
            return false;
        }
    }

    @Override
    public synchronized void compete(boolean again) {
        competes = again;
        if (!again) {
            become(new ElectionState.Undecided());
        }
        notifyAll();
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            notifyAll();
        }
        thread.interrupt();
        try {
            thread.join(CLOSE_DEADLINE.toMillis());
            if (!thread.isAlive()) {
                release();
            }
        } catch (CallFailedException e) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", e.getMessage())
                    .log("active lease not released; it expires after its TTL");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            while (true) {
                pause(step());
            }
        } catch (InterruptedException e) {
            // Only close() interrupts.
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void pause(Duration pause) throws InterruptedException {
        long deadline = System.nanoTime() + pause.toNanos();
        boolean competed = competes;
        for (long left = pause.toNanos();
                left > 0 && !closed && competes == competed;
                left = deadline - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        if (closed) {
            throw new InterruptedException("closed");
        }
    }

    /**
     * Renews or acquires the role once. The lease is kept alive first: a read of the key waits for all that the target
     * has to apply, such as parts of a snapshot.
     *
     * @return how long to wait before the next time
     */
    private Duration step() throws InterruptedException {
        long began = System.nanoTime();
        try {
            if (!isCompeting()) {
                release();
                return ttl.dividedBy(LOOKS);
            }
            if (lease != 0 && !lasts(key.keepAlive(lease), began)) {
                return Duration.ZERO;
            }
            KeyValue found = key.read();
            if (found != null && !key.isOurs(found)) {
                lease = 0;
                become(new ElectionState.Standby(key.holder(found)));
                return ttl.dividedBy(LOOKS);
            }
            return hold(found) ? ttl.dividedBy(BEATS) : Duration.ZERO;
        } catch (CallFailedException e) {
            failed(e);
        } catch (RuntimeException | Error e) {
            LOG.atError().addKeyValue("mirror", mirror).setCause(e).log("active lease update failed; retrying");
        }
        // A call that took its whole deadline has waited enough.
        return ttl.dividedBy(LOOKS).minusNanos(System.nanoTime() - began);
    }

    private synchronized boolean isCompeting() {
        return competes;
    }

    private void release() throws CallFailedException, InterruptedException {
        long held = lease;
        if (held != 0) {
            attach(false);
            key.release(held);
            lease = 0;
            LOG.atInfo().addKeyValue("mirror", mirror).log("active lease released");
        }
    }

    /** Acquires the key by a lease; false if the lease expired or the key changed. */
    private boolean hold(@Nullable KeyValue found) throws CallFailedException, InterruptedException {
        if (lease == 0) {
            long sent = System.nanoTime();
            LeaseGrantResponse granted = key.grant(ttl);
            lease = granted.getID();
            attach(false);
            if (!lasts(granted.getTTL(), sent)) {
                return false;
            }
        }
        if (found == null) {
            begin();
        }
        // Attached to a lease of before it would end with that one.
        boolean isAttached = found != null && found.getLease() == lease;
        attach(isAttached);
        if (!isAttached && !key.put(lease, found)) {
            return false;
        }
        attach(true);
        renewed();
        return true;
    }

    /**
     * Whether the lease has time left by the response to a request sent at {@code sent}. An attached key is there as
     * long as its lease.
     */
    private boolean lasts(long seconds, long sent) {
        if (seconds <= 0) {
            lease = 0;
            become(new ElectionState.Unknown("lease of this process expired or was revoked"));
            return false;
        }
        leaseUntil = sent + TimeUnit.SECONDS.toNanos(seconds);
        renewed();
        return true;
    }

    private void failed(CallFailedException e) {
        if (e.error() == EtcdError.LEASE_NOT_FOUND) {
            lease = 0;
        } else if (e.isFinal()) {
            become(new ElectionState.Refused(String.valueOf(e.getMessage())));
        } else if (!isActive()) {
            become(new ElectionState.Unknown(String.valueOf(e.getMessage())));
        }
    }

    /** Starts a new activation: another process may have been active while the key was missing. */
    private synchronized void begin() {
        activation++;
    }

    private synchronized void renewed() {
        if (attached && competes) {
            activeUntil = leaseUntil;
            become(new ElectionState.Active());
        }
    }

    private synchronized void attach(boolean isAttached) {
        attached = isAttached;
    }

    private synchronized void become(ElectionState next) {
        if (next.equals(state)) {
            return;
        }
        // The key may be read by another thread: a lease that is still alive then proves nothing.
        attached &= !(next instanceof ElectionState.Standby);
        if (next instanceof ElectionState.Active) {
            activation++;
            activations.increment();
        }
        boolean isNews = !(next instanceof ElectionState.Unknown) || !(state instanceof ElectionState.Unknown);
        LOG.atLevel(isNews ? Level.INFO : Level.DEBUG)
                .addKeyValue("mirror", mirror)
                .addKeyValue("process", key.name())
                .addKeyValue("from", state)
                .addKeyValue("to", next)
                .log("active state changed");
        state = next;
        notifyAll();
    }

    /** The key in the target that names a mirror's active process, and its leases. */
    private static final class ActiveKey {

        private final ByteString key;
        private final String name;
        private final ClusterCalls calls;

        ActiveKey(String mirror, String name, EtcdCluster target, Duration deadline) {
            this.key = ReservedKeys.active(mirror);
            this.name = name;
            this.calls = new ClusterCalls(target, target::separateChannel, Duty.WRITE, deadline);
        }

        /** Returns the name of this process. */
        String name() {
            return name;
        }

        /** Reads the key linearizably; null if no process is active. */
        @Nullable KeyValue read() throws CallFailedException, InterruptedException {
            RangeResponse answer = calls.kv(
                    stub -> stub.range(RangeRequest.newBuilder().setKey(key).build()));
            return answer.getKvsCount() == 0 ? null : answer.getKvs(0);
        }

        boolean isOurs(KeyValue found) {
            return holder(found).equals(name);
        }

        String holder(KeyValue found) {
            return found.getValue().toStringUtf8();
        }

        LeaseGrantResponse grant(Duration ttl) throws CallFailedException, InterruptedException {
            long seconds = ttl.plusMillis(999).toSeconds();
            return calls.lease(stub -> stub.leaseGrant(
                    LeaseGrantRequest.newBuilder().setTTL(seconds).build()));
        }

        /** Renews the lease and returns its TTL in seconds, 0 or less if expired. */
        long keepAlive(long lease) throws CallFailedException, InterruptedException {
            return calls.keepAlive(lease);
        }

        /**
         * Puts the name of this process, attached to {@code lease}.
         *
         * @param found the key as last read; null if absent
         * @return false if the key was changed since then, and is kept
         */
        boolean put(long lease, @Nullable KeyValue found) throws CallFailedException, InterruptedException {
            TxnRequest request = TxnRequest.newBuilder()
                    .addCompare(EtcdMessages.unmodified(key, found == null ? 0 : found.getModRevision()))
                    .addSuccess(EtcdMessages.put(key, ByteString.copyFromUtf8(name), lease))
                    .build();
            return calls.kv(stub -> stub.txn(request)).getSucceeded();
        }

        /** Revokes the lease, which deletes the key. */
        void release(long lease) throws CallFailedException, InterruptedException {
            calls.lease(stub -> stub.leaseRevoke(
                    LeaseRevokeRequest.newBuilder().setID(lease).build()));
        }
    }
}
