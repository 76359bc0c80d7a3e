package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Set;
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
 * <p>A stray record removes its key: compaction may have removed a later record of the mirror than the one that was read.
 * The state is complete if its keys have the digest of the last mark.
 *
 * <p>Pure state, owned by the feed's thread.
 *
 * <p>Invariant FK3: a snapshot is the state at its revision, whatever is compacted or copied again meanwhile.
 */
final class StateTable {

    private final KeyRange range;
    private final NavigableMap<ByteString, KeyValue> entries = new TreeMap<>(KeyRange.KEY_ORDER);

    /** Hashes of keys outside the range: the digest covers these, too. */
    private final Set<Long> others = new HashSet<>();
    /** Keys that a stray record removed. */
    private final Set<ByteString> replaced = new HashSet<>();

    private StateDigest digest = StateDigest.EMPTY;
    /** Of the last mark; null if its mirror did not know it. */
    private @Nullable StateDigest expected;

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

    /** Whether at the last mark, as far as that is known, no stray record had replaced a key. */
    boolean isWhole() {
        return expected == null ? replaced.isEmpty() : expected.equals(digest);
    }

    /** What {@link #isWhole} compares, for logs. */
    String digests() {
        return digest + " of " + (expected == null ? "unknown" : expected);
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

    /** Accepts a stray record. */
    void stray(ByteString key) {
        if (remove(key)) {
            replaced.add(key);
        }
    }

    /**
     * @param ofGeneration see {@link TopicOrigin}
     * @param state of a mark, if known
     */
    void accept(TopicRecord told, long ofGeneration, @Nullable StateDigest state) {
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
                gone(changed.change().key());
            }
        } else if (told instanceof TopicRecord.Found found) {
            put(found.entry());
        } else if (told instanceof TopicRecord.Gone gone) {
            gone(gone.key());
        } else {
            mark(told);
            expected = state;
        }
    }

    private void begin(long another) {
        generation = another;
        entries.clear();
        others.clear();
        replaced.clear();
        digest = StateDigest.EMPTY;
        inSnapshot = false;
        unbroken = false;
        newest = Revision.ZERO;
        chained = Revision.ZERO;
        lastChange = Revision.ZERO;
        sinceMark = 0;
    }

    private void put(KeyValue entry) {
        ByteString key = entry.key();
        replaced.remove(key);
        boolean isNew = range.contains(key) ? entries.put(key, entry) == null : others.add(StateDigest.hash(key));
        if (isNew) {
            digest = digest.with(key);
        }
    }

    private void gone(ByteString key) {
        replaced.remove(key);
        boolean unused = remove(key);
    }

    private boolean remove(ByteString key) {
        boolean isRemoved = range.contains(key) ? entries.remove(key) != null : others.remove(StateDigest.hash(key));
        if (isRemoved) {
            digest = digest.without(key);
        }
        return isRemoved;
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
