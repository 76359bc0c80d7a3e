package io.understudy.consumer.format;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Assembles sections of whole commits from the partitions of the change topic. A section is held until every partition has
 * its mark.
 *
 * <p>Pure state, not thread-safe.
 *
 * @param <T> a change
 */
public final class SectionAssembly<T> {

    /**
     * Where a partition is read from.
     *
     * @param offset of the first record to read
     * @param mark revision of the mark before it, which the next mark must name
     * @param markMillis timestamp of that mark; {@link Long#MIN_VALUE} if unknown
     */
    public record Start(long offset, long mark, long markMillis) {

        /** After records up to {@code mark} expired: the next mark shows whether any other is missing. */
        public static Start unknown(long offset, long mark) {
            return new Start(offset, mark, Long.MIN_VALUE);
        }
    }

    /**
     * A mark of {@link MirrorRecord.Kind#COMPLETE}.
     *
     * @param writtenMillis its timestamp
     * @param next offset after it
     */
    public record Mark(
            long revision,
            long previous,
            long records,
            @Nullable Instant asOf,
            long writtenMillis,
            long next) {}

    /**
     * All that is between two marks.
     *
     * @param revision of the second mark
     * @param changes in the order of their commits
     * @param asOf time at which the source had nothing newer, null if unknown
     */
    public record Section<T>(
            long revision, List<T> changes, @Nullable Instant asOf) {}

    private final Comparator<T> order;
    private final List<PartitionReader<T>> lanes;
    private long complete;

    /** @param starts of each partition; where they differ, sections follow from the highest mark */
    public SectionAssembly(List<Start> starts, Comparator<T> order) {
        this.order = order;
        this.lanes = starts.stream().map(start -> new PartitionReader<T>(start)).toList();
        this.complete = starts.stream().mapToLong(Start::mark).max().orElse(0);
    }

    /** Revision of the last section. */
    public long complete() {
        return complete;
    }

    /** Whether that partition can wait for the others. */
    public boolean isAhead(int partition) {
        return lanes.get(partition).head() != null;
    }

    /** Offset of each partition after its mark of the last section. */
    public List<Long> offsets() {
        return lanes.stream().map(PartitionReader::next).toList();
    }

    /** Memory of the next section. */
    public long bytes() {
        long bytes = 0;
        for (PartitionReader<T> lane : lanes) {
            bytes += lane.headBytes();
        }
        return bytes;
    }

    /** Number of repeated changes so far. */
    public long repeats() {
        return lanes.stream().mapToLong(PartitionReader::repeats).sum();
    }

    /**
     * Accepts the next change of a partition.
     *
     * @param value null for a change that counts, but is not returned
     */
    public void change(int partition, long revision, int index, int size, @Nullable T value, long bytes)
            throws HoleException {
        lanes.get(partition).change(revision, index, size, value, bytes);
    }

    /** Accepts a record of a snapshot, which must be a repeated one. */
    public void snapshot(int partition, boolean begins, long revision, long writtenMillis) throws HoleException {
        lanes.get(partition).snapshot(begins, revision, writtenMillis);
    }

    /**
     * Accepts the next mark of a partition.
     *
     * @return whether the partition has no change since the last section
     */
    public boolean mark(int partition, Mark mark) throws HoleException {
        return lanes.get(partition).mark(mark);
    }

    /** Returns the next section, or null until it is complete. */
    public @Nullable Section<T> next() throws HoleException {
        for (PartitionReader<T> lane : lanes) {
            PartitionReader.Part<T> head = lane.head();
            while (head != null && head.revision <= complete) {
                lane.take();
                head = lane.head();
            }
            if (head == null) {
                return null;
            }
        }
        long revision = Objects.requireNonNull(lanes.get(0).head()).revision;
        Instant asOf = null;
        NavigableMap<Long, Integer> missing = new TreeMap<>();
        List<T> changes = new ArrayList<>();
        for (PartitionReader<T> lane : lanes) {
            PartitionReader.Part<T> part = Objects.requireNonNull(lane.head());
            if (part.previous != complete || part.revision != revision) {
                throw new HoleException("mark at revision " + part.revision + " follows a mark at " + part.previous
                        + "; expected a mark at revision " + revision + " that follows " + complete);
            }
            asOf = later(asOf, part.asOf);
            for (PartitionReader.Tally tally : part.commits) {
                missing.merge(tally.revision, tally.size - tally.read, (one, more) -> one + more - tally.size);
            }
            changes.addAll(part.values);
        }
        requireWhole(missing, revision);
        lanes.forEach(PartitionReader::take);
        complete = revision;
        if (lanes.size() > 1) {
            changes.sort(order);
        }
        return new Section<>(revision, changes, asOf);
    }

    private static void requireWhole(NavigableMap<Long, Integer> missing, long upTo) throws HoleException {
        for (var commit : missing.entrySet()) {
            if (commit.getValue() != 0) {
                throw new HoleException("commit at revision " + commit.getKey() + " is incomplete; missing changes: "
                        + commit.getValue());
            }
        }
        if (!missing.isEmpty() && missing.lastKey() > upTo) {
            throw new HoleException(
                    "commit at revision " + missing.lastKey() + " precedes the mark at revision " + upTo);
        }
    }

    /** The later of two times, if known. */
    public static @Nullable Instant later(@Nullable Instant one, @Nullable Instant other) {
        return one == null || (other != null && other.isAfter(one)) ? other : one;
    }

    /**
     * One partition of the change topic, from mark to mark. A copy of the topic may go back to any earlier record: repeated
     * records have a revision and index that were read before, and are dropped. The next mark reveals missing ones, by the
     * number of records and by the previous mark that it names.
     */
    private static final class PartitionReader<T> {

        /** How many changes of a commit were read. */
        static final class Tally {
            final long revision;
            final int size;
            int read;

            Tally(long revision, int size) {
                this.revision = revision;
                this.size = size;
            }
        }

        /** What is between two marks. */
        static final class Part<T> {
            final long previous;
            final List<T> values = new ArrayList<>();
            final List<Tally> commits = new ArrayList<>();
            long bytes;
            private long records;
            private int lastIndex;

            /** Of the mark that closed it. */
            long revision;

            /** Offset after that mark. */
            private long next;

            @Nullable Instant asOf;

            Part(long previous) {
                this.previous = previous;
                this.revision = previous;
            }

            private boolean has(long changeRevision, int index) {
                long last = commits.isEmpty() ? -1 : last().revision;
                return changeRevision < last || (changeRevision == last && index <= lastIndex);
            }

            private Tally last() {
                return commits.get(commits.size() - 1);
            }

            private void add(long changeRevision, int index, int size) throws HoleException {
                if (commits.isEmpty() || last().revision != changeRevision) {
                    commits.add(new Tally(changeRevision, size));
                } else if (last().size != size) {
                    throw new HoleException("records of the commit at revision " + changeRevision
                            + " disagree on its number of changes: " + last().size + " and " + size);
                }
                last().read++;
                lastIndex = index;
                records++;
            }
        }

        private final ArrayDeque<Part<T>> closed = new ArrayDeque<>();
        private Part<T> open;
        /** Timestamp of the last mark. */
        private long markMillis;

        private long next;
        private long repeats;

        PartitionReader(SectionAssembly.Start start) {
            this.open = new Part<>(start.mark());
            this.markMillis = start.markMillis();
            this.next = start.offset();
        }

        void change(long revision, int index, int size, @Nullable T value, long bytes) throws HoleException {
            if (revision <= open.previous || open.has(revision, index)) {
                repeats++;
                return;
            }
            open.add(revision, index, size);
            if (value != null) {
                open.values.add(value);
                open.bytes += bytes;
            }
        }

        void snapshot(boolean begins, long revision, long writtenMillis) throws HoleException {
            if (revision > open.previous || (begins && writtenMillis > markMillis)) {
                throw new HoleException("mirror rewrote the full state at revision " + revision);
            }
        }

        boolean mark(SectionAssembly.Mark mark) throws HoleException {
            if (mark.revision() < open.previous) {
                return false;
            }
            markMillis = Math.max(markMillis, mark.writtenMillis());
            if (mark.revision() == open.previous) {
                Part<T> last = closed.peekLast();
                if (last == null) {
                    next = open.records == 0 ? mark.next() : next;
                    return true;
                }
                last.asOf = SectionAssembly.later(last.asOf, mark.asOf());
                return false;
            }
            if (mark.previous() != open.previous) {
                throw new HoleException("mark at revision " + mark.revision() + " follows a mark at " + mark.previous()
                        + ", but the last known mark is at " + open.previous);
            }
            if (mark.records() != open.records) {
                throw new HoleException("found " + open.records + " of " + mark.records()
                        + " records between the marks at revisions " + mark.previous() + " and " + mark.revision());
            }
            open.revision = mark.revision();
            open.asOf = mark.asOf();
            open.next = mark.next();
            closed.add(open);
            open = new Part<>(mark.revision());
            return false;
        }

        /** What is between the first two marks not yet taken; null until the second is read. */
        @Nullable Part<T> head() {
            return closed.peekFirst();
        }

        void take() {
            next = closed.removeFirst().next;
        }

        /** Offset after the last mark that was taken. */
        long next() {
            return next;
        }

        /** Number of repeated changes. */
        long repeats() {
            return repeats;
        }

        /** Memory of the next part, closed or not. */
        long headBytes() {
            Part<T> head = closed.peekFirst();
            return head == null ? open.bytes : head.bytes;
        }
    }
}
