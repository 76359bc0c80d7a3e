package io.understudy.feed.kafka;

import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one partition of the change topic tells, from mark to mark. Whoever copied the topic may have gone back to an earlier
 * record at any one, so what is told again is dropped: known by its revision and index, which only rise. What is left out
 * shows at the next mark, by its count and by the mark that it names as the one before.
 *
 * <p>Pure state, owned by the feed's thread.
 */
final class Lane {

    /** What a change takes in memory beside key and value, about. */
    private static final long OBJECT_BYTES = 128;

    /** How much of a commit was told. */
    static final class Tally {
        final Revision revision;
        final int size;
        int told;

        Tally(Revision revision, int size) {
            this.revision = revision;
            this.size = size;
        }
    }

    /** What is between two marks. */
    static final class Part {
        final Revision previous;
        final List<TopicRecord.Changed> inRange = new ArrayList<>();
        final List<Tally> commits = new ArrayList<>();
        long records;
        long bytes;
        private int lastIndex;

        /** Of the mark that closed it. */
        Revision revision;

        @Nullable Instant asOf;

        Part(Revision previous) {
            this.previous = previous;
            this.revision = previous;
        }

        private boolean has(TopicRecord.Changed change) {
            int order = commits.isEmpty() ? 1 : change.revision().compareTo(last().revision);
            return order < 0 || (order == 0 && change.index() <= lastIndex);
        }

        private Tally last() {
            return commits.get(commits.size() - 1);
        }

        private void add(TopicRecord.Changed change, KeyRange range) throws HoleException {
            if (commits.isEmpty() || !last().revision.equals(change.revision())) {
                commits.add(new Tally(change.revision(), change.size()));
            } else if (last().size != change.size()) {
                throw new HoleException("records of the commit at revision " + change.revision()
                        + " disagree on its size: " + Counted.of(last().size, "change") + " and " + change.size());
            }
            last().told++;
            lastIndex = change.index();
            records++;
            if (range.contains(change.change().key())) {
                inRange.add(change);
                bytes += change.change().bytes() + OBJECT_BYTES;
            }
        }
    }

    private final KeyRange range;
    private final ArrayDeque<Part> closed = new ArrayDeque<>();
    private Part open;
    /** When the last mark was written, by its writer's clock. */
    private long markMillis;

    private long repeats;

    Lane(KeyRange range, LaneStart start) {
        this.range = range;
        this.open = new Part(start.complete());
        this.markMillis = start.markMillis();
    }

    /**
     * The next record.
     *
     * @return the time of a mark that adds nothing to what was told already, which is thus current; null of all others
     */
    @Nullable Instant accept(TopicRecord told, long writtenMillis) throws HoleException {
        if (told instanceof TopicRecord.Changed change) {
            if (change.revision().isAfter(open.previous) && !open.has(change)) {
                open.add(change, range);
            } else {
                repeats++;
            }
        } else if (told instanceof TopicRecord.Complete mark) {
            return mark(mark, writtenMillis);
        } else if (told.revision().isAfter(open.previous)
                || (told instanceof TopicRecord.SnapshotBegin && writtenMillis > markMillis)) {
            throw new HoleException("mirror rewrote the full state at revision " + told.revision());
        }
        return null;
    }

    private @Nullable Instant mark(TopicRecord.Complete mark, long writtenMillis) throws HoleException {
        int order = mark.revision().compareTo(open.previous);
        if (order < 0) {
            return null;
        }
        markMillis = Math.max(markMillis, writtenMillis);
        if (order == 0) {
            Part last = closed.peekLast();
            if (last == null) {
                return mark.asOf();
            }
            last.asOf = later(last.asOf, mark.asOf());
            return null;
        }
        if (!mark.previous().equals(open.previous)) {
            throw new HoleException("mark at revision " + mark.revision() + " follows a mark at " + mark.previous()
                    + ", but the last known mark is at " + open.previous);
        }
        if (mark.records() != open.records) {
            throw new HoleException("found " + open.records + " of " + mark.records()
                    + " records between the marks at revisions " + mark.previous() + " and " + mark.revision());
        }
        open.revision = mark.revision();
        open.asOf = mark.asOf();
        closed.add(open);
        open = new Part(mark.revision());
        return null;
    }

    /** What is between the first two marks not yet {@link #take taken}; null until the second is there. */
    @Nullable Part head() {
        return closed.peekFirst();
    }

    void take() {
        closed.removeFirst();
    }

    /** How many changes were told again. */
    long repeats() {
        return repeats;
    }

    /** Bytes of what is held of the next part, be it closed or not. */
    long headBytes() {
        Part head = closed.peekFirst();
        return head == null ? open.bytes : head.bytes;
    }

    static @Nullable Instant later(@Nullable Instant one, @Nullable Instant other) {
        return one == null || (other != null && other.isAfter(one)) ? other : one;
    }
}
