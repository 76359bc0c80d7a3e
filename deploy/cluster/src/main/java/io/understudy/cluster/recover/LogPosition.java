package io.understudy.cluster.recover;

import java.util.Comparator;

/**
 * The place of an entry in a Raft log.
 *
 * <p>Raft's order of logs (section 5.4.1 of its paper): the last entry's term, then its index.
 */
record LogPosition(long term, long index) implements Comparable<LogPosition> {

    static final LogPosition NONE = new LogPosition(0, 0);

    private static final Comparator<LogPosition> ORDER =
            Comparator.comparingLong(LogPosition::term).thenComparingLong(LogPosition::index);

    @Override
    public int compareTo(LogPosition other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return "term " + term + ", index " + index;
    }
}
