package io.understudy.bench;

import java.util.Arrays;

/** How long requests took, each one kept. Immutable. */
public final class Latencies {

    private final long[] sortedMicros;

    private Latencies(long[] sortedMicros) {
        this.sortedMicros = sortedMicros;
    }

    /**
     * Keeps them all.
     *
     * @param micros of each request, in any order; at least one
     */
    public static Latencies of(long[] micros) {
        if (micros.length == 0) {
            throw new IllegalArgumentException("no requests");
        }
        long[] sorted = micros.clone();
        Arrays.sort(sorted);
        return new Latencies(sorted);
    }

    /** The time within which {@code share} of the requests were answered, in milliseconds: the nearest rank. */
    public double millis(double share) {
        int rank = (int) Math.ceil(share * sortedMicros.length);
        return sortedMicros[Math.max(1, rank) - 1] / 1e3;
    }

    int count() {
        return sortedMicros.length;
    }
}
