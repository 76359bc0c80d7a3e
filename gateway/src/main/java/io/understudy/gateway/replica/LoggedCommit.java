package io.understudy.gateway.replica;

import static java.util.stream.Collectors.toMap;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A commit as watchers are told of it. For any thread; all but {@link #learnPrevious} is as if it were immutable.
 *
 * <p>Whoever has the state before the commit knows how its keys stood; else that has to be learned from the source.
 */
public final class LoggedCommit {

    /** Of a commit itself: elements of maps, revisions, lists, and the state after it if there is one. */
    private static final int BYTES_OF_A_COMMIT = 360;

    private static final int BYTES_OF_A_CHANGE = 20;

    private final Revision revision;
    private final List<Entry> changes;
    private final long loggedNanos;
    private final long heapBytes;
    private volatile @Nullable Function<ByteString, @Nullable Entry> previous;

    /**
     * @param changes what became of each key, in etcd's order, as etcd's events have it: a deleted key has a mod revision
     *     and nothing else
     * @param previous how a key stood before the commit, null for one that wasn't there; null if nobody knows yet
     */
    public LoggedCommit(
            Revision revision, List<Entry> changes, @Nullable Function<ByteString, @Nullable Entry> previous) {
        this(revision, changes, previous, System.nanoTime(), bytesOf(changes, true));
    }

    private LoggedCommit(
            Revision revision,
            List<Entry> changes,
            @Nullable Function<ByteString, @Nullable Entry> previous,
            long loggedNanos,
            long heapBytes) {
        this.revision = revision;
        this.changes = List.copyOf(changes);
        this.previous = previous;
        this.loggedNanos = loggedNanos;
        this.heapBytes = heapBytes;
    }

    /**
     * A commit whose changes are part of the state that it led to.
     *
     * @param replacedBytes what of the state before isn't part of that one
     */
    static LoggedCommit onto(ReplicaState before, Revision revision, List<Entry> changes, long replacedBytes) {
        return new LoggedCommit(
                revision, changes, before::get, System.nanoTime(), replacedBytes + bytesOf(changes, false));
    }

    /**
     * A commit of the source's history.
     *
     * @param previous how those of its keys stood before that were there; null if nobody knows yet
     */
    public static LoggedCommit of(Commit commit, @Nullable List<KeyValue> previous) {
        List<Entry> changes = entriesOf(commit);
        if (previous == null) {
            return new LoggedCommit(commit.revision(), changes, null);
        }
        Map<ByteString, Entry> before =
                previous.stream().collect(toMap(KeyValue::key, Entry::of, (first, later) -> first));
        long bytes = bytesOf(changes, true);
        for (Entry entry : before.values()) {
            bytes += Heap.ofArray(entry.wireSize());
        }
        return new LoggedCommit(commit.revision(), changes, before::get, System.nanoTime(), bytes);
    }

    static List<Entry> entriesOf(Commit commit) {
        List<Entry> entries = new ArrayList<>(commit.changes().size());
        for (Change change : commit.changes()) {
            entries.add(Entry.of(change, commit.revision()));
        }
        return entries;
    }

    public Revision revision() {
        return revision;
    }

    public List<Entry> changes() {
        return changes;
    }

    /** When it was logged, by {@link System#nanoTime}. */
    public long loggedNanos() {
        return loggedNanos;
    }

    /** About the heap that it takes, beside the latest state; what it {@linkplain #learnPrevious learned} not included. */
    public long heapBytes() {
        return heapBytes;
    }

    /** Whether {@link #previous} may be asked. */
    public boolean knowsPrevious() {
        return previous != null;
    }

    /**
     * The key as it stood before; null if it wasn't there, or if that was compacted.
     *
     * @throws IllegalStateException nobody knows yet
     */
    public @Nullable Entry previous(ByteString key) {
        Function<ByteString, @Nullable Entry> known = previous;
        if (known == null) {
            throw new IllegalStateException("previous values of revision " + revision + " are not loaded yet");
        }
        return known.apply(key);
    }

    /** Takes how those keys of the commit stood before that were there. */
    public void learnPrevious(Map<ByteString, Entry> entries) {
        previous = Map.copyOf(entries)::get;
    }

    /** The same, to be held without the state before it. */
    LoggedCommit withoutPrevious() {
        return new LoggedCommit(revision, changes, null, loggedNanos, bytesOf(changes, true));
    }

    /** @param alone whether no state has the entries too; none ever has those of deleted keys */
    private static long bytesOf(List<Entry> changes, boolean alone) {
        long sum = BYTES_OF_A_COMMIT + (long) BYTES_OF_A_CHANGE * changes.size();
        for (Entry change : changes) {
            sum += alone || change.isDeleted() ? Heap.ofArray(change.wireSize()) : 0;
        }
        return sum;
    }
}
