package io.understudy.gateway.hub;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.LoggedCommit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Watchers of one event loop that all want keys as they stood before, or all don't: who wants that may have to wait for it,
 * and nobody else shall.
 *
 * <p>Each commit is gone through once by each cohort. One cohort is live, at the log's head; those behind advance from the
 * lowest on, and merge with the next when they have come as far.
 */
final class Lane {

    /** Of commits in one batch, as of revisions in etcd's (watchBatchMaxRevs in watcher_group.go). */
    private static final int MAX_COMMITS = 1000;

    /** After as many bytes of events a batch takes no further commit. */
    private static final long MAX_BYTES = 1 << 20;

    /** The same while some of a cohort have to be told of parts, which are made for them alone. */
    private static final long MAX_BYTES_UNEVEN = 64 << 10;

    /** Commits of which it is learned at once how keys stood before: one by one would be a round trip to the source each. */
    private static final int LEARNED_AHEAD = 32;

    /** A pass that found the log to have forgotten what it needed. */
    private static final long FORGOTTEN = -2;

    private final LoopHub hub;
    private final boolean previous;
    private final CommitLog log;
    private final TreeMap<Long, Cohort> behind = new TreeMap<>();
    private final TreeMap<Long, Set<Watcher>> coming = new TreeMap<>();
    private Cohort live;
    private long batches;
    private int parked;
    private int early;
    /** All but those that are over. */
    private int size;

    Lane(LoopHub hub, CommitLog log, boolean previous) {
        this.hub = hub;
        this.log = log;
        this.previous = previous;
        this.live = new Cohort(log.head());
    }

    /** How far its live watchers were told. */
    long revision() {
        return live.told();
    }

    boolean isLive(Watcher watcher) {
        return watcher.audience != null && watcher.audience.cohort() == live;
    }

    int live() {
        return live.size();
    }

    int parked() {
        return parked;
    }

    int behind() {
        return size - live.size() - parked - early;
    }

    int coming() {
        return early;
    }

    void add(Watcher watcher) {
        long start = watcher.spec().startRevision();
        size++;
        if (start > live.told() + 1) {
            early++;
            coming.computeIfAbsent(start, revision -> new LinkedHashSet<>()).add(watcher);
        } else {
            place(watcher, start == 0 ? live.told() : start - 1);
        }
    }

    void resume(Watcher watcher) {
        // Not while its cohort is told, which it would join without being told the same.
        hub.afterwards(() -> {
            if (watcher.state() == Watcher.State.PARKED) {
                parked--;
                place(watcher, watcher.told);
                hub.wake();
            }
        });
    }

    void cancel(Watcher watcher) {
        switch (watcher.state()) {
            case COMING -> {
                long start = watcher.spec().startRevision();
                Set<Watcher> those = coming.get(start);
                if (those != null && those.remove(watcher) && those.isEmpty()) {
                    coming.remove(start);
                }
                early--;
            }
            case TOLD -> leave(watcher);
            case PARKED -> parked--;
            case OVER -> {
                return;
            }
        }
        watcher.state(Watcher.State.OVER);
        size--;
        hub.left();
    }

    /** Takes the live ones on, by one batch at most. Returns whether there is more to do at once. */
    boolean stepLive() {
        long head = log.head();
        if (head == CommitLog.NONE) {
            return false;
        }
        if (live.told() == CommitLog.NONE) {
            live.told(head);
        }
        admitComing();
        long before = live.told();
        if (before >= head) {
            return false;
        }
        long limit = coming.isEmpty() ? head : Math.min(head, coming.firstKey() - 1);
        long reached = pass(live, log, limit, true);
        if (reached == FORGOTTEN) {
            fallBehind(head);
            return true;
        }
        live.told(reached);
        admitComing();
        return reached > before && reached < head;
    }

    /**
     * Takes the lowest that can be taken on by one batch, and the one nearest to the present: who fell behind a little must
     * not wait for who begins far back. Returns whether there was one.
     */
    boolean stepBehind(CatchUps catchUps) {
        boolean stepped = false;
        for (Map.Entry<Long, Cohort> next = behind.firstEntry();
                next != null && !stepped;
                next = behind.higherEntry(next.getKey())) {
            stepped = stepBehind(next.getValue(), catchUps);
        }
        Map.Entry<Long, Cohort> nearest = behind.lastEntry();
        if (nearest != null && stepped) {
            boolean unused = stepBehind(nearest.getValue(), catchUps);
        }
        return stepped;
    }

    private boolean stepBehind(Cohort cohort, CatchUps catchUps) {
        long told = cohort.told();
        CommitLog source = covers(log, told) ? log : catchUps.covering(told);
        if (source == null) {
            boolean gone = told + 1 < catchUps.compactRevision();
            if (gone) {
                compacted(cohort, catchUps.compactRevision());
            }
            return gone;
        }
        takeUp(cohort);
        Long higher = behind.higherKey(told);
        long limit = Math.min(source.head(), higher == null ? live.told() : Math.min(higher, live.told()));
        long reached = limit <= told ? told : pass(cohort, source, limit, false);
        if (reached > told) {
            behind.remove(told);
            cohort.told(reached);
            settle(cohort);
            return true;
        }
        return false;
    }

    /** Has those that are little ahead go on with the cohort: thousands who each resume elsewhere make one. */
    private void takeUp(Cohort cohort) {
        long told = cohort.told();
        Long next = behind.higherKey(told);
        while (next != null && next <= told + MAX_COMMITS) {
            Cohort ahead = behind.remove(next);
            cohort.merge(ahead);
            next = behind.higherKey(told);
        }
    }

    /** Adds how far those cohorts were told that the log has nothing for any more. */
    void addForgotten(List<CatchUps.Want> wants) {
        for (Cohort cohort : behind.values()) {
            if (!covers(log, cohort.told())) {
                wants.add(new CatchUps.Want(cohort.told(), previous));
            }
        }
    }

    private static boolean covers(CommitLog log, long told) {
        long from = log.from();
        return from != CommitLog.NONE && from <= told;
    }

    private void place(Watcher watcher, long told) {
        watcher.told = told;
        if (told >= live.told()) {
            live.add(watcher);
        } else {
            behind.computeIfAbsent(told, Cohort::new).add(watcher);
            hub.wake();
        }
    }

    private void settle(Cohort cohort) {
        if (cohort.size() == 0) {
            return;
        }
        if (cohort.told() == live.told()) {
            live = united(cohort, live);
            return;
        }
        Cohort there = behind.get(cohort.told());
        behind.put(cohort.told(), there == null ? cohort : united(cohort, there));
    }

    private static Cohort united(Cohort one, Cohort other) {
        Cohort larger = one.size() > other.size() ? one : other;
        larger.merge(larger == one ? other : one);
        return larger;
    }

    private void leave(Watcher watcher) {
        Audience audience = watcher.audience;
        if (audience == null) {
            throw new IllegalStateException("a watcher that is told, and in no cohort");
        }
        Cohort cohort = audience.cohort();
        cohort.remove(watcher);
        if (cohort.size() == 0 && cohort != live) {
            behind.remove(cohort.told(), cohort);
        }
    }

    private void admitComing() {
        while (!coming.isEmpty() && coming.firstKey() <= live.told() + 1) {
            Map.Entry<Long, Set<Watcher>> first = coming.pollFirstEntry();
            for (Watcher watcher : first.getValue()) {
                early--;
                place(watcher, first.getKey() - 1);
            }
        }
    }

    /** The log begins after what they were told last. */
    private void fallBehind(long head) {
        Cohort late = live;
        live = new Cohort(head);
        settle(late);
        admitComing();
    }

    /** Ends those who miss something; others of the cohort may be ahead of it, and miss nothing. */
    private void compacted(Cohort cohort, long compactRevision) {
        behind.remove(cohort.told(), cohort);
        cohort.forEach(watcher -> {
            cohort.remove(watcher);
            if (watcher.told + 1 >= compactRevision) {
                place(watcher, watcher.told);
            } else {
                watcher.state(Watcher.State.OVER);
                size--;
                hub.compacted();
                watcher.listener().compacted(compactRevision);
            }
        });
    }

    /**
     * Goes through commits for a cohort, up to {@code limit} or until a batch is full, and tells its watchers.
     *
     * @return how far it came; where it stood, if the next commit has to learn something first
     */
    private long pass(Cohort cohort, CommitLog from, long limit, boolean isLive) {
        if (cohort.size() == 0) {
            return limit;
        }
        List<Audience> concerned = new ArrayList<>();
        try {
            return pass(cohort, from, limit, isLive, concerned);
        } finally {
            // Whatever happens: what is left of one batch must not get into the next.
            concerned.forEach(Audience::take);
        }
    }

    private long pass(Cohort cohort, CommitLog from, long limit, boolean isLive, List<Audience> concerned) {
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
        if (!covers(from, cohort.told())) {
            return FORGOTTEN;
        }
        if (!concerned.isEmpty() && first != null) {
            tell(concerned, isLive ? last : Math.max(at, live.told()), cohort.told());
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
            if (!isNew(change)) {
                cohort.index()
                        .forEach(
                                change.key(),
                                audience -> any[0] |= audience.wish().includes(change));
                if (any[0]) {
                    return true;
                }
            }
        }
        return false;
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
                    tell(watcher, watcher.told > told ? batch.after(watcher.told) : batch);
                }
            }
        }
    }

    private void tell(Watcher watcher, @Nullable EventBatch batch) {
        if (batch == null) {
            return;
        }
        try {
            if (watcher.listener().ready()) {
                watcher.listener().events(batch);
                hub.delivered(batch.events().size());
            } else {
                park(watcher);
            }
        } catch (RuntimeException | Error e) {
            // It may have missed this, so it gets nothing more; the others are not to suffer for it.
            cancel(watcher);
            hub.failed(watcher, e);
        }
    }

    private void park(Watcher watcher) {
        leave(watcher);
        watcher.state(Watcher.State.PARKED);
        parked++;
        hub.slow();
    }
}
