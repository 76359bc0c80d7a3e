package io.understudy.vocabulary;

/**
 * etcd's store-wide counter: one per commit.
 *
 * @param value 1 for a store never written to; zero is "before everything"
 */
public record Revision(long value) implements Comparable<Revision> {

    /** The revision before the first commit of any history. */
    public static final Revision ZERO = new Revision(0);

    public Revision {
        if (value < 0) {
            throw new IllegalArgumentException("revision must not be negative: " + value);
        }
    }

    public Revision next() {
        return new Revision(value + 1);
    }

    public boolean isBefore(Revision other) {
        return value < other.value;
    }

    public boolean isAfter(Revision other) {
        return value > other.value;
    }

    @Override
    public int compareTo(Revision other) {
        return Long.compare(value, other.value);
    }

    @Override
    public String toString() {
        return Long.toString(value);
    }
}
