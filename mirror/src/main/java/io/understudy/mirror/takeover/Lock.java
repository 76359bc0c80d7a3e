package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.ReservedKeys;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets one command at a time move a primary role. It is a key with a lease that is kept alive. When the TTL has passed
 * since the last successful request was sent, by either clock of this process, another command may be at work: from then
 * on, every request of this one is refused before it is sent. Thread-safe.
 */
final class Lock {

    private static final Logger LOG = LoggerFactory.getLogger(Lock.class);

    /** How long a command that was killed keeps others out. The cluster may grant more. */
    static final Duration TTL = Duration.ofSeconds(10);

    private static final Duration BEAT = TTL.dividedBy(4);
    /** Of the TTL, for an undo if the cluster does not respond. */
    private static final Duration RESERVE = TTL.dividedBy(3);

    /** Another command may be at work. */
    static final class Expired extends TakeOverException {
        private Expired(String message) {
            super(message, null);
        }
    }

    /**
     * A time by two clocks, in nanoseconds.
     *
     * @param steady is never set, but may stop while the machine is suspended
     * @param wall the time of day
     */
    record ClockTime(long steady, long wall) {

        static ClockTime now() {
            return new ClockTime(System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()));
        }

        /** Returns the elapsed time, by the clock with the larger value. */
        long since(ClockTime earlier) {
            return Math.max(steady - earlier.steady, wall - earlier.wall);
        }
    }

    /** Work on another thread. */
    @FunctionalInterface
    interface Beats {
        void end();

        /** Does it once. */
        default void execute(Runnable work) {
            work.run();
        }
    }

    private final String process;
    private final Supplier<ClockTime> clock;
    private final BiFunction<Runnable, Duration, Beats> repeated;

    private @Nullable Records held;
    /** 0 for none. */
    private long lease;
    /** When the last successful request was sent. */
    private ClockTime sent;

    private String step = "";
    private Beats beats = () -> {};

    /** @param process host and process ID */
    Lock(String process) {
        this(process, ClockTime::now, Lock::onOwnThread);
    }

    /** @param repeated begins to repeat what it is given, with a pause before each time */
    Lock(String process, Supplier<ClockTime> clock, BiFunction<Runnable, Duration, Beats> repeated) {
        this.process = process;
        this.clock = clock;
        this.sent = clock.get();
        this.repeated = repeated;
    }

    private static Beats onOwnThread(Runnable work, Duration pause) {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(each -> {
            Thread daemon = new Thread(each, "takeover-beats");
            daemon.setDaemon(true);
            return daemon;
        });
        var unused = thread.scheduleWithFixedDelay(work, pause.toMillis(), pause.toMillis(), TimeUnit.MILLISECONDS);
        return new Beats() {
            @Override
            public void end() {
                var unusedTasks = thread.shutdownNow();
            }

            @Override
            public void execute(Runnable once) {
                thread.execute(once);
            }
        };
    }

    String process() {
        return process;
    }

    /** The command at work, in words; empty for none. */
    static Optional<String> holder(Records at) {
        return at.cluster().get(key(at)).map(found -> found.getValue().toStringUtf8());
    }

    private static ByteString key(Records at) {
        return ReservedKeys.of(at.mirror(), "operation");
    }

    private ByteString value(String inStep) {
        return ByteString.copyFromUtf8(process + ", step " + inStep);
    }

    /** @throws TakeOverException another command is at work */
    void take(Records at, String first) {
        step = first;
        hold(at);
        beats = repeat(this::keepAlive, BEAT);
    }

    /** Begins to repeat requests of the command that holds it, with a pause before each time. */
    Beats repeat(Runnable work, Duration pause) {
        return repeated.apply(work, pause);
    }

    private void hold(Records at) {
        requireFree(at);
        ClockTime sending = clock.get();
        long granted = at.cluster().grantLease(TTL);
        TxnRequest put = TxnRequest.newBuilder()
                .addCompare(Records.isAt(key(at), 0))
                .addSuccess(Records.put(key(at), value(step), granted))
                .build();
        if (!at.cluster().txn("the lock", put).getSucceeded()
                && at.cluster()
                        .get(key(at))
                        .filter(found -> found.getLease() == granted)
                        .isEmpty()) {
            at.cluster().revokeLease(granted);
            requireFree(at);
            throw new TakeOverException("another command has moved mirror " + at.mirror() + " just now");
        }
        held(at, granted, sending);
    }

    /** @throws TakeOverException another command holds the lock there */
    static void requireFree(Records at) {
        holder(at).ifPresent(holder -> {
            throw new TakeOverException("another command is moving mirror " + at.mirror() + ": " + holder + " ("
                    + at.cluster().shown() + "). Wait until it has ended");
        });
    }

    private synchronized void held(@Nullable Records at, long granted, ClockTime sending) {
        held = at;
        lease = granted;
        sent = sending;
    }

    private void keepAlive() {
        Records at;
        long kept;
        synchronized (this) {
            at = held;
            kept = lease;
        }
        ClockTime sending = clock.get();
        try {
            if (at != null
                    && kept != 0
                    && at.cluster().with(BEAT).keepAlive(List.of(kept)).contains(kept)) {
                synchronized (this) {
                    sent = lease == kept ? sending : sent;
                }
            }
        } catch (TakeOverException e) {
            // The next attempt comes soon.
        }
    }

    /** Shows the next step, while that begins: clients may wait for it. */
    synchronized void show(String next) {
        step = next;
        Records at = held;
        if (at != null) {
            // The key is of no other command as long as the lease exists.
            TxnRequest put = TxnRequest.newBuilder()
                    .addSuccess(Records.put(key(at), value(next), lease))
                    .build();
            beats.execute(() -> {
                try {
                    var unused = at.cluster().with(BEAT).txn("the lock", put);
                } catch (TakeOverException e) {
                    LOG.atDebug().addKeyValue("cause", e.getMessage()).log("step not shown");
                }
            });
        }
    }

    /** @throws Expired if it was taken, and another command may be at work */
    synchronized void require() {
        if (held != null && lease != 0 && left() <= 0) {
            throw new Expired("the lock at " + held.cluster().shown() + " has expired: this command was stopped, or "
                    + held.cluster().shown() + " did not respond, for " + TTL.toSeconds()
                    + " s. Another command may have been at work; run this one again");
        }
    }

    private long left() {
        return TTL.toNanos() - clock.get().since(sent);
    }

    /** Whether only the time of an undo is left. Requests without a response should be given up then. */
    synchronized boolean isEnding() {
        return lease != 0 && left() <= RESERVE.toNanos();
    }

    /** The timeout of one attempt, so that it does not outlast the lock. */
    synchronized Duration within(Duration timeout) {
        long spare = isEnding() ? left() : left() - RESERVE.toNanos();
        return lease == 0 || spare > timeout.toNanos() ? timeout : Duration.ofNanos(Math.max(1, spare));
    }

    /**
     * Takes it again if it has expired.
     *
     * @return whether another command may have been at work meanwhile
     * @throws TakeOverException one is
     */
    boolean again() {
        Records at;
        long lost;
        synchronized (this) {
            at = held;
            if (at == null || left() > 0) {
                return false;
            }
            lost = lease;
            lease = 0;
        }
        try {
            ClockTime sending = clock.get();
            if (at.cluster().keepAlive(List.of(lost)).contains(lost)) {
                held(at, lost, sending);
                return false;
            }
            hold(at);
            return true;
        } finally {
            synchronized (this) {
                lease = lease == 0 ? lost : lease;
            }
        }
    }

    /** A failure hides no result, since the lock expires by itself. */
    void release() {
        beats.end();
        Records at;
        long kept;
        synchronized (this) {
            at = held;
            kept = lease;
            held(null, 0, sent);
        }
        if (at == null) {
            return;
        }
        try {
            at.cluster().revokeLease(kept);
        } catch (TakeOverException e) {
            LOG.atInfo()
                    .addKeyValue("mirror", at.mirror())
                    .addKeyValue("cause", e.getMessage())
                    .log("lock not released; it expires");
        }
    }
}
