package io.understudy.gateway.hub;

import com.google.protobuf.ByteString;
import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.LoggedCommit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Delivers commits to the watchers of a group in batches, cohort by cohort. */
final class Pass {

    /** Maximum number of commits in a batch, as of revisions in etcd's (watchBatchMaxRevs in watcher_group.go). */
    static final int MAX_COMMITS = 1000;

    /** The log has dropped the required commits. */
    static final long FORGOTTEN = -2;

    /** A batch with as many bytes of events takes no further commit. */
    private static final long MAX_BYTES = 1 << 20;

    /** As {@link #MAX_BYTES}, for cohorts with watchers that are ahead, which receive copied partial batches. */
    private static final long MAX_BYTES_UNEVEN = 64 << 10;

    /** Commits with previous entries read ahead at once, instead of one round trip each. */
    private static final int LEARNED_AHEAD = 32;

    /** A pass encodes no more than that at once, for all its watchers; further batches are streamed. */
    private static final long MAX_ENCODED_BYTES = 4 << 20;

    /** A batch of fewer bytes is always encoded as a whole. */
    private static final long SMALL_BYTES = 64 << 10;

    /** A deletion names many keys, but its previous values may be most of the store. */
    private static final long MAX_PREVIOUS_BYTES =
            Math.min(64L << 20, Runtime.getRuntime().maxMemory() / 16);

    private final WatcherGroup group;
    private final LoopHub hub;
    private final boolean previous;
    private long batches;

    /** @param previous whether the group's watchers receive previous entries */
    Pass(WatcherGroup group, LoopHub hub, boolean previous) {
        this.group = group;
        this.hub = hub;
        this.previous = previous;
    }

    /**
     * Delivers commits to a cohort, up to {@code limit} or until a batch is full.
     *
     * @return the revision reached, before a commit that still lacks previous entries; or {@link #FORGOTTEN}
     */
    long run(Cohort cohort, CommitLog from, long limit, boolean isLive) {
        if (cohort.size() == 0) {
            return limit;
        }
        List<FilterGroup> concerned = new ArrayList<>();
        try {
            return run(cohort, from, limit, isLive, concerned);
        } finally {
            // In any case: leftovers of one batch must not get into the next.
            concerned.forEach(FilterGroup::take);
        }
    }

    private long run(Cohort cohort, CommitLog from, long limit, boolean isLive, List<FilterGroup> concerned) {
        long at = cohort.revision();
        long maxBytes = cohort.isUneven() ? MAX_BYTES_UNEVEN : MAX_BYTES;
        int commits = 0;
        long bytes = 0;
        LoggedCommit first = null;
        long last = at;
        while (at < limit && commits < MAX_COMMITS && bytes < maxBytes) {
            LoggedCommit commit = from.after(at);
            if (commit == null || commit.revision().value() > limit) {
                at = limit;
                break;
            }
            Function<ByteString, @Nullable Entry> before = previous ? commit.previous() : null;
            if (previous && before == null && needsPrevious(cohort, commit)) {
                learnFrom(cohort, from, commit, limit);
                break;
            }
            bytes += collect(cohort, commit, before, concerned);
            first = first == null ? commit : first;
            commits++;
            at = commit.revision().value();
            last = at;
        }
        if (!from.covers(cohort.revision())) {
            return FORGOTTEN;
        }
        if (!concerned.isEmpty() && first != null) {
            long revision = isLive ? last : Math.max(at, group.revision());
            deliver(concerned, revision, cohort.revision(), last, from.number(), bytes);
            if (isLive) {
                hub.recordLatency(first);
            }
        }
        return at;
    }

    /** Reads the previous entries of that commit and of those that follow soon. */
    private void learnFrom(Cohort cohort, CommitLog from, LoggedCommit unknown, long limit) {
        LoggedCommit next = unknown;
        for (int i = 0; i < LEARNED_AHEAD && next != null && next.revision().value() <= limit; i++) {
            if (next.previous() == null && needsPrevious(cohort, next)) {
                hub.learn(next);
            }
            next = from.after(next.revision().value());
        }
    }

    /** Whether a watcher needs the previous entry of a key; new keys have none. */
    private static boolean needsPrevious(Cohort cohort, LoggedCommit commit) {
        boolean[] any = {false};
        for (Entry change : commit.changes()) {
            cohort.index().forEach(change.key(), filterGroup -> any[0] |= needsPrevious(filterGroup, commit, change));
            if (any[0]) {
                return true;
            }
        }
        return false;
    }

    /** Passes the filter groups that need previous entries of a commit to {@code each}, some repeatedly. */
    static void forEachThatNeedsPrevious(Cohort cohort, LoggedCommit commit, Consumer<FilterGroup> each) {
        for (Entry change : commit.changes()) {
            cohort.index().forEach(change.key(), filterGroup -> {
                if (needsPrevious(filterGroup, commit, change)) {
                    each.accept(filterGroup);
                }
            });
        }
    }

    private static boolean needsPrevious(FilterGroup filterGroup, LoggedCommit commit, Entry change) {
        return !isNew(change)
                && filterGroup.filter().includes(change)
                && filterGroup.isBefore(commit.revision().value());
    }

    private static boolean isNew(Entry change) {
        return change.version() == 1;
    }

    /** Returns the bytes of the collected events. */
    private long collect(
            Cohort cohort,
            LoggedCommit commit,
            @Nullable Function<ByteString, @Nullable Entry> before,
            List<FilterGroup> concerned) {
        Collector collector = new Collector(before, concerned);
        for (Entry change : commit.changes()) {
            collector.change(change);
            cohort.index().forEach(collector.key, collector::add);
        }
        return collector.bytes;
    }

    /** Builds the event of a change once, if a filter matches. */
    private static final class Collector {
        private final @Nullable Function<ByteString, @Nullable Entry> before;
        private final List<FilterGroup> concerned;
        private @Nullable Entry change;
        private ByteString key = ByteString.EMPTY;
        private @Nullable WatchEvent event;
        private long bytes;

        /** @param before null if no watcher needs a previous entry */
        Collector(@Nullable Function<ByteString, @Nullable Entry> before, List<FilterGroup> concerned) {
            this.before = before;
            this.concerned = concerned;
        }

        void change(Entry next) {
            change = next;
            key = next.key();
            event = null;
        }

        void add(FilterGroup filterGroup) {
            if (!filterGroup.filter().includes(Objects.requireNonNull(change))) {
                return;
            }
            if (event == null) {
                event = new WatchEvent(change, before == null || isNew(change) ? null : before.apply(key));
                bytes += event.bytes();
            }
            if (filterGroup.collect(event)) {
                concerned.add(filterGroup);
            }
        }
    }

    /**
     * @param last revision of the events
     * @param log number of the log that they are from
     * @param bytes of all events, each of which a filter group has once at most
     */
    private void deliver(List<FilterGroup> concerned, long revision, long delivered, long last, long log, long bytes) {
        batches++;
        long encoded = 0;
        UnaryOperator<Runnable> keeping = end -> hub.keep(last, log, bytes, end);
        for (FilterGroup filterGroup : concerned) {
            List<WatchEvent> events = filterGroup.take();
            long size = bytes <= SMALL_BYTES
                    ? 0
                    : events.stream().mapToLong(WatchEvent::bytes).sum();
            // For one watcher alone there is nothing to share.
            boolean streamed = size > SMALL_BYTES && (filterGroup.size() == 1 || encoded + size > MAX_ENCODED_BYTES);
            encoded += streamed ? 0 : size;
            EventBatch batch = new EventBatch(revision, events, streamed, keeping);
            if (previous && size > MAX_PREVIOUS_BYTES) {
                group.compacted(filterGroup, last);
                continue;
            }
            // Backwards: a watcher that leaves is replaced by the last one, which has the batch already.
            for (int i = filterGroup.size() - 1; i >= 0; i--) {
                Watcher watcher = i < filterGroup.size() ? filterGroup.get(i) : null;
                if (watcher != null && watcher.batch != batches) {
                    watcher.batch = batches;
                    EventBatch rest = watcher.delivered > delivered ? batch.after(watcher.delivered) : batch;
                    if (rest != null) {
                        group.deliver(watcher, rest);
                    }
                }
            }
        }
    }
}
