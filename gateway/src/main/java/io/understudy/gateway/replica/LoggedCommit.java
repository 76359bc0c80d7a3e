package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Revision;
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

    private final Revision revision;
    private final List<Entry> changes;
    private final long loggedNanos = System.nanoTime();
    private volatile @Nullable Function<ByteString, @Nullable Entry> previous;

    /**
     * @param changes what became of each key, in etcd's order, as etcd's events have it: a deleted key has a mod revision
     *     and nothing else
     * @param previous how a key stood before the commit, null for one that wasn't there; null if nobody knows yet
     */
    public LoggedCommit(
            Revision revision, List<Entry> changes, @Nullable Function<ByteString, @Nullable Entry> previous) {
        this.revision = revision;
        this.changes = List.copyOf(changes);
        this.previous = previous;
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
            throw new IllegalStateException("how keys stood before revision " + revision + " is not known yet");
        }
        return known.apply(key);
    }

    /** Takes how those keys of the commit stood before that were there. */
    public void learnPrevious(Map<ByteString, Entry> entries) {
        previous = Map.copyOf(entries)::get;
    }
}
