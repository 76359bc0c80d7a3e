package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.feed.etcd.EtcdHistory;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Target revisions that the mirror did not write, and the keys that they changed.
 *
 * <p>One thread, but for {@link #between}.
 */
public final class ForeignRevisions {

    private static final int MAX_GAPS = 1_000;
    private static final int MAX_CHANGES = 20_000;
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    /** Interval of progress requests: without them, progress takes a whole interval. */
    private static final Duration PROGRESS_INTERVAL = Duration.ofMillis(20);

    /** Revisions between two others, without these. */
    private record Gap(long after, long before) {
        boolean contains(Revision revision) {
            return revision.value() > after && revision.value() < before;
        }
    }

    private List<Gap> gaps = new ArrayList<>();
    private long checked;
    private long checkedBefore;

    /** Notes the revisions strictly between two of the mirror's transactions. */
    public synchronized void between(long afterTargetRevision, long beforeTargetRevision) {
        // Of an idle mirror, most of it was read already; a late hint overlaps the last check only.
        long after = Math.max(afterTargetRevision, checkedBefore);
        if (beforeTargetRevision - after < 2) {
            return;
        }
        if (gaps.size() == MAX_GAPS) {
            after = Math.min(after, gaps.remove(MAX_GAPS - 1).after());
        }
        gaps.add(new Gap(after, beforeTargetRevision));
    }

    /**
     * The keys that foreign revisions changed since the last call; none at the first call. Incomplete if the history is
     * compacted, or not returned in time.
     *
     * @param max so many keys at most
     */
    Set<ByteString> keys(ConsistentPair now, long max) throws InterruptedException {
        Set<ByteString> keys = new LinkedHashSet<>();
        List<Gap> foreign = next(now);
        if (!foreign.isEmpty()) {
            Sides sides = now.sides();
            EtcdFeedSource feeds = new EtcdFeedSource(
                    sides.mirror(),
                    sides.target(),
                    sides.reading().withProgressInterval(PROGRESS_INTERVAL),
                    new SimpleMeterRegistry());
            for (KeyRange range : sides.scope().targetRanges()) {
                read(feeds, range, foreign, keys, max);
            }
        }
        return keys;
    }

    /** Returns all revisions since the checkpoint and those reported by the writer. */
    private synchronized List<Gap> next(ConsistentPair now) {
        long reached = now.targetRevision().value();
        if (checked > 0) {
            between(Math.max(checked, now.written().value()), reached + 1);
        } else {
            gaps.clear();
        }
        // A gap that was reported since the checkpoint was read is beyond what can be compared now.
        List<Gap> next = gaps;
        gaps = new ArrayList<>(next);
        gaps.removeIf(gap -> gap.before() <= reached + 1);
        next.removeAll(gaps);
        checkedBefore = checked;
        checked = reached;
        return next;
    }

    private static void read(EtcdFeedSource feeds, KeyRange range, List<Gap> foreign, Set<ByteString> keys, long max)
            throws InterruptedException {
        long last = foreign.stream().mapToLong(Gap::before).max().orElseThrow() - 1;
        // From a revision before, since etcd before 3.5.19 forgets a delete that it compacts at.
        long first = foreign.stream().mapToLong(Gap::after).min().orElseThrow();
        long end = System.nanoTime() + PATIENCE.toNanos();
        long changes = 0;
        try (EtcdHistory history = feeds.history(range, new Revision(Math.max(1, first)), false)) {
            long reached = first;
            while (reached < last && keys.size() < max && changes < MAX_CHANGES && System.nanoTime() - end < 0) {
                EtcdHistory.Step step = history.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
                if (step instanceof EtcdHistory.Step.Complete complete) {
                    reached = complete.revision().value();
                } else if (step instanceof EtcdHistory.Step.Committed committed) {
                    Revision revision = committed.commit().revision();
                    reached = revision.value();
                    changes += committed.commit().changes().size();
                    if (foreign.stream().anyMatch(gap -> gap.contains(revision))) {
                        committed.commit().changes().stream()
                                .map(Change::key)
                                .limit(max - keys.size())
                                .forEach(keys::add);
                    }
                }
            }
        } catch (FeedEndedException e) {
            // Compacted or denied: the keys are compared with all others.
            return;
        }
    }
}
