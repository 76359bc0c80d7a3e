package io.understudy.gateway.hub;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.LoggedCommit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Goes through commits for the cohorts of a lane, and tells their watchers of them in batches. */
final class Pass {

    /** Of commits in one batch, as of revisions in etcd's (watchBatchMaxRevs in watcher_group.go). */
    static final int MAX_COMMITS = 1000;

    /** That the log has forgotten what was needed. */
    static final long FORGOTTEN = -2;

    /** After as many bytes of events a batch takes no further commit. */
    private static final long MAX_BYTES = 1 << 20;

    /** The same while some of a cohort have to be told of parts, which are made for them alone. */
    private static final long MAX_BYTES_UNEVEN = 64 << 10;

    /** Commits of which it is learned at once how keys stood before: one by one would be a round trip to the source each. */
    private static final int LEARNED_AHEAD = 32;

    private final Lane lane;
    private final LoopHub hub;
    private final boolean previous;
    private long batches;

    /** @param previous whether the lane's watchers want keys as they stood before */
    Pass(Lane lane, LoopHub hub, boolean previous) {
        this.lane = lane;
        this.hub = hub;
        this.previous = previous;
    }

    /**
     * Goes through commits for a cohort, up to {@code limit} or until a batch is full, and tells its watchers.
     *
     * @return how far it came; where it stood, if the next commit has to learn something first; or {@link #FORGOTTEN}
     */
    long run(Cohort cohort, CommitLog from, long limit, boolean isLive) {
        if (cohort.size() == 0) {
            return limit;
        }
        List<Audience> concerned = new ArrayList<>();
        try {
            return run(cohort, from, limit, isLive, concerned);
        } finally {
            // Whatever happens: what is left of one batch must not get into the next.
            concerned.forEach(Audience::take);
        }
    }

    private long run(Cohort cohort, CommitLog from, long limit, boolean isLive, List<Audience> concerned) {
        long at = cohort.told();
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
            if (previous && !commit.knowsPrevious() && needsPrevious(cohort, commit)) {
                learnFrom(cohort, from, commit, limit);
                break;
            }
            bytes += collect(cohort, commit, concerned);
            first = first == null ? commit : first;
            commits++;
            at = commit.revision().value();
            last = at;
        }
        if (!from.covers(cohort.told())) {
            return FORGOTTEN;
        }
        if (!concerned.isEmpty() && first != null) {
            tell(concerned, isLive ? last : Math.max(at, lane.revision()), cohort.told());
            if (isLive) {
                hub.told(first);
            }
        }
        return at;
    }

    /** Has that commit, and those that follow it soon, learn how keys stood before. */
    private void learnFrom(Cohort cohort, CommitLog from, LoggedCommit unknown, long limit) {
        LoggedCommit next = unknown;
        for (int i = 0; i < LEARNED_AHEAD && next != null && next.revision().value() <= limit; i++) {
            if (!next.knowsPrevious() && needsPrevious(cohort, next)) {
                hub.learn(next);
            }
            next = from.after(next.revision().value());
        }
    }

    /** Whether somebody is to be told how a key stood before, which of a new one needs no telling. */
    private static boolean needsPrevious(Cohort cohort, LoggedCommit commit) {
        boolean[] any = {false};
        for (Entry change : commit.changes()) {
            cohort.index().forEach(change.key(), audience -> any[0] |= needsPrevious(audience, change));
            if (any[0]) {
                return true;
            }
        }
        return false;
    }

    /** Gives {@code each} the audiences that need previous entries of a commit, some more than once. */
    static void forEachThatNeedsPrevious(Cohort cohort, LoggedCommit commit, Consumer<Audience> each) {
        for (Entry change : commit.changes()) {
            cohort.index().forEach(change.key(), audience -> {
                if (needsPrevious(audience, change)) {
                    each.accept(audience);
                }
            });
        }
    }

    private static boolean needsPrevious(Audience audience, Entry change) {
        return !isNew(change) && audience.wish().includes(change);
    }

    private static boolean isNew(Entry change) {
        return change.version() == 1;
    }

    /** Returns the bytes of events that somebody is to be told of. */
    private long collect(Cohort cohort, LoggedCommit commit, List<Audience> concerned) {
        Collector collector = new Collector(commit, concerned);
        for (Entry change : commit.changes()) {
            collector.change(change);
            cohort.index().forEach(collector.key, collector::add);
        }
        return collector.bytes;
    }

    /** Makes an event of a change once, if anybody is concerned. */
    private final class Collector {
        private final LoggedCommit commit;
        private final List<Audience> concerned;
        private @Nullable Entry change;
        private ByteString key = ByteString.EMPTY;
        private @Nullable WatchEvent event;
        private long bytes;

        Collector(LoggedCommit commit, List<Audience> concerned) {
            this.commit = commit;
            this.concerned = concerned;
        }

        void change(Entry next) {
            change = next;
            key = next.key();
            event = null;
        }

        void add(Audience audience) {
            if (!audience.wish().includes(Objects.requireNonNull(change))) {
                return;
            }
            if (event == null) {
                event = new WatchEvent(change, previous && !isNew(change) ? commit.previous(key) : null);
                bytes += event.bytes();
            }
            if (audience.collect(event)) {
                concerned.add(audience);
            }
        }
    }

    private void tell(List<Audience> concerned, long revision, long told) {
        batches++;
        for (Audience audience : concerned) {
            EventBatch batch = new EventBatch(revision, audience.take());
            // From the last on: who leaves is replaced by the last, who has been told.
            for (int i = audience.size() - 1; i >= 0; i--) {
                Watcher watcher = i < audience.size() ? audience.get(i) : null;
                if (watcher != null && watcher.batch != batches) {
                    watcher.batch = batches;
                    EventBatch rest = watcher.told > told ? batch.after(watcher.told) : batch;
                    if (rest != null) {
                        lane.tell(watcher, rest);
                    }
                }
            }
        }
    }
}
