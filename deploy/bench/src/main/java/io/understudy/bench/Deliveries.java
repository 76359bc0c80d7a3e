package io.understudy.bench;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Events that reached watchers. Written by the client's event loop alone; the total may be read by anyone, the rest when
 * nothing arrives any more.
 */
final class Deliveries {

    private final AtomicLong total = new AtomicLong();
    private long counted;
    private long[] numbers = new long[1 << 16];
    private long[] nanos = new long[1 << 16];
    private int samples;

    /** Counts events. */
    void add(int events) {
        counted += events;
    }

    /** Keeps when the put of that number was delivered to a watcher. */
    void sample(long number, long when) {
        if (samples == numbers.length) {
            numbers = Arrays.copyOf(numbers, samples * 2);
            nanos = Arrays.copyOf(nanos, samples * 2);
        }
        numbers[samples] = number;
        nanos[samples++] = when;
    }

    /** Lets others see the total. */
    void publish() {
        total.lazySet(counted);
    }

    /** How many events have been delivered. */
    long total() {
        return total.get();
    }

    int samples() {
        return samples;
    }

    long number(int sample) {
        return numbers[sample];
    }

    /** By {@link System#nanoTime}. */
    long nanos(int sample) {
        return nanos[sample];
    }
}
