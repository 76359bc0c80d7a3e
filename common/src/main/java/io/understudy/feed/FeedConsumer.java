package io.understudy.feed;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.List;

/**
 * Receives the events of a feed. Called on the thread that polls the feed, one call at a time, in this order: {@code
 * (historyRecognised? commitReplaced? snapshotPinned? snapshotStarted snapshotPage* snapshotCompleted | commit |
 * progress)*}; a snapshot may be restarted before it completed. A feed opened at a position starts with commits. One
 * opened in an unfinished snapshot starts with {@code snapshotResumed snapshotPage* snapshotCompleted}, unless that
 * snapshot's revision is compacted: then another one starts, and all parts of the first are out of date.
 *
 * <p>A consumer that already holds state when a snapshot starts merges it: inside a page's range, the page is the
 * truth, so what is held there and not on the page is gone at the snapshot's revision.
 */
public interface FeedConsumer {

    /**
     * The next snapshot is of the history that the feed was opened in. The commit at its position was just found there,
     * but too far back to replay what followed.
     */
    default void historyRecognised() {}

    /**
     * The snapshot that starts next replaces the commit at {@code revision}, which is too large. It may replace later
     * commits too. They belong to the history that the feed was opened in, which was verified just before.
     */
    default void commitReplaced(Revision revision) {}

    /** Precedes the start of a snapshot that a later feed can continue, see {@link UnfinishedSnapshot}. */
    default void snapshotPinned(Position pin) {}

    /** Replaces {@link #snapshotStarted} when pages follow only for the rest of an unfinished snapshot. */
    default void snapshotResumed(Position pin) {
        throw new IllegalStateException("no unfinished snapshot at " + pin);
    }

    /** A snapshot of the state at {@code revision} starts. It replaces all delivered parts of an unfinished one. */
    void snapshotStarted(ClusterId cluster, Revision revision);

    /**
     * The next part of the snapshot. Ranges of successive pages adjoin, in key order, from the range's beginning to its
     * end.
     *
     * @param covered the part of the key space of which {@code entries} are all there is
     * @param entries in key order
     */
    void snapshotPage(KeyRange covered, List<KeyValue> entries);

    /** All pages are delivered; {@code position} is at the snapshot's revision. */
    void snapshotCompleted(Position position);

    /** The next commit. {@code position} is at it and suffices to resume. */
    void commit(Commit commit, Position position);

    /** Nothing changed in the range up to the position's revision. Proves completeness, never currency. */
    void progress(Position position);

    /**
     * The source had nothing newer at {@code time}, by the clock of its reader. Only where the source itself can't be
     * queried: feeds of Kafka report it at each heartbeat, those of etcd never.
     */
    default void asOf(Instant time) {}
}
