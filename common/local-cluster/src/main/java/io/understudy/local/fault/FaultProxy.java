package io.understudy.local.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A TCP proxy on the loopback interface that simulates a bad network on demand. Without a fault it passes bytes on as
 * they come, keeps back pressure (64 KiB of its own at most per direction, 4 MiB when it delays), half-closes and
 * resets. One daemon thread; every method may be called from any thread.
 */
public final class FaultProxy implements AutoCloseable {

    private final ProxyLoop loop;
    private final Faults everyone;

    private FaultProxy(ProxyLoop loop) {
        this.loop = loop;
        this.everyone = new Faults(change -> loop.change(ProxyLoop.EVERYONE, change));
    }

    /** A proxy for the target on a port that is free now. */
    public static FaultProxy to(InetSocketAddress target) {
        return between(0, target, Party.ANYONE);
    }

    /**
     * A proxy that may distinguish clients.
     *
     * @param port to listen on at the loopback interface, 0 for one that is free now
     * @param target where connections lead; need not be there yet, and until it is connections are reset
     * @param party identifies clients, for {@link #from}
     * @throws UncheckedIOException the port is in use
     */
    public static FaultProxy between(int port, InetSocketAddress target, Party party) {
        try {
            return new FaultProxy(
                    ProxyLoop.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), target, party));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen on port " + port + " of the loopback interface", e);
        }
    }

    public int port() {
        return loop.address().getPort();
    }

    /** Faults of the connections that come from one party; they add to those of all. */
    public Faults from(String party) {
        return new Faults(change -> loop.change(party, change));
    }

    /** As {@link Faults#delay}, for all parties. */
    public void delay(Duration each) {
        everyone.delay(each);
    }

    /** As {@link Faults#throttle}, for all parties. */
    public void throttle(long bytesPerSecond) {
        everyone.throttle(bytesPerSecond);
    }

    /** As {@link Faults#cut}, for all parties. */
    public void cut() {
        everyone.cut();
    }

    /** As {@link Faults#blackHole}, for all parties. */
    public void blackHole() {
        everyone.blackHole();
    }

    /** As {@link Faults#halfOpen}, for all parties. */
    public void halfOpen() {
        everyone.halfOpen();
    }

    /** Ends all faults, those of single parties too. */
    public void heal() {
        loop.heal();
    }

    /** Connections accepted so far. */
    public long connections() {
        return loop.counters().accepted();
    }

    /** Connections open now, on the client's side. */
    public int openConnections() {
        return loop.counters().open();
    }

    /** Bytes that went to the target so far. */
    public long bytesToTarget() {
        return loop.counters().toTarget();
    }

    /** Bytes sent by the target to clients so far. */
    public long bytesFromTarget() {
        return loop.counters().fromTarget();
    }

    /** Resets all connections and stops listening. Idempotent. */
    @Override
    public void close() {
        loop.close(TimeUnit.SECONDS.toMillis(10));
    }
}
