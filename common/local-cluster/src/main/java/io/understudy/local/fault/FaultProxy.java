package io.understudy.local.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

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

    /**
     * Switches for the faults of a link. Each call returns when the fault is in force. Delay and throttle combine with each
     * other and with a mode; of cut, black hole and half-open the last one called holds.
     */
    public static final class Faults {

        private final Consumer<UnaryOperator<LinkFault>> change;

        Faults(Consumer<UnaryOperator<LinkFault>> change) {
            this.change = change;
        }

        /** Delays bytes in each direction, in order and without limiting the throughput. */
        public void delay(Duration each) {
            if (each.isNegative()) {
                throw new IllegalArgumentException("delay must not be negative, is " + each);
            }
            change.accept(fault -> fault.with(each));
        }

        /** Limits the bytes per second in each direction, over all connections of the link. */
        public void throttle(long bytesPerSecond) {
            if (bytesPerSecond < 1) {
                throw new IllegalArgumentException("throttle must be at least 1 byte per second, is " + bytesPerSecond);
            }
            change.accept(fault -> fault.with(bytesPerSecond));
        }

        /** Resets all connections, new ones too. */
        public void cut() {
            change.accept(fault -> fault.with(LinkFault.Mode.CUT));
        }

        /**
         * Holds back all bytes without notice to either side. Connections stay open, and new ones are accepted. What was
         * sent arrives after {@link #heal}, as if every packet had been lost and sent again.
         */
        public void blackHole() {
            change.accept(fault -> fault.with(LinkFault.Mode.BLACK_HOLE));
        }

        /**
         * Closes the target's side of each connection without notice to the client. Later, {@link #heal} resets these
         * connections; what the client has sent meanwhile is lost.
         */
        public void halfOpen() {
            change.accept(fault -> fault.with(LinkFault.Mode.HALF_OPEN));
        }

        /** Ends every fault switched on here. */
        public void heal() {
            change.accept(fault -> LinkFault.NONE);
        }
    }
}
