package io.understudy.gateway.hub;

import com.google.protobuf.ByteString;
import io.understudy.gateway.hub.CommitHistory.PreviousEntries;
import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.LoggedCommit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A source with its history, and the log that a replica of it would keep. */
final class HubSource implements CommitHistory, PreviousEntries {

    private final CommitLog log = new CommitLog();
    private final TreeMap<Long, List<WatchEvent>> history = new TreeMap<>();
    private final Map<ByteString, Entry> state = new HashMap<>();
    private final List<LoggedCommit> unlearned = new ArrayList<>();
    private final Map<LoggedCommit, CompletableFuture<Void>> learning = new HashMap<>();
    private long revision = 1;
    private long compacted;
    /** Revision of a commit too large to be read with previous entries; 0 for none. */
    private long large;

    /** Revision of a commit too large to be read; 0 for none. */
    private long hole;
    /** Revision of the first commit that the source does not serve; 0 for none. */
    private long unreadable;

    private boolean hasPrevious = true;
    private int readings;

    HubSource() {
        log.begin(revision);
    }

    CommitLog log() {
        return log;
    }

    /** Number of readings begun. */
    synchronized int readings() {
        return readings;
    }

    synchronized long revision() {
        return revision;
    }

    /** Whether the following commits include previous entries. */
    synchronized void includePrevious(boolean included) {
        hasPrevious = included;
    }

    /** A null value deletes the key, if it is there. */
    synchronized void commit(Map<String, @Nullable String> values) {
        long next = revision + 1;
        List<WatchEvent> events = new ArrayList<>();
        values.forEach((name, value) -> {
            ByteString key = ByteString.copyFromUtf8(name);
            Entry before = state.get(key);
            if (value == null && before != null) {
                state.remove(key);
                events.add(new WatchEvent(entry(key, "", 0, next, 0), before));
            } else if (value != null) {
                Entry after = before == null
                        ? entry(key, value, next, next, 1)
                        : entry(key, value, before.createRevision(), next, before.version() + 1);
                state.put(key, after);
                events.add(new WatchEvent(after, before));
            }
        });
        if (events.isEmpty()) {
            return;
        }
        revision = next;
        history.put(next, events);
        LoggedCommit commit = commit(next, events, hasPrevious);
        log.add(commit);
    }

    /** A commit outside of the range. */
    synchronized void elsewhere() {
        revision++;
        log.advance(revision);
    }

    /** Drops commits from the replica's window. */
    synchronized void forget(long upTo) {
        log.forget(Math.min(upTo, revision));
    }

    /** As after a new snapshot of the replica. */
    synchronized void beginAgain() {
        log.begin(revision);
    }

    /** Another cluster follows, after that revision of this one. */
    synchronized void restart(long seen) {
        log.restart(seen);
    }

    synchronized void compact(long at) {
        compacted = Math.max(compacted, Math.min(at, revision));
    }

    /** The last commit is too large to be read with previous entries. */
    synchronized void large() {
        large = revision;
    }

    /** The last commit is too large to be read. */
    synchronized void hole() {
        hole = revision;
    }

    /** The source serves neither the last commit nor later ones. */
    synchronized void unreadable() {
        unreadable = revision;
    }

    synchronized List<WatchEvent> events(long from) {
        return history.tailMap(from, true).values().stream()
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public synchronized Reading open(long from, boolean previous) {
        readings++;
        return new Reading() {
            private long at = from - 1;

            @Override
            public @Nullable Step next(Duration timeout) throws CompactedException {
                synchronized (HubSource.this) {
                    if (at + 1 < compacted) {
                        throw CompactedException.before(compacted);
                    }
                    Map.Entry<Long, List<WatchEvent>> found = history.higherEntry(at);
                    if (found == null) {
                        if (at >= revision) {
                            return null;
                        }
                        at = revision;
                        return new Step.Complete(at);
                    }
                    if (previous && found.getKey() == large) {
                        throw CompactedException.hole("too large", large + 1, true);
                    }
                    if (found.getKey() == hole) {
                        throw CompactedException.hole("too large", hole + 1, false);
                    }
                    if (found.getKey() == unreadable) {
                        throw CompactedException.unreadable("rejected for good");
                    }
                    at = found.getKey();
                    return new Step.Committed(commit(at, found.getValue(), previous));
                }
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public synchronized CompletableFuture<Void> learn(LoggedCommit commit) {
        return learning.computeIfAbsent(commit, wanted -> {
            unlearned.add(wanted);
            return new CompletableFuture<>();
        });
    }

    /** Fails pending reads of previous entries. */
    synchronized void refuse(Throwable why) {
        List<LoggedCommit> refused = List.copyOf(unlearned);
        unlearned.clear();
        refused.forEach(
                commit -> Objects.requireNonNull(learning.remove(commit)).completeExceptionally(why));
    }

    /** Completes pending reads of previous entries. */
    void teach() {
        List<LoggedCommit> wanted;
        synchronized (this) {
            wanted = List.copyOf(unlearned);
            unlearned.clear();
        }
        for (LoggedCommit commit : wanted) {
            Map<ByteString, Entry> previous = new HashMap<>();
            CompletableFuture<Void> future;
            synchronized (this) {
                for (WatchEvent event : history.getOrDefault(commit.revision().value(), List.of())) {
                    if (event.previous() != null) {
                        previous.put(event.entry().key(), event.previous());
                    }
                }
                future = learning.get(commit);
            }
            commit.learnPrevious(previous);
            if (future != null) {
                future.complete(null);
            }
        }
    }

    private static LoggedCommit commit(long revision, List<WatchEvent> events, boolean hasPrevious) {
        Map<ByteString, Entry> previous = new HashMap<>();
        for (WatchEvent event : events) {
            if (event.previous() != null) {
                previous.put(event.entry().key(), event.previous());
            }
        }
        return new LoggedCommit(
                new Revision(revision),
                events.stream().map(WatchEvent::entry).toList(),
                hasPrevious ? previous::get : null);
    }

    private static Entry entry(ByteString key, String value, long create, long mod, long version) {
        return Entry.of(
                new KeyValue(key, ByteString.copyFromUtf8(value), new Revision(create), new Revision(mod), version, 0));
    }
}
