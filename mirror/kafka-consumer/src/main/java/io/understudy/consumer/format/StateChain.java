package io.understudy.consumer.format;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Decides when the records of a state topic are the state at the last mark.
 *
 * <p>Compaction may remove a record before it is read, once a later record of its key is written. So a pass over the topic
 * leaves keys as they are at its last mark, except keys that were written again after it. A second pass from there, to an
 * end that is requested after the first pass, finds those, if marks show that nothing is missing: each names the previous
 * mark and the number of records between. Otherwise a further pass is needed, which is shorter.
 *
 * <p>MirrorMaker may repeat records from any earlier one on. So the last mark must also have the highest revision that was
 * read.
 *
 * <p>Topics that are written from scratch begin another generation, which contains every key.
 *
 * <p>Pure state, not thread-safe.
 */
public final class StateChain {

    /** How a generation relates to the ones before. */
    public enum Generation {
        /** Superseded: the record is to be ignored. */
        OLD,
        CURRENT,
        /** All earlier records are superseded. */
        NEW
    }

    /** What a reader does next. */
    public enum Step {
        READ,
        /** Read on: the state is complete only after further records of the mirror. */
        WAIT,
        /** Begin again, since tombstones may have been missed while keys were not repaired. */
        REPEAT,
        /** Begin again, since the read took longer than tombstones are kept. */
        LATE,
        COMPLETE
    }

    /** End offset of this pass; -1 until known. */
    private long end = -1;
    /** Whether the first pass is over. */
    private boolean passed;

    private long generation;
    private StateDigest digest = StateDigest.EMPTY;
    /** Of the last mark; null if its mirror did not know it. */
    private @Nullable StateDigest expected;

    private long lastMark;
    private boolean atMark;
    private boolean inSnapshot;
    private long newest;

    /** Highest mark, and the changes since. */
    private long chained;

    private long lastChange;
    private int lastIndex;
    private long sinceMark;
    private boolean unbroken;
    private boolean markExpected;

    /** Whether a pass begins, of which {@link #endsAt} sets the end. */
    public boolean needsEnd() {
        return end < 0;
    }

    /** Sets the end of a pass from {@code offset}, requested after the previous pass. */
    public void endsAt(long offset, long newEnd) {
        end = newEnd;
        // Transactions end with one. If it is not read, compaction has removed it, and perhaps changes with it.
        markExpected = passed && offset < end;
    }

    /** Whether no record is needed to decide the next step. */
    public boolean isRead(long offset, boolean isWhole) {
        return offset >= end && (!passed || (isAtMark() && isWhole));
    }

    /**
     * Decides the next step.
     *
     * @param offset up to which records were accepted
     * @param isWhole see {@link #isWhole}
     * @param isLate whether the read takes longer than tombstones are kept
     */
    public Step step(long offset, boolean isWhole, boolean isLate) {
        if (end < 0 || offset < end) {
            return Step.READ;
        }
        if (!passed || !unbroken || markExpected) {
            // What is missing so far was written again before now.
            passed = true;
            end = -1;
            unbroken = true;
            return Step.READ;
        }
        if (!isAtMark()) {
            return Step.WAIT;
        }
        if (!isWhole) {
            return isLate ? Step.REPEAT : Step.WAIT;
        }
        return isLate ? Step.LATE : Step.COMPLETE;
    }

    /** Whether the keys have the digest of the last mark; without one, whether no stray record replaced a key. */
    public boolean isWhole(boolean isReplaced) {
        return expected == null ? !isReplaced : expected.equals(digest);
    }

    /** Whether the last record was a mark up to which the state is complete. */
    public boolean isAtMark() {
        return atMark && !inSnapshot && lastMark >= newest;
    }

    /** Revision of the last mark. */
    public long revision() {
        return lastMark;
    }

    /** Generation of the records that count. */
    public long generation() {
        return generation;
    }

    /** Digest of the keys that were read. */
    public StateDigest digest() {
        return digest;
    }

    /** Digest at the last mark; null if its mirror did not know it. */
    public @Nullable StateDigest expected() {
        return expected;
    }

    /** Accepts the common part of a record. */
    public Generation begin(long ofGeneration, long revision) {
        if (ofGeneration < generation) {
            return Generation.OLD;
        }
        boolean isNew = ofGeneration > generation;
        if (isNew) {
            generation = ofGeneration;
            digest = StateDigest.EMPTY;
            inSnapshot = false;
            unbroken = false;
            newest = 0;
            chained = 0;
            lastChange = 0;
            sinceMark = 0;
        }
        atMark = false;
        newest = Math.max(newest, revision);
        return isNew ? Generation.NEW : Generation.CURRENT;
    }

    /** Accepts a change of a commit. */
    public void changed(long revision, int index) {
        boolean again = revision < lastChange || (revision == lastChange && index <= lastIndex);
        if (!again && revision > chained) {
            sinceMark++;
            lastChange = revision;
            lastIndex = index;
        }
    }

    /** Accepts a key that the state did not hold. */
    public void added(ByteBuffer key) {
        digest = digest.with(key);
    }

    /** Accepts the removal of a key that the state held. */
    public void removed(ByteBuffer key) {
        digest = digest.without(key);
    }

    /**
     * Accepts a mark.
     *
     * @param state of the mark, if known
     */
    public void mark(MirrorRecord.Kind kind, long revision, long previous, long records, @Nullable StateDigest state) {
        atMark = true;
        markExpected = false;
        lastMark = revision;
        expected = state;
        inSnapshot = kind == MirrorRecord.Kind.SNAPSHOT_BEGIN;
        if (kind != MirrorRecord.Kind.COMPLETE) {
            // Marks of a snapshot do not name the previous mark: whole snapshots may be missing between them.
            unbroken = false;
        } else if (revision > chained) {
            unbroken &= previous == chained && records == sinceMark;
        }
        if (!inSnapshot && revision > chained) {
            chained = revision;
            sinceMark = 0;
        }
    }
}
