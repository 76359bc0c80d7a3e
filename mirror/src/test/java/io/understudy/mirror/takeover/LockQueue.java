package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One lock as etcd's clients implement it: the key of the lowest create revision holds it. A client holds it no longer than
 * the TTL after it sent the last keep-alive that was answered.
 */
final class LockQueue {

    private static final Duration TTL = Duration.ofSeconds(5);
    private static final Duration RENEWAL = Duration.ofMillis(500);
    private static final Duration PAUSE = Duration.ofMillis(15);
    private static final Duration LONG = Duration.ofSeconds(7);
    private static final KeyRange QUEUE = KeyRange.prefix(ByteString.copyFromUtf8("/app/lock/"));

    private final List<String> problems;
    private final AtomicInteger held = new AtomicInteger();
    private @Nullable Contender holder;
    private volatile boolean isStopped;

    LockQueue(List<String> problems) {
        this.problems = problems;
    }

    Contender contender(List<TakeOverCalls> sides, String name, boolean mayMove) {
        return new Contender(sides, name, mayMove);
    }

    /** Clients leave the queue soon. */
    void stop() {
        isStopped = true;
    }

    /** How often the lock was held. */
    int held() {
        return held.get();
    }

    private synchronized void hold(Contender contender) {
        Contender before = holder;
        if (before != null && before != contender && before.isValid() && contender.isValid()) {
            problems.add("two holders: " + before + " and " + contender);
        }
        holder = contender;
        held.incrementAndGet();
    }

    private synchronized void release(Contender contender) {
        if (holder == contender) {
            holder = null;
        }
    }

    /** One client. One thread. */
    final class Contender {

        private final List<TakeOverCalls> sides;
        private final String name;
        private final boolean mayMove;
        private int side;
        private long lease;
        private ByteString key = ByteString.EMPTY;
        private long renewedAt;
        private volatile long validUntil;

        private Contender(List<TakeOverCalls> sides, String name, boolean mayMove) {
            this.sides = sides;
            this.name = name;
            this.mayMove = mayMove;
        }

        boolean isValid() {
            return System.nanoTime() - validUntil < 0;
        }

        /** Queues once, and holds the lock for a moment. */
        void round() {
            PatientCalls.pause(PAUSE);
            try {
                long sent = System.nanoTime();
                lease = sides.get(side).grantLease(TTL);
                key = QUEUE.from().concat(ByteString.copyFromUtf8(Long.toHexString(lease)));
                var unused = sides.get(side).txn("a lock", queued());
                renewedAt = sent;
                validUntil = sent + TTL.toNanos();
            } catch (TakeOverException e) {
                turn();
                return;
            }
            while (!isStopped && isValid()) {
                PatientCalls.pause(PAUSE);
                try {
                    if (!isRenewed()) {
                        break;
                    }
                    Optional<ByteString> first = first();
                    if (first.isEmpty()) {
                        break;
                    }
                    if (first.get().equals(key) && isValid()) {
                        hold(this);
                        keep();
                        break;
                    }
                } catch (TakeOverException e) {
                    turn();
                }
            }
            release(this);
            validUntil = System.nanoTime();
            leave();
        }

        /** One that stays at its side keeps the lock for as long as that answers, for a while. */
        private void keep() {
            long end = System.nanoTime() + (mayMove ? PAUSE : LONG).toNanos();
            while (!isStopped && isValid() && System.nanoTime() - end < 0) {
                PatientCalls.pause(PAUSE);
                try {
                    if (!isRenewed()) {
                        return;
                    }
                } catch (TakeOverException e) {
                    turn();
                }
            }
        }

        private TxnRequest queued() {
            return TxnRequest.newBuilder()
                    .addSuccess(RequestOp.newBuilder()
                            .setRequestPut(PutRequest.newBuilder()
                                    .setKey(key)
                                    .setValue(ByteString.copyFromUtf8(name))
                                    .setLease(lease)))
                    .build();
        }

        private void turn() {
            side = mayMove ? 1 - side : side;
        }

        private boolean isRenewed() {
            long now = System.nanoTime();
            if (now - renewedAt < RENEWAL.toNanos()) {
                return true;
            }
            if (!sides.get(side).keepAlive(List.of(lease)).contains(lease)) {
                return false;
            }
            renewedAt = now;
            validUntil = now + TTL.toNanos();
            return true;
        }

        /** The holder's key; empty if this client's is gone. */
        private Optional<ByteString> first() {
            List<KeyValue> queue = sides.get(side)
                    .range(RangeRequest.newBuilder()
                            .setKey(QUEUE.etcdKey())
                            .setRangeEnd(QUEUE.etcdRangeEnd())
                            .build())
                    .getKvsList();
            return queue.stream().noneMatch(each -> each.getKey().equals(key))
                    ? Optional.empty()
                    : queue.stream()
                            .min(Comparator.comparingLong(KeyValue::getCreateRevision))
                            .map(KeyValue::getKey);
        }

        /** If that fails, the lease expires. */
        private void leave() {
            try {
                sides.get(side).revokeLease(lease);
            } catch (TakeOverException e) {
                turn();
            }
        }

        @Override
        public String toString() {
            return name + " at side " + side;
        }
    }
}
