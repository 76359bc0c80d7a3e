package io.understudy.gateway.read;

import io.understudy.etcd.ReadIndex;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Read-index rounds, one under way at a time: whoever comes meanwhile shares the next, since the one under way was sent
 * before. When nobody comes, a round is sent now and then all the same, to keep the as-of clock going. For any thread.
 */
final class ReadIndexRounds {

    /** Before the next round after one that failed, so that nobody is pestered who refuses at once. */
    private static final long PAUSE_MILLIS = 50;

    private final Vertx vertx;
    private final ReadIndexSource source;
    private final ReadSettings settings;
    private final AsOfClock clock;
    private final ReadMetrics metrics;
    private final LongSupplier applied;

    // Under this object's lock.
    private List<Rider> next = new ArrayList<>();
    private boolean underWay;
    private boolean closed;
    private long sentNanos;
    /** No round sent from now on can honestly confirm less. */
    private long floor;

    private volatile long confirmedNanos = System.nanoTime();
    private volatile @Nullable Throwable failure;
    private long timer;

    /** Whoever shares a round. Told on any thread, and must not hold it up. */
    interface Rider {

        /** The round is about to be sent: nobody may join who comes after this. */
        void sent();

        void confirmed(ReadIndex index);

        void failed();
    }

    /** @param applied the replica's revision: what is applied is committed, so no later round can confirm less */
    ReadIndexRounds(
            Vertx vertx,
            ReadIndexSource source,
            ReadSettings settings,
            AsOfClock clock,
            ReadMetrics metrics,
            LongSupplier applied) {
        this.vertx = vertx;
        this.source = source;
        this.settings = settings;
        this.clock = clock;
        this.metrics = metrics;
        this.applied = applied;
    }

    /** Begins to keep the clock going. */
    void start() {
        long interval = settings.asOfInterval().toMillis();
        timer = vertx.setPeriodic(0, interval, tick -> keepClock());
    }

    /** Sends nothing any more; riders that wait are left to their own deadlines. */
    synchronized void close() {
        closed = true;
        boolean unused = vertx.cancelTimer(timer);
    }

    /** Takes the next round. */
    void join(Rider rider) {
        List<Rider> riders;
        synchronized (this) {
            next.add(rider);
            if (underWay || closed) {
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

    private void keepClock() {
        List<Rider> riders;
        synchronized (this) {
            boolean recent =
                    System.nanoTime() - sentNanos < settings.asOfInterval().toNanos() / 2;
            if (underWay || closed || (recent && sentNanos != 0)) {
                return;
            }
            riders = depart();
        }
        send(riders);
    }

    private List<Rider> depart() {
        List<Rider> riders = next;
        next = new ArrayList<>();
        underWay = true;
        floor = Math.max(floor, applied.getAsLong());
        sentNanos = System.nanoTime();
        return riders;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // The follow-up has no result.
    private void send(List<Rider> riders) {
        riders.forEach(Rider::sent);
        long began = System.nanoTime();
        begin().thenApply(this::requireForward).whenComplete((index, failed) -> {
            metrics.round(Duration.ofNanos(System.nanoTime() - began), failed == null);
            if (failed == null) {
                confirmed(riders, index);
            } else {
                failed(riders, failed);
            }
        });
    }

    /**
     * A source that was wiped, or restored from a backup, confirms less than it did: what the replica holds then says
     * nothing of what is there now.
     */
    private synchronized ReadIndex requireForward(ReadIndex index) {
        long revision = index.revision().value();
        if (revision < floor) {
            throw new IllegalStateException(
                    "the source went back: it confirms revision " + revision + " after " + floor);
        }
        floor = revision;
        return index;
    }

    private CompletableFuture<ReadIndex> begin() {
        try {
            return source.readIndex(settings.roundTimeout());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void confirmed(List<Rider> riders, ReadIndex index) {
        clock.confirmed(index.revision().value(), index.sentNanos());
        confirmedNanos = System.nanoTime();
        failure = null;
        goOn();
        riders.forEach(rider -> rider.confirmed(index));
    }

    private void failed(List<Rider> riders, Throwable why) {
        failure = Objects.requireNonNullElse(why.getCause(), why);
        pause();
        riders.forEach(Rider::failed);
    }

    private synchronized void pause() {
        // Once closed, the timers may be too.
        if (!closed) {
            long unused = vertx.setTimer(PAUSE_MILLIS, over -> goOn());
        }
    }

    private void goOn() {
        List<Rider> riders;
        synchronized (this) {
            if (next.isEmpty() || closed) {
                underWay = false;
                return;
            }
            riders = depart();
        }
        send(riders);
    }
}
