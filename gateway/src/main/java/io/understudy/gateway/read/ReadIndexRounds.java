package io.understudy.gateway.read;

import io.understudy.etcd.ReadIndex;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.read.ReadSource.ReadIndexSource;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends read-index rounds. Reads that arrive during a round share the next one, which is sent once the round ends or is
 * slow. A slow round still counts, even after {@code reads.roundTimeout}: a slow source serves reads late, as etcd would.
 * Without reads, rounds are sent periodically for the as-of clock. Thread-safe.
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

    /** Time without an answer after which the next round is sent beside it. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Maximum interval of checks for slow rounds. */
    private static final long MAX_TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

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
    /** Rounds without an answer, in the order in which they were sent; all but the last are slow. */
    private final Deque<Round> underWay = new ArrayDeque<>();
    /** Highest confirmed revision; no later round can confirm less. */
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
        /** A round is under way and not slow, or the next is delayed after a failure. */
        UNDER_WAY
    }

    /**
     * @param number counted from 1
     * @param floor lowest valid revision
     */
    private record Round(long number, long floor, List<Rider> riders, long sentNanos) {}

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
        clockTimer = timers.scheduleAtFixedRate(this::keepClock, 0, tickNanos(), TimeUnit.NANOSECONDS);
    }

    private long tickNanos() {
        return Math.min(
                MAX_TICK_NANOS,
                Math.min(
                        settings.asOfInterval().toNanos(),
                        settings.roundTimeout().toNanos()));
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
        Round round;
        synchronized (this) {
            if (state == State.UNDER_WAY || closed || next.isEmpty() || (state == State.IDLE && gathers())) {
                return;
            }
            round = depart();
        }
        send(round);
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
            passSlow();
            sendUnlessRecent();
        } catch (RuntimeException | Error e) {
            // An exception would cancel the timer.
            failure = e;
            unforeseen(e);
        }
    }

    /** Lets the next round be sent beside a slow one, so that its reads do not wait for both. */
    private void passSlow() {
        long slow;
        synchronized (this) {
            Round first = underWay.peekFirst();
            if (first == null) {
                return;
            }
            long now = System.nanoTime();
            long timeout = settings.roundTimeout().toNanos();
            if (now - first.sentNanos >= timeout) {
                failure = new TimeoutException("read index not answered after "
                        + settings.roundTimeout().toMillis() + " ms");
            }
            slow = rounds;
            Round last = underWay.getLast();
            if (state != State.UNDER_WAY
                    || last.number != slow
                    || now - last.sentNanos < Math.min(SLOW_NANOS, timeout)) {
                return;
            }
            carried = 0;
        }
        sendNext(slow, State.UNDER_WAY);
    }

    private void sendUnlessRecent() {
        Round round;
        synchronized (this) {
            boolean recent =
                    System.nanoTime() - sentNanos < settings.asOfInterval().toNanos() - tickNanos() / 2;
            if (state != State.IDLE || closed || (recent && sentNanos != 0)) {
                return;
            }
            round = depart();
        }
        send(round);
    }

    private Round depart() {
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
        sentNanos = System.nanoTime();
        Round round = new Round(rounds, Math.max(floor, committed), riders, sentNanos);
        underWay.add(round);
        return round;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // The follow-up has no result.
    private void send(Round round) {
        notifyRiders(round.riders, Rider::sent);
        begin().whenComplete((index, failed) -> {
            try {
                ended(round, index, failed);
            } catch (RuntimeException | Error e) {
                giveUp(round.number, e);
            }
        });
    }

    private void ended(Round round, @Nullable ReadIndex index, @Nullable Throwable failed) {
        long tookNanos = System.nanoTime() - round.sentNanos;
        List<Rider> riders = new ArrayList<>();
        Throwable why = failed;
        synchronized (this) {
            if (!underWay.contains(round)) {
                // A later round has served its reads.
                metrics.round(Duration.ofNanos(tookNanos), index != null);
                return;
            }
            if (index != null) {
                why = decreased(round, index);
            }
            if (why == null) {
                while (!underWay.isEmpty() && underWay.peek().number <= round.number) {
                    riders.addAll(underWay.remove().riders);
                }
            } else {
                underWay.remove(round);
                riders = round.riders;
            }
        }
        metrics.round(Duration.ofNanos(tookNanos), why == null);
        if (why == null) {
            confirmed(round.number, riders, Objects.requireNonNull(index), tookNanos);
        } else {
            failed(round.number, riders, why);
        }
    }

    /**
     * Returns the failure if the revision is below an earlier one. A wiped or restored source is unrelated to the
     * replica's state.
     */
    private @Nullable Throwable decreased(Round round, ReadIndex index) {
        long revision = index.revision().value();
        long least = round.floor;
        if (!index.clusterId().equals(cluster)) {
            if (cluster != null) {
                clock.restart();
                floor = 0;
                least = 0;
            }
            cluster = index.clusterId();
        }
        if (revision < least) {
            return new IllegalStateException("source revision decreased: confirmed " + revision + " after " + least);
        }
        floor = Math.max(floor, revision);
        return null;
    }

    private CompletableFuture<ReadIndex> begin() {
        try {
            return source.readIndex(Collections.max(List.of(settings.timeout(), settings.roundTimeout())));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void confirmed(long round, List<Rider> riders, ReadIndex index, long tookNanos) {
        clock.confirmed(index.revision().value(), index.sentNanos());
        confirmedNanos = System.nanoTime();
        failure = null;
        synchronized (this) {
            lastRoundNanos = tookNanos;
        }
        sendNext(round, State.UNDER_WAY);
        notifyRiders(riders, rider -> rider.confirmed(index.revision().value(), index.sentNanos()));
    }

    private void failed(long round, List<Rider> riders, Throwable why) {
        Throwable cause = why instanceof CompletionException && why.getCause() != null ? why.getCause() : why;
        failure = cause;
        synchronized (this) {
            // They wait already, so no delay is needed for them.
            carried = 0;
            later(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS), () -> sendNext(round, State.UNDER_WAY));
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
        Round round;
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
                round = depart();
            } catch (RuntimeException | Error e) {
                giveUp(after, e);
                return;
            }
        }
        send(round);
    }

    private void later(long nanos, Runnable work) {
        // The timers may be closed too.
        if (!closed) {
            Future<?> unused = timers.schedule(work, nanos, TimeUnit.NANOSECONDS);
        }
    }
}
