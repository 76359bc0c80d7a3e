package io.understudy.mirror.pipeline;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/** Changes per second over the last ten samples of a counter. Thread-safe. */
final class Rate {

    private static final int SAMPLES = 11;

    private record Sample(long nanos, double total) {}

    private final Deque<Sample> samples = new ArrayDeque<>();

    synchronized void sampled(long nowNanos, double total) {
        if (samples.size() == SAMPLES) {
            samples.remove();
        }
        samples.add(new Sample(nowNanos, total));
    }

    synchronized double perSecond() {
        if (samples.size() < 2) {
            return 0;
        }
        Sample first = samples.getFirst();
        Sample last = samples.getLast();
        double seconds = (double) (last.nanos() - first.nanos()) / TimeUnit.SECONDS.toNanos(1);
        return seconds <= 0 ? 0 : (last.total() - first.total()) / seconds;
    }
}
