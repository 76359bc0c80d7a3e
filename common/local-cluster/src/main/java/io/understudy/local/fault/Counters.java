package io.understudy.local.fault;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Counters of a proxy. Written by its thread, read by any. */
final class Counters {

    private final LongAdder accepted = new LongAdder();
    private final AtomicInteger open = new AtomicInteger();
    private final LongAdder toTarget = new LongAdder();
    private final LongAdder fromTarget = new LongAdder();

    void opened() {
        accepted.increment();
        open.incrementAndGet();
    }

    void closed() {
        open.decrementAndGet();
    }

    void allClosed() {
        open.set(0);
    }

    LongAdder bytesToTarget() {
        return toTarget;
    }

    LongAdder bytesFromTarget() {
        return fromTarget;
    }

    long accepted() {
        return accepted.sum();
    }

    int open() {
        return open.get();
    }

    long toTarget() {
        return toTarget.sum();
    }

    long fromTarget() {
        return fromTarget.sum();
    }
}
