package io.understudy.gateway.replica;

import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * Successive commits, as far back as there is room for: all after {@link #from} up to {@link #head} that changed anything
 * inside the range. One thread writes; any thread reads, without locks.
 *
 * <p>Who reads takes {@link #head} first, then goes through the commits by {@link #after}, and looks at {@link #from}
 * last: what it then covers was complete.
 */
public final class CommitLog {

    /** Of {@link #from} and {@link #head} before the first commit can be logged. */
    public static final long NONE = -1;

    private final ConcurrentNavigableMap<Long, LoggedCommit> commits = new ConcurrentSkipListMap<>();
    private volatile long from = NONE;
    private volatile long head = NONE;
    private volatile int size;

    /** All commits after this revision are held; {@link #NONE} before it began. Never goes back while commits follow. */
    public long from() {
        return from;
    }

    /** Up to this revision no commit is missing; {@link #NONE} before it began. */
    public long head() {
        return head;
    }

    /** How many commits are held. */
    public int size() {
        return size;
    }

    /** The first commit after that revision; null if there is none yet. */
    public @Nullable LoggedCommit after(long revision) {
        Map.Entry<Long, LoggedCommit> found = commits.higherEntry(revision);
        return found == null ? null : found.getValue();
    }

    /** The first one held; null if there is none. */
    public @Nullable LoggedCommit first() {
        Map.Entry<Long, LoggedCommit> found = commits.firstEntry();
        return found == null ? null : found.getValue();
    }

    /**
     * Begins, or begins anew: commits after that revision follow, and none from before is held. For the writing thread.
     *
     * @throws IllegalArgumentException if it has forgotten that revision already: whoever reads meanwhile would take what
     *     is no longer there for something that never happened
     */
    public void begin(long revision) {
        if (revision < from) {
            throw new IllegalArgumentException("begins at revision " + revision + ", having begun at " + from);
        }
        from = revision;
        commits.clear();
        size = 0;
        head = revision;
    }

    /** Takes the next commit. For the writing thread. */
    public void add(LoggedCommit commit) {
        long revision = commit.revision().value();
        if (revision <= head) {
            throw new IllegalArgumentException("revision " + revision + " after " + head);
        }
        commits.put(revision, commit);
        int held = size + 1;
        size = held;
        head = revision;
    }

    /** Nothing happened up to that revision. For the writing thread. */
    public void advance(long revision) {
        head = Math.max(head, revision);
    }

    /** Forgets the commits up to that revision. For the writing thread. */
    public void forget(long revision) {
        if (revision > from) {
            from = revision;
            Map<Long, LoggedCommit> gone = commits.headMap(revision, true);
            int held = size - gone.size();
            gone.clear();
            size = held;
        }
    }
}
