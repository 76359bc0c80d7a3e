package io.understudy.consumer.format;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One partition of the change topic, from mark to mark. A copy of the topic may go back to any earlier record: repeated
 * records have a revision and index that were read before, and are dropped. The next mark reveals missing ones, by the
 * number of records and by the previous mark that it names.
 */
final class PartitionReader<T> {

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
