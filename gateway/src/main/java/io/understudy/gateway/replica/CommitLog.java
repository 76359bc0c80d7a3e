package io.understudy.gateway.replica;

import io.understudy.vocabulary.KeyRange;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The latest successive commits in the range, after {@link #from} up to {@link #head}. One thread writes; any thread
 * reads, without locks.
 *
 * <p>Readers take {@link #head} first, iterate by {@link #after}, and check {@link #from} last: what it then covers was
 * complete.
 */
public final class CommitLog {

    /** The value of {@link #from} and {@link #head} before the log begins. */
    public static final long NONE = -1;

    private final long number;
    private final ConcurrentNavigableMap<Long, LoggedCommit> commits = new ConcurrentSkipListMap<>();
    private volatile long from = NONE;
    private volatile long head = NONE;
    private final AtomicLong former = new AtomicLong();
    private final AtomicLong compacted = new AtomicLong();

    private volatile Move lastMove = Move.NONE;

    private volatile int size;
    private volatile long bytes;

    private record Move(long revision, Predicate<KeyRange> mirrored) {
        static final Move NONE = new Move(CommitLog.NONE, range -> true);
    }

    /** The log of a replica. */
    public CommitLog() {
        this(0);
    }

    /** @param number see {@link #number} */
    public CommitLog(long number) {
        this.number = number;
    }

    /** 0 for the log of a replica; each reading of history has another number. */
    public long number() {
        return number;
    }

    /** All commits after it are held; {@link #NONE} before the log begins. Never decreases while commits follow. */
    public long from() {
        return from;
    }

    /** No commit up to this revision is missing; {@link #NONE} before the log begins. */
    public long head() {
        return head;
    }

    /** Whether all commits after that revision are held, as far as there are any. */
    public boolean covers(long revision) {
        long first = from;
        return first != NONE && first <= revision;
    }

    /** {@link #from} without compacted revisions; earlier watchers are left to the source. */
    public long readableFrom() {
        return Math.max(from, Math.min(compacted.get() - 1, head));
    }

    /** Whether all commits after that revision are held, and the source has not compacted them. */
    public boolean isReadable(long revision) {
        return covers(revision) && readableFrom() <= revision;
    }

    /** Whether the source has compacted all revisions before that one, but not that one. */
    public boolean isCompactRevision(long revision) {
        return revision == compacted.get();
    }

    /** The source has compacted all revisions before this one. */
    long compacted() {
        return compacted.get();
    }

    /** The source has compacted all revisions before {@code revision}. Thread-safe; the greatest one counts. */
    void compacted(long revision) {
        long unused = compacted.accumulateAndGet(revision, Math::max);
    }

    /** The greatest revision before the last {@link #restart}, or 0. Clients' revisions up to it are ambiguous. */
    public long former() {
        return former.get();
    }

    /** Clients may know revisions of another cluster up to that one, from before this process. Thread-safe. */
    public void formerly(long seen) {
        long unused = former.accumulateAndGet(seen, Math::max);
    }

    /** The number of commits held. */
    public int size() {
        return size;
    }

    /** The approximate heap use, without the latest state. */
    public long bytes() {
        return bytes;
    }

    /** The first commit after that revision; null if there is none yet. */
    public @Nullable LoggedCommit after(long revision) {
        Map.Entry<Long, LoggedCommit> found = commits.higherEntry(revision);
        return found == null ? null : found.getValue();
    }

    /** The first commit held; null if there is none. */
    public @Nullable LoggedCommit first() {
        Map.Entry<Long, LoggedCommit> found = commits.firstEntry();
        return found == null ? null : found.getValue();
    }

    /**
     * Clears the log; commits after that revision follow. For the writing thread.
     *
     * @throws IllegalArgumentException if it has dropped that revision already: a concurrent reader would miss dropped
     *     commits
     */
    public void begin(long revision) {
        if (revision < from) {
            throw new IllegalArgumentException("revision " + revision + " is before the start of the log at " + from);
        }
        from = revision;
        commits.clear();
        size = 0;
        bytes = 0;
        head = revision;
    }

    /**
     * Empties the log: the following revisions are of another cluster. For the writing thread.
     *
     * @param seen greatest revision that a reader may know
     */
    public void restart(long seen) {
        formerly(seen);
        compacted.set(0);
        lastMove = Move.NONE;
        // First, so that no reader skips a missing commit.
        from = NONE;
        head = NONE;
        commits.clear();
        count(0, 0);
    }

    /** Appends the next commit. For the writing thread. */
    public void add(LoggedCommit commit) {
        long revision = commit.revision().value();
        if (revision <= head) {
            throw new IllegalArgumentException("revision " + revision + " after " + head);
        }
        commits.put(revision, commit);
        count(size + 1, bytes + commit.heapBytes());
        head = revision;
    }

    /**
     * Continues at another cluster. For the writing thread.
     *
     * @param revision of that cluster with the contents at the head
     * @param mirrored ranges with equal contents
     */
    public void move(long revision, Predicate<KeyRange> mirrored) {
        // First, so that no reader advances beyond it unchecked.
        lastMove = new Move(revision, mirrored);
        advance(revision);
    }

    /** The revision of the last {@link #move}; {@link #NONE} without one. */
    public long movedAt() {
        return lastMove.revision();
    }

    /** Whether a reader of the range at that revision can continue: there is no move ahead, or the range is mirrored. */
    public boolean continues(KeyRange range, long at) {
        Move last = lastMove;
        return at >= last.revision() || last.mirrored().test(range);
    }

    /** Advances the head without a commit. For the writing thread. */
    public void advance(long revision) {
        head = Math.max(head, revision);
    }

    /** Drops the commits up to that revision. For the writing thread. */
    public void forget(long revision) {
        if (revision <= from) {
            return;
        }
        from = revision;
        int held = size;
        long sum = bytes;
        Iterator<LoggedCommit> gone = commits.headMap(revision, true).values().iterator();
        while (gone.hasNext()) {
            sum -= gone.next().heapBytes();
            held--;
            gone.remove();
        }
        count(held, sum);
    }

    /** Drops the oldest commits beyond the limits, but never the last one. For the writing thread. */
    void keep(int maxCommits, long maxBytes) {
        while (size > 1 && (size > maxCommits || bytes > maxBytes)) {
            forget(commits.firstKey());
        }
    }

    /** Drops the state: later readers find no previous entries. For the writing thread. */
    void forgetPrevious() {
        commits.replaceAll((revision, commit) -> commit.withoutPrevious());
        recount();
    }

    private void recount() {
        int held = 0;
        long sum = 0;
        for (LoggedCommit commit : commits.values()) {
            held++;
            sum += commit.heapBytes();
        }
        count(held, sum);
    }

    private void count(int held, long sum) {
        size = held;
        bytes = sum;
    }
}
