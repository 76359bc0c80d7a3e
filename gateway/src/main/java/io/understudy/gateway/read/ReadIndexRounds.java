package io.understudy.gateway.read;

import io.understudy.etcd.ReadIndex;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.read.ReadSource.ReadIndexSource;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends read-index rounds, one at a time. Reads that arrive meanwhile share the next round. Without reads, rounds are
 * sent periodically for the as-of clock. Thread-safe.
 *
 * <p>A round costs the same for any number of reads, and clients often send the next read at once. So each round is
 * {@linkplain ReadIndexBatchDelay delayed briefly} for them.
 *
 * <p>Invariant C1b: a read never shares a round sent before it arrived, and a single reader's round is sent at once.
 */
final class ReadIndexRounds implements Confirmations {

    private static final Logger LOG = LoggerFactory.getLogger(ReadIndexRounds.class);

    /** Delay after a failed round. */
    private static final long PAUSE_MILLIS = 50;

    private final ReadIndexSource source;
    private final ScheduledExecutorService timers;
    private final ReadSettings settings;
    private final AsOfClock clock;
    private final ReadMetrics metrics;
    private final LongSupplier applied;

    /** Reads of the next round. Those that arrive while it is sent may count for the one after. */
    private final AtomicInteger waiting = new AtomicInteger();
    /** Number of reads at which the next round is sent at once. */
    private volatile int enough = 1;

    // Under this object's lock.
    private final ReadIndexBatchDelay batchDelay = new ReadIndexBatchDelay();
    private List<Rider> next = new ArrayList<>();
    private State state = State.IDLE;
    private boolean closed;
    private long sentNanos;
    private long lastRoundNanos;
    /** Reads of the round under way, or of the last one. */
    private int carried;
    /** Rounds sent so far; lets a timer detect that it is outdated. */
    private long rounds;
    /** Lowest valid revision of later rounds. */
    private long floor;
    /** Cluster of {@link #floor}; changes when the primary of a mirror moves. */
    private @Nullable ClusterId cluster;
    /** Whether an unexpected failure was logged. */
    private boolean faulty;

    private volatile long confirmedNanos = System.nanoTime();
    private volatile @Nullable Throwable failure;
    private @Nullable Future<?> clockTimer;

    private enum State {
        /** No read waits. */
        IDLE,
        /** Collects reads for the next round, until there are enough or a timer expires. */
        GATHERING,
        /** A round is under way, or the next is delayed after a failure. */
        UNDER_WAY
    }

    /**
     * @param timers preferably the thread that completes the source's answers
     * @param applied the replica's revision: it is committed, so no later round can confirm less
     */
    ReadIndexRounds(
            ReadIndexSource source,
            ScheduledExecutorService timers,
            ReadSettings settings,
            AsOfClock clock,
            ReadMetrics metrics,
            LongSupplier applied) {
        this.source = source;
        this.timers = timers;
        this.settings = settings;
        this.clock = clock;
        this.metrics = metrics;
        this.applied = applied;
    }

    @Override
    public synchronized void start() {
        long interval = settings.asOfInterval().toNanos();
        clockTimer = timers.scheduleAtFixedRate(this::keepClock, 0, interval, TimeUnit.NANOSECONDS);
    }

    /** Stops sending rounds. */
    @Override
    public synchronized void close() {
        closed = true;
        if (clockTimer != null) {
            boolean unused = clockTimer.cancel(false);
        }
    }

    @Override
    public void join(Rider rider) {
        synchronized (this) {
            next.add(rider);
        }
        joined();
    }

    @Override
    public void joined() {
        if (waiting.incrementAndGet() < enough) {
            return;
        }
        List<Rider> riders;
        synchronized (this) {
            if (state == State.UNDER_WAY || closed || next.isEmpty() || (state == State.IDLE && gathers())) {
                return;
            }
            riders = depart();
        }
        send(riders);
    }

    /** Time since the last confirmed round. */
    Duration silence() {
        return Duration.ofNanos(System.nanoTime() - confirmedNanos);
    }

    /** Failure of the last round; null if it succeeded. */
    @Nullable Throwable failure() {
        return failure;
    }

    @Override
    public Duration unconfirmed() {
        return failure == null ? Duration.ZERO : silence();
    }

    @Override
    public Optional<String> problem() {
        Throwable why = failure;
        Duration silence = silence();
        return why == null || silence.compareTo(settings.roundTimeout().multipliedBy(2)) < 0
                ? Optional.empty()
                : Optional.of("no revision confirmed for " + silence.toMillis() + " ms: " + why.getMessage());
    }

    private void keepClock() {
        try {
            sendUnlessRecent();
        } catch (RuntimeException | Error e) {
            // An exception would cancel the timer.
            failure = e;
            unforeseen(e);
        }
    }

    private void sendUnlessRecent() {
        List<Rider> riders;
        synchronized (this) {
            boolean recent =
                    System.nanoTime() - sentNanos < settings.asOfInterval().toNanos() / 2;
            if (state != State.IDLE || closed || (recent && sentNanos != 0)) {
                return;
            }
            riders = depart();
        }
        send(riders);
    }

    private List<Rider> depart() {
        long committed = applied.getAsLong();
        List<Rider> riders = next;
        next = new ArrayList<>();
        carried = waiting.getAndSet(0);
        if (state == State.GATHERING) {
            batchDelay.ended(enough - carried);
        }
        state = State.UNDER_WAY;
        enough = Integer.MAX_VALUE;
        rounds++;
        floor = Math.max(floor, committed);
        sentNanos = System.nanoTime();
        return riders;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // The follow-up has no result.
    private void send(List<Rider> riders) {
        notifyRiders(riders, Rider::sent);
        long began = System.nanoTime();
        begin().thenApply(this::accepted).whenComplete((index, failed) -> {
            long took = System.nanoTime() - began;
            long round = underWay();
            try {
                ended(riders, index, failed, took);
            } catch (RuntimeException | Error e) {
                giveUp(round, e);
            }
        });
    }

    private synchronized long underWay() {
        return rounds;
    }

    private void ended(List<Rider> riders, @Nullable ReadIndex index, @Nullable Throwable failed, long tookNanos) {
        metrics.round(Duration.ofNanos(tookNanos), index != null);
        if (index != null) {
            confirmed(riders, index, tookNanos);
        } else {
            failed(riders, Objects.requireNonNull(failed));
        }
    }

    private ReadIndex accepted(ReadIndex index) {
        requireForward(index);
        clock.confirmed(index.revision().value(), index.sentNanos());
        return index;
    }

    /** Rejects a revision below an earlier one. A wiped or restored source is unrelated to the replica's state. */
    private synchronized void requireForward(ReadIndex index) {
        long revision = index.revision().value();
        if (!index.clusterId().equals(cluster)) {
            if (cluster != null) {
                clock.restart();
                floor = 0;
            }
            cluster = index.clusterId();
        }
        if (revision < floor) {
            throw new IllegalStateException("source revision decreased: confirmed " + revision + " after " + floor);
        }
        floor = revision;
    }

    private CompletableFuture<ReadIndex> begin() {
        try {
            return source.readIndex(settings.roundTimeout());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void confirmed(List<Rider> riders, ReadIndex index, long tookNanos) {
        confirmedNanos = System.nanoTime();
        failure = null;
        long confirmed;
        synchronized (this) {
            confirmed = rounds;
            lastRoundNanos = tookNanos;
        }
        sendNext(confirmed, State.UNDER_WAY);
        notifyRiders(riders, rider -> rider.confirmed(index.revision().value(), index.sentNanos()));
    }

    private void failed(List<Rider> riders, Throwable why) {
        Throwable cause = Objects.requireNonNullElse(why.getCause(), why);
        failure = cause;
        synchronized (this) {
            long failed = rounds;
            // They wait already, so no delay is needed for them.
            carried = 0;
            later(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS), () -> sendNext(failed, State.UNDER_WAY));
        }
        ApiException fatal = cause instanceof ApiException known ? known : null;
        notifyRiders(riders, rider -> rider.failed(fatal));
    }

    /** A failure of one rider does not affect the others. */
    private void notifyRiders(List<Rider> riders, Consumer<Rider> what) {
        for (Rider rider : riders) {
            try {
                what.accept(rider);
            } catch (RuntimeException | Error e) {
                unforeseen(e);
            }
        }
    }

    /** Ends the round; the next read or the clock timer sends another. */
    private void giveUp(long round, Throwable why) {
        failure = why;
        unforeseen(why);
        synchronized (this) {
            if (rounds == round) {
                state = State.IDLE;
                enough = 1;
            }
        }
    }

    /** Logs an unexpected failure of this process once, unless closed. */
    private synchronized void unforeseen(Throwable why) {
        if (!closed && !faulty) {
            faulty = true;
            LOG.error("read index failed", why);
        }
    }

    /**
     * Delays the next round for the clients of the last one.
     *
     * @return whether the round is delayed
     */
    private boolean gathers() {
        int known = waiting.get();
        int returning = state == State.IDLE ? Math.max(0, carried - known) : carried;
        long nanos = batchDelay.begin(returning, lastRoundNanos);
        if (nanos == 0) {
            return false;
        }
        long last = rounds;
        later(nanos, () -> sendNext(last, State.GATHERING));
        state = State.GATHERING;
        enough = known + returning;
        return true;
    }

    /** Sends the next round if reads wait, unless one was sent meanwhile. */
    private void sendNext(long after, State expected) {
        List<Rider> riders;
        synchronized (this) {
            if (rounds != after || state != expected) {
                return;
            }
            if (next.isEmpty() || closed) {
                state = State.IDLE;
                enough = 1;
                return;
            }
            try {
                if (state == State.UNDER_WAY && gathers()) {
                    return;
                }
                riders = depart();
            } catch (RuntimeException | Error e) {
                giveUp(after, e);
                return;
            }
        }
        send(riders);
    }

    private void later(long nanos, Runnable work) {
        // The timers may be closed too.
        if (!closed) {
            Future<?> unused = timers.schedule(work, nanos, TimeUnit.NANOSECONDS);
        }
    }
}
