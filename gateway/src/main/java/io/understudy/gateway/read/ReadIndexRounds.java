package io.understudy.gateway.read;

import io.understudy.etcd.ReadIndex;
import io.understudy.gateway.api.ApiException;
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
 * Read-index rounds, one under way at a time: whoever comes meanwhile shares the next, since the one under way was sent
 * before. When nobody comes, a round is sent now and then all the same, to keep the as-of clock going. For any thread.
 *
 * <p>A round costs its servers the same, whoever shares it, and clients that were just answered tend to come back at once.
 * So before the next round is sent they are waited for, {@linkplain Patience for a moment}.
 *
 * <p>Invariant C1b: a read never shares a round sent before it arrived, and a single reader's round is sent at once.
 */
final class ReadIndexRounds implements Confirmations {

    private static final Logger LOG = LoggerFactory.getLogger(ReadIndexRounds.class);

    /** Before the next round after one that failed, so that nobody is pestered who refuses at once. */
    private static final long PAUSE_MILLIS = 50;

    private final ReadIndexSource source;
    private final ScheduledExecutorService timers;
    private final ReadSettings settings;
    private final AsOfClock clock;
    private final ReadMetrics metrics;
    private final LongSupplier applied;

    /** Reads that the next round is to carry; those that come while it is sent may be counted for the one after. */
    private final AtomicInteger waiting = new AtomicInteger();
    /** So many that wait are not kept waiting. */
    private volatile int enough = 1;

    // Under this object's lock.
    private final Patience patience = new Patience();
    private List<Rider> next = new ArrayList<>();
    private State state = State.IDLE;
    private boolean closed;
    private long sentNanos;
    private long lastRoundNanos;
    /** Reads that share the round under way, or were answered by the last one. */
    private int carried;
    /** Rounds sent so far, by which a timer knows whether its moment has passed. */
    private long rounds;
    /** No round sent from now on can honestly confirm less. */
    private long floor;
    /** That {@link #floor} is of; another one follows when the primary of a mirror moves. */
    private @Nullable ClusterId cluster;
    /** Whether something went wrong that nobody foresaw. */
    private boolean faulty;

    private volatile long confirmedNanos = System.nanoTime();
    private volatile @Nullable Throwable failure;
    private @Nullable Future<?> clockTimer;

    private enum State {
        /** Nobody waits. */
        IDLE,
        /** For the next round, until there are enough or a timer ends it. */
        GATHERING,
        /** Or one has failed, and the next is being put off. */
        UNDER_WAY
    }

    /**
     * @param timers on which the source answers, best of all
     * @param applied the replica's revision: what is applied is committed, so no later round can confirm less
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

    /** Sends nothing any more. */
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

    /** How long no round has been confirmed. */
    Duration silence() {
        return Duration.ofNanos(System.nanoTime() - confirmedNanos);
    }

    /** Why the last round failed; null if it did not. */
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
            // It would be the timer's last time.
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
            patience.ended(enough - carried);
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
        tell(riders, Rider::sent);
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

    /**
     * A source that was wiped, or restored from a backup, confirms less than it did: what the replica holds then says
     * nothing of what is there now.
     */
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
        goOn(confirmed, State.UNDER_WAY);
        tell(riders, rider -> rider.confirmed(index.revision().value(), index.sentNanos()));
    }

    private void failed(List<Rider> riders, Throwable why) {
        Throwable cause = Objects.requireNonNullElse(why.getCause(), why);
        failure = cause;
        synchronized (this) {
            long failed = rounds;
            // They need not be waited for: they are here.
            carried = 0;
            later(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS), () -> goOn(failed, State.UNDER_WAY));
        }
        ApiException fatal = cause instanceof ApiException known ? known : null;
        tell(riders, rider -> rider.failed(fatal));
    }

    /** Whatever goes wrong with one, the others are told. */
    private void tell(List<Rider> riders, Consumer<Rider> what) {
        for (Rider rider : riders) {
            try {
                what.accept(rider);
            } catch (RuntimeException | Error e) {
                unforeseen(e);
            }
        }
    }

    /** Nothing follows the round by itself: whoever comes next, or the clock, sends one. */
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

    /** A fault of ours, not the source's. One line for them all, and none for what ends when all does. */
    private synchronized void unforeseen(Throwable why) {
        if (!closed && !faulty) {
            faulty = true;
            LOG.error("read index failed", why);
        }
    }

    /**
     * Those who were answered last may come back, to share the next round with those who wait for it already.
     *
     * @return whether they are waited for
     */
    private boolean gathers() {
        int known = waiting.get();
        int returning = state == State.IDLE ? Math.max(0, carried - known) : carried;
        long nanos = patience.begin(returning, lastRoundNanos);
        if (nanos == 0) {
            return false;
        }
        long last = rounds;
        later(nanos, () -> goOn(last, State.GATHERING));
        state = State.GATHERING;
        enough = known + returning;
        return true;
    }

    /** Sends the next round if anybody waits for it, unless that happened meanwhile. */
    private void goOn(long after, State expected) {
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
        // Once closed, the timers may be too.
        if (!closed) {
            Future<?> unused = timers.schedule(work, nanos, TimeUnit.NANOSECONDS);
        }
    }
}
