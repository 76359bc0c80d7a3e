package io.understudy.gateway.server;

import io.netty.channel.EventLoop;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.server.Loads.LoadMetrics;
import io.understudy.gateway.server.Loads.LoadMetrics.Closure;
import io.understudy.gateway.server.Loads.LoadMetrics.Refusal;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import io.vertx.core.net.SocketAddress;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests in flight and queued on one event loop. On the loop, but for the counts. */
final class LoopLoad {

    private static final long REPORTED_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final EventLoop loop;
    private final LoadLimits limits;
    private final Loads all;
    private final LoadMetrics metrics;
    private final QueueBound queue;
    private final Runnable turnEnds = this::turnEnds;
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicLong heldBytes = new AtomicLong();
    private long turn;
    private boolean inTurn;
    private long began;

    LoopLoad(EventLoop loop, LoadLimits limits, Loads all, LoadMetrics metrics) {
        this.loop = loop;
        this.limits = limits;
        this.all = all;
        this.metrics = metrics;
        this.queue = new QueueBound(limits.maxDelay().toNanos());
    }

    /** Returns the admission of a connection's requests; {@code client} names its client on demand. */
    Admission admission(Supplier<String> client) {
        return new Admission(client);
    }

    /**
     * Returns the name of a client for limits: its common name, else its address.
     *
     * @param address may be null if the client has disconnected
     */
    static String client(Principal peer, @Nullable SocketAddress address) {
        return peer instanceof Principal.Certificate certificate
                ? "name " + certificate.commonName()
                : "address " + (address == null ? "" : address.hostAddress());
    }

    /** Data has arrived and is about to be handled. */
    private void reading() {
        if (!inTurn) {
            inTurn = true;
            turn++;
            began = System.nanoTime();
            // Runs after all arrived data has been handled.
            loop.execute(turnEnds);
        }
    }

    private void turnEnds() {
        inTurn = false;
        if (queue.isMeasured()) {
            queue.measured(THREADS.getCurrentThreadCpuTime());
        }
        queue.turnEnds();
        long took = System.nanoTime() - began;
        if (took > REPORTED_TURN_NANOS) {
            metrics.turned(took);
        }
    }

    /** Admits a unary request, or rejects it for the sake of later ones. */
    private boolean admits(boolean firstOfConnection) {
        if (queue.rejects(firstOfConnection)) {
            return false;
        }
        if (queue.serves()) {
            queue.measure(THREADS.getCurrentThreadCpuTime());
        }
        return true;
    }

    /** Counts a request, if the limit allows it. */
    private boolean enter(boolean lasts) {
        int open = calls.getPlain();
        int answering = inFlight.getPlain();
        if (open >= limits.maxCalls() || (!lasts && answering >= limits.maxInFlight())) {
            return false;
        }
        calls.lazySet(open + 1);
        if (!lasts) {
            inFlight.lazySet(answering + 1);
        }
        return true;
    }

    private void leave(boolean lasts) {
        calls.lazySet(calls.getPlain() - 1);
        if (!lasts) {
            inFlight.lazySet(inFlight.getPlain() - 1);
        }
    }

    /** Counts bytes of messages and bodies as held, if the total allows it. */
    boolean hold(int bytes) {
        long held = heldBytes.getPlain();
        if (!all.mayHold(held, bytes)) {
            return false;
        }
        heldBytes.lazySet(held + bytes);
        return true;
    }

    void release(int bytes) {
        heldBytes.lazySet(heldBytes.getPlain() - bytes);
    }

    long maxBytesPerConnection() {
        return all.maxBytesPerConnection();
    }

    void refused(Refusal why) {
        metrics.refused(why);
    }

    void closed(Closure why) {
        metrics.closed(why);
    }

    int calls() {
        return calls.get();
    }

    int inFlight() {
        return inFlight.get();
    }

    long heldBytes() {
        return heldBytes.get();
    }

    /**
     * Bounds the requests of one event-loop turn by their measured service time. Confined to the loop.
     *
     * <p>A turn takes all requests that have arrived, so these are the queue. The bound is what fits into a target at the
     * CPU time per request: wall time would count other processes' use as load. Turns may exceed the bound as a leaky
     * bucket: a burst passes, and a standing queue does not.
     *
     * <p>Invariant S7: at three times the sustainable load, accepted requests are not delayed by rejected ones.
     */
    static final class QueueBound {

        /** Minimum bound: so few are no overload, even before code is compiled. */
        static final int LEAST = 128;

        /** Requests above the bound that pass before excess ones are rejected. */
        static final int BURST = 2_000;

        /** Factor of the bound for each connection's first request, so that no connection starves. */
        private static final int FIRST_SHARE = 4;

        private static final int MOST = Integer.MAX_VALUE / FIRST_SHARE;

        /** Requests of a turn before its measurement, which saves system calls in short turns. */
        private static final int UNMEASURED = 16;

        private final long targetNanos;
        private int served;
        private int excess;
        private int measuredFrom;
        private long measuredSince;
        private double serviceNanos;

        QueueBound(long targetNanos) {
            this.targetNanos = targetNanos;
        }

        /** Whether a request is rejected in favour of later ones. */
        boolean rejects(boolean firstOfConnection) {
            int bound = bound();
            return served >= bound
                    && excess + served - bound >= BURST
                    && !(firstOfConnection && served < FIRST_SHARE * bound);
        }

        /** Counts a request; returns whether its turn is measured from here on. */
        boolean serves() {
            served++;
            return served == UNMEASURED;
        }

        /** Starts the measurement, at a CPU time of the loop's thread. */
        void measure(long cpuNanos) {
            measuredFrom = served;
            measuredSince = cpuNanos;
        }

        /** Whether the end of this turn is a measurement. */
        boolean isMeasured() {
            return served > measuredFrom && measuredFrom > 0;
        }

        void measured(long cpuNanos) {
            double each = (double) (cpuNanos - measuredSince) / (served - measuredFrom);
            serviceNanos += (each - serviceNanos) / (serviceNanos == 0 ? 1 : 8);
        }

        void turnEnds() {
            excess = Math.max(0, Math.min(BURST, excess + served - bound()));
            served = 0;
            measuredFrom = 0;
        }

        private int bound() {
            return (int) Math.max(LEAST, Math.min(MOST, targetNanos / Math.max(1, serviceNanos)));
        }
    }

    /** Token bucket of one client, which holds a second's tokens. Thread-safe. */
    static final class RateBucket {

        private static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(1);

        private final long intervalNanos;
        /** Time at which the bucket is full again. */
        private final AtomicLong full;

        RateBucket(int perSecond, long nowNanos) {
            this.intervalNanos = BURST_NANOS / perSecond;
            this.full = new AtomicLong(nowNanos);
        }

        /** Takes a token, if there is one. */
        boolean take(long nowNanos) {
            while (true) {
                long before = full.get();
                long from = before - nowNanos > 0 ? before : nowNanos;
                if (from + intervalNanos - nowNanos > BURST_NANOS) {
                    return false;
                }
                if (full.compareAndSet(before, from + intervalNanos)) {
                    return true;
                }
            }
        }
    }

    /** Admits the requests of one connection within the limits. On its loop. */
    final class Admission {

        private final Supplier<String> client;
        private @Nullable RateBucket rate;
        private int inFlight;
        private long lastTurn = -1;

        private Admission(Supplier<String> client) {
            this.client = client;
        }

        /** Data of the connection has arrived. */
        void reading() {
            LoopLoad.this.reading();
        }

        /**
         * Admits a request; {@link #leave} ends it.
         *
         * @param lasts whether it is a stream
         * @throws ApiException if it is rejected
         */
        void enter(boolean lasts, long nowNanos) throws ApiException {
            if (limits.maxRate() != null && !rate().take(nowNanos)) {
                throw refusal(Refusal.RATE);
            }
            if (!lasts) {
                if (!admits(lastTurn != turn)) {
                    throw refusal(Refusal.OVERLOAD);
                }
                lastTurn = turn;
                if (inFlight >= limits.maxInFlightPerConnection()) {
                    throw refusal(Refusal.CONNECTION);
                }
            }
            if (!LoopLoad.this.enter(lasts)) {
                throw refusal(Refusal.LOOP);
            }
            if (!lasts) {
                inFlight++;
            }
        }

        void leave(boolean lasts) {
            LoopLoad.this.leave(lasts);
            if (!lasts) {
                inFlight--;
            }
        }

        private RateBucket rate() {
            RateBucket known = rate;
            if (known == null) {
                known = all.rateOf(client.get());
                if (known == null) {
                    throw new IllegalStateException("limits.maxRate is not set");
                }
                rate = known;
            }
            return known;
        }

        private ApiException refusal(Refusal why) {
            refused(why);
            return switch (why) {
                case RATE ->
                    ApiException.tooManyRequests(
                            ": client exceeds " + limits.maxRate() + " requests per second (limits.maxRate)");
                case CONNECTION ->
                    ApiException.tooManyRequests(": connection exceeds " + limits.maxInFlightPerConnection()
                            + " requests in flight (limits.maxInFlightPerConnection)");
                default -> ApiException.tooManyRequests();
            };
        }
    }
}
