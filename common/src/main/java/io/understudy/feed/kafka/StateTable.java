package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The keys inside a range as the state topic's records leave them, and how far that can be trusted.
 *
 * <p>Compaction may take a record away before it is read, once a later one of its key is written. So a pass over the topic
 * leaves keys as they are at its last mark, but for some that were written again after it. Those are found by reading on
 * to an end that was asked for after the pass, if nothing was taken from there, of which marks tell: each names the one
 * before it, and how many records are between. Then everything is as of the last mark; else another such pass is needed,
 * which is shorter.
 *
 * <p>Behind MirrorMaker records may come again, from any earlier one on. Until all have, some keys are as of an earlier
 * revision than others; so the last mark must also be of the latest revision met.
 *
 * <p>Topics that are made anew begin another generation, which tells of every key there is. A copy still has what was told
 * before; none of that is true any more, whether it says so or not.
 *
 * <p>Pure state, owned by the feed's thread.
 *
 * <p>Invariant FK3: a snapshot is the state at its revision, whatever is compacted or copied again meanwhile.
 */
final class StateTable {

    private final KeyRange range;
    private final NavigableMap<ByteString, KeyValue> entries = new TreeMap<>(KeyRange.KEY_ORDER);

    private @Nullable ClusterId cluster;
    private long generation;
    private Revision lastMark = Revision.ZERO;
    private boolean atMark;
    private boolean inSnapshot;
    private Revision newest = Revision.ZERO;

    /** Highest mark met, and the changes since. */
    private Revision chained = Revision.ZERO;

    private Revision lastChange = Revision.ZERO;
    private int lastIndex;
    private long sinceMark;
    private boolean unbroken;
    private boolean markExpected;

    StateTable(KeyRange range) {
        this.range = range;
    }

    /** From here on it counts whether something is missing. */
    void beginVerified() {
        unbroken = true;
        markExpected = false;
    }

    /** There was a mark from there on: if it isn't met, compaction has taken it, and perhaps changes with it. */
    void expectMark() {
        markExpected = true;
    }

    /** Whether nothing was missing since {@link #beginVerified}. */
    boolean isUnbroken() {
        return unbroken && !markExpected;
    }

    /** Whether the last record was a mark up to which everything is told. */
    boolean isAtMark() {
        return atMark && !inSnapshot && !lastMark.isBefore(newest);
    }

    /** Of the last mark. */
    Revision revision() {
        return lastMark;
    }

    /** Null before the first record. */
    @Nullable ClusterId cluster() {
        return cluster;
    }

    /** In key order; the caller's from now on. */
    NavigableMap<ByteString, KeyValue> entries() {
        return entries;
    }

    /** @param ofGeneration see {@link TopicOrigin} */
    void accept(TopicRecord told, long ofGeneration) {
        if (ofGeneration < generation) {
            return;
        }
        if (ofGeneration > generation) {
            begin(ofGeneration);
        }
        cluster = told.cluster();
        atMark = false;
        if (told.revision().isAfter(newest)) {
            newest = told.revision();
        }
        if (told instanceof TopicRecord.Changed changed) {
            count(changed);
            if (changed.change() instanceof Change.Put put) {
                put(put.keyValue());
            } else {
                entries.remove(changed.change().key());
            }
        } else if (told instanceof TopicRecord.Found found) {
            put(found.entry());
        } else if (told instanceof TopicRecord.Gone gone) {
            entries.remove(gone.key());
        } else {
            mark(told);
        }
    }

    private void begin(long another) {
        generation = another;
        entries.clear();
        inSnapshot = false;
        unbroken = false;
        newest = Revision.ZERO;
        chained = Revision.ZERO;
        lastChange = Revision.ZERO;
        sinceMark = 0;
    }

    private void put(KeyValue entry) {
        if (range.contains(entry.key())) {
            entries.put(entry.key(), entry);
        }
    }

    private void count(TopicRecord.Changed changed) {
        int order = changed.revision().compareTo(lastChange);
        boolean again = order < 0 || (order == 0 && changed.index() <= lastIndex);
        if (!again && changed.revision().isAfter(chained)) {
            sinceMark++;
            lastChange = changed.revision();
            lastIndex = changed.index();
        }
    }

    private void mark(TopicRecord told) {
        atMark = true;
        markExpected = false;
        lastMark = told.revision();
        inSnapshot = told instanceof TopicRecord.SnapshotBegin;
        if (!(told instanceof TopicRecord.Complete complete)) {
            // Neither bracket of a snapshot names the mark before it: whole snapshots may have been taken in between,
            // and
            // what is counted since a beginning be of several.
            unbroken = false;
        } else if (told.revision().isAfter(chained)) {
            unbroken &= complete.previous().equals(chained) && complete.records() == sinceMark;
        }
        if (!inSnapshot && told.revision().isAfter(chained)) {
            chained = told.revision();
            sinceMark = 0;
        }
    }
}
