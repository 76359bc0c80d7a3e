package io.understudy.local.fault;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Switches for the faults of a link. Each call returns when the fault is in force. Delay and throttle add to each other
 * and to a mode; of the modes cut, black hole and half-open the last one called holds.
 */
public final class Faults {

    private final Consumer<UnaryOperator<LinkFault>> change;

    Faults(Consumer<UnaryOperator<LinkFault>> change) {
        this.change = change;
    }

    /** Bytes arrive so much later, each way, in order and without less of them passing per second. */
    public void delay(Duration each) {
        if (each.isNegative()) {
            throw new IllegalArgumentException("delay must not be negative, is " + each);
        }
        change.accept(fault -> fault.with(each));
    }

    /** At most so many bytes per second pass each way, all connections of the link together. */
    public void throttle(long bytesPerSecond) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException("throttle must be at least 1 byte per second, is " + bytesPerSecond);
        }
        change.accept(fault -> fault.with(bytesPerSecond));
    }

    /** Connections are reset, new ones too. */
    public void cut() {
        change.accept(fault -> fault.with(LinkFault.Mode.CUT));
    }

    /**
     * Nothing arrives any more, and no side is notified: connections stay open, new ones open too. What was sent
     * arrives after {@link #heal}, as if every packet had been lost and sent again.
     */
    public void blackHole() {
        change.accept(fault -> fault.with(LinkFault.Mode.BLACK_HOLE));
    }

    /**
     * Closes the target's side of each connection without notice to the client: it sends into the void. {@link #heal}
     * resets these connections, what they carried is lost.
     */
    public void halfOpen() {
        change.accept(fault -> fault.with(LinkFault.Mode.HALF_OPEN));
    }

    /** Ends every fault switched on here. */
    public void heal() {
        change.accept(fault -> LinkFault.NONE);
    }
}
