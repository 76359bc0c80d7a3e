package io.understudy.feed.kafka;

import io.understudy.feed.FeedEndedException.CommitTooLarge;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes whole commits of what the partitions tell: what was written together is held until every partition has its mark,
 * and is then known to be all there is.
 *
 * <p>Pure state, owned by the feed's thread.
 *
 * <p>Invariant FK2: commits come whole, in order and once, however often a copy restarts, and a hole is detected before
 * any later commit.
 */
final class BatchAssembly {

    /**
     * What was written together.
     *
     * @param revision up to which all is told with it
     * @param commits inside the range, in order
     * @param asOf when the source had nothing beyond; null if that is not known
     */
    record Batch(
            Revision revision,
            List<Commit> commits,
            @Nullable Instant asOf) {}

    private static final Comparator<TopicRecord.Changed> ORDER =
            Comparator.comparing(TopicRecord.Changed::revision).thenComparingInt(TopicRecord.Changed::index);

    private final List<Lane> lanes = new ArrayList<>();
    private final long maxCommitBytes;
    private Revision complete = Revision.ZERO;
    private @Nullable Instant current;

    /** @param starts of each partition; where they differ, commits follow from the last of them on */
    BatchAssembly(List<LaneStart> starts, KeyRange range, long maxCommitBytes) {
        this.maxCommitBytes = maxCommitBytes;
        for (LaneStart start : starts) {
            lanes.add(new Lane(range, start));
            if (start.complete().isAfter(complete)) {
                complete = start.complete();
            }
        }
    }

    /** Up to where all commits were given, or need not be. */
    Revision complete() {
        return complete;
    }

    /** Whether that partition can wait for the others. */
    boolean isAhead(int partition) {
        return lanes.get(partition).head() != null;
    }

    /**
     * Takes the next record of a partition.
     *
     * @throws HoleException before anything is given that was written after what is missing
     * @throws CommitTooLarge before much more than the limit is held
     */
    void accept(int partition, TopicRecord told, long writtenMillis) throws HoleException, CommitTooLarge {
        Lane lane = lanes.get(partition);
        current = Lane.later(current, lane.accept(told, writtenMillis));
        if (told instanceof TopicRecord.Changed) {
            long bytes = 0;
            for (Lane each : lanes) {
                bytes += each.headBytes();
            }
            if (bytes > maxCommitBytes) {
                throw new CommitTooLarge(told.revision(), bytes, maxCommitBytes);
            }
        }
    }

    /** When the source had nothing beyond {@link #complete}, if a mark told that since this was asked before. */
    @Nullable Instant takeCurrent() {
        Instant taken = current;
        current = null;
        return taken;
    }

    /** How many changes were told again, so far. */
    long repeats() {
        return lanes.stream().mapToLong(Lane::repeats).sum();
    }

    /** The next batch, or null if it isn't all there yet. */
    @Nullable Batch next() throws HoleException {
        for (Lane lane : lanes) {
            Lane.Part head = lane.head();
            while (head != null && !head.revision.isAfter(complete)) {
                lane.take();
                head = lane.head();
            }
            if (head == null) {
                return null;
            }
        }
        Revision revision = null;
        Instant asOf = null;
        NavigableMap<Revision, Integer> missing = new TreeMap<>();
        List<TopicRecord.Changed> changes = new ArrayList<>();
        for (Lane lane : lanes) {
            Lane.Part part = Objects.requireNonNull(lane.head());
            if (!part.previous.equals(complete) || (revision != null && !part.revision.equals(revision))) {
                throw new HoleException("mark at revision " + part.revision + " follows a mark at " + part.previous
                        + "; expected a mark" + (revision == null ? "" : " at revision " + revision)
                        + " that follows " + complete);
            }
            revision = part.revision;
            asOf = Lane.later(asOf, part.asOf);
            for (Lane.Tally tally : part.commits) {
                missing.merge(tally.revision, tally.size - tally.told, (one, more) -> one + more - tally.size);
            }
            changes.addAll(part.inRange);
        }
        requireWhole(missing, Objects.requireNonNull(revision));
        lanes.forEach(Lane::take);
        complete = revision;
        if (lanes.size() > 1) {
            changes.sort(ORDER);
        }
        return new Batch(revision, commits(changes), asOf);
    }

    private void requireWhole(NavigableMap<Revision, Integer> missing, Revision upTo) throws HoleException {
        for (var commit : missing.entrySet()) {
            if (commit.getValue() != 0) {
                throw new HoleException("commit at revision " + commit.getKey() + " is incomplete: "
                        + Counted.of(commit.getValue(), "change") + " missing");
            }
        }
        if (!missing.isEmpty() && missing.lastKey().isAfter(upTo)) {
            throw new HoleException(
                    "commit at revision " + missing.lastKey() + " precedes the mark at revision " + upTo);
        }
    }

    private static List<Commit> commits(List<TopicRecord.Changed> changes) {
        List<Commit> commits = new ArrayList<>();
        List<Change> one = new ArrayList<>();
        for (int i = 0; i < changes.size(); i++) {
            Revision revision = changes.get(i).revision();
            one.add(changes.get(i).change());
            if (i + 1 == changes.size() || !changes.get(i + 1).revision().equals(revision)) {
                commits.add(new Commit(revision, one));
                one.clear();
            }
        }
        return commits;
    }
}
