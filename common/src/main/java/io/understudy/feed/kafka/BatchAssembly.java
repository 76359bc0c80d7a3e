package io.understudy.feed.kafka;

import io.understudy.consumer.format.HoleException;
import io.understudy.consumer.format.SectionAssembly;
import io.understudy.feed.FeedEndedException.CommitTooLarge;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Converts the sections of the change topic to batches of commits inside a range.
 *
 * <p>Pure state, owned by the feed's thread.
 *
 * <p>Invariant FK2: commits come whole, in order and once, however often a copy restarts, and a hole is detected before
 * any later commit.
 */
final class BatchAssembly {

    /**
     * Commits that were written together.
     *
     * @param revision up to which the commits are complete
     * @param commits inside the range, in order
     * @param asOf when the source had nothing beyond; null if that is not known
     */
    record Batch(
            Revision revision,
            List<Commit> commits,
            @Nullable Instant asOf) {}

    private static final Comparator<TopicRecord.Changed> ORDER =
            Comparator.comparing(TopicRecord.Changed::revision).thenComparingInt(TopicRecord.Changed::index);

    /** Memory of a change besides key and value. */
    private static final long OBJECT_BYTES = 128;

    private final SectionAssembly<TopicRecord.Changed> sections;
    private final KeyRange range;
    private final long maxCommitBytes;
    private @Nullable Instant current;

    /** @param starts of each partition; where they differ, commits follow from the last of them on */
    BatchAssembly(List<SectionAssembly.Start> starts, KeyRange range, long maxCommitBytes) {
        this.sections = new SectionAssembly<>(starts, ORDER);
        this.range = range;
        this.maxCommitBytes = maxCommitBytes;
    }

    /** Revision up to which all commits were delivered or are not required. */
    Revision complete() {
        return new Revision(sections.complete());
    }

    /** Whether that partition can wait for the others. */
    boolean isAhead(int partition) {
        return sections.isAhead(partition);
    }

    /**
     * Takes the next record of a partition.
     *
     * @throws HoleException before anything is given that was written after what is missing
     * @throws CommitTooLarge before much more than the limit is held
     */
    void accept(int partition, TopicRecord record, long writtenMillis) throws HoleException, CommitTooLarge {
        long revision = record.revision().value();
        if (record instanceof TopicRecord.Changed changed) {
            boolean inRange = range.contains(changed.change().key());
            sections.change(
                    partition,
                    revision,
                    changed.index(),
                    changed.size(),
                    inRange ? changed : null,
                    changed.change().bytes() + OBJECT_BYTES);
            if (sections.bytes() > maxCommitBytes) {
                throw new CommitTooLarge(
                        record.revision(),
                        KeyRange.shown(changed.change().key()),
                        sections.bytes(),
                        maxCommitBytes,
                        "source.kafka.maxCommitBytes");
            }
        } else if (record instanceof TopicRecord.Complete mark) {
            boolean isIdle = sections.mark(
                    partition,
                    new SectionAssembly.Mark(
                            revision, mark.previous().value(), mark.records(), mark.asOf(), writtenMillis, 0));
            current = isIdle ? SectionAssembly.later(current, mark.asOf()) : current;
        } else {
            sections.snapshot(partition, record instanceof TopicRecord.SnapshotBegin, revision, writtenMillis);
        }
    }

    /** Time of a mark since the last call at which nothing followed {@link #complete}; null without one. */
    @Nullable Instant takeCurrent() {
        Instant taken = current;
        current = null;
        return taken;
    }

    /** Number of repeated changes so far. */
    long repeats() {
        return sections.repeats();
    }

    /** The next batch, or null if it isn't all there yet. */
    @Nullable Batch next() throws HoleException {
        SectionAssembly.Section<TopicRecord.Changed> section = sections.next();
        return section == null
                ? null
                : new Batch(new Revision(section.revision()), commits(section.changes()), section.asOf());
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
