package io.understudy.gateway.replica;

import static java.util.stream.Collectors.toMap;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A commit of the log, with its changes as watchers receive them. Thread-safe; immutable except for {@link
 * #learnPrevious}.
 *
 * <p>Previous entries come from the state before the commit, or are read from the source.
 */
public final class LoggedCommit {

    /** Heap of a commit: map elements, revisions, lists, and a state after it. */
    private static final int BYTES_OF_A_COMMIT = 360;

    private static final int BYTES_OF_A_CHANGE = 20;

    private final Revision revision;
    private final List<Entry> changes;
    private final long loggedNanos;
    private final long heapBytes;
    private final @Nullable Function<ByteString, @Nullable Entry> previous;
    /** Held softly, since they are not counted: they are read again if memory was short. */
    private volatile @Nullable SoftReference<Map<ByteString, Entry>> learned;

    /**
     * @param changes one entry per key, in the order and form of etcd's events: deleted keys only have a mod revision
     * @param previous returns the entry before the commit, null for a new key; null if still unknown
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
     * A commit with changes that are part of its resulting state.
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
     * @param previous the previous entries of those keys that existed; null if still unknown
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

    /** The time of logging, by {@link System#nanoTime}. */
    public long loggedNanos() {
        return loggedNanos;
    }

    /** The approximate heap use, without the latest state and without {@linkplain #learnPrevious added} entries. */
    public long heapBytes() {
        return heapBytes;
    }

    /**
     * Returns a function of a key to its entry before the commit: null if the key did not exist, or its entry was
     * compacted. Null while the previous entries are unknown.
     */
    public @Nullable Function<ByteString, @Nullable Entry> previous() {
        SoftReference<Map<ByteString, Entry>> held = learned;
        Map<ByteString, Entry> entries = held == null ? null : held.get();
        return entries == null ? previous : entries::get;
    }

    /** Adds the previous entries of those keys that existed. */
    public void learnPrevious(Map<ByteString, Entry> entries) {
        learned = new SoftReference<>(Map.copyOf(entries));
    }

    /** Returns the commit without the state before it. */
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
