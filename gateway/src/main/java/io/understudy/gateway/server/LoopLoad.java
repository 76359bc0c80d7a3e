package io.understudy.gateway.server;

import io.netty.channel.EventLoop;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.server.LoadMetrics.Closure;
import io.understudy.gateway.server.LoadMetrics.Refusal;
import io.vertx.core.net.SocketAddress;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests in flight and queued on one event loop. On the loop, but for the counts. */
public final class LoopLoad {

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
    public Admission admission(Supplier<String> client) {
        return new Admission(this, limits, client);
    }

    /** Returns the name of a client for limits: its common name, else its address. */
    public static String client(Principal peer, SocketAddress address) {
        return peer instanceof Principal.Certificate certificate
                ? "name " + certificate.commonName()
                : "address " + address.hostAddress();
    }

    /** Data has arrived and is about to be handled. */
    void reading() {
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

    long turn() {
        return turn;
    }

    /** Admits a unary request, or rejects it for the sake of later ones. */
    boolean admits(boolean firstOfConnection) {
        if (queue.rejects(firstOfConnection)) {
            return false;
        }
        if (queue.serves()) {
            queue.measure(THREADS.getCurrentThreadCpuTime());
        }
        return true;
    }

    @Nullable RateBucket rateOf(String client) {
        return all.rateOf(client);
    }

    /** Counts a request, if the limit allows it. */
    boolean enter(boolean lasts) {
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

    void leave(boolean lasts) {
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
}
