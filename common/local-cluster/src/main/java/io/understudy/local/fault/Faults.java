package io.understudy.local.fault;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Switches for the faults of a link. Each call returns when the fault is in force. Delay and throttle combine with each
 * other and with a mode; of cut, black hole and half-open the last one called holds.
 */
public final class Faults {

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
