package io.understudy.gateway.hub;

import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.LoggedCommit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The watchers of one event loop with, or without, previous entries. Reading those must not delay the others.
 *
 * <p>Each cohort passes each commit once. One cohort is live, at the log's head; those behind advance from the lowest
 * on, and merge with the next when they reach it.
 */
final class WatcherGroup {

    /** A client with a small flow-control window is unready after each batch, for a round trip. */
    private static final long AWAITED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LoopHub hub;
    private final boolean previous;
    private final CommitLog log;
    /** By revision. Thread-safe, since readings of history look for the lowest. */
    private final ConcurrentSkipListMap<Long, Cohort> behind = new ConcurrentSkipListMap<>();

    private final TreeMap<Long, Set<Watcher>> coming = new TreeMap<>();
    private final Pass pass;
    private Cohort live;
    private final Set<Watcher> parked = new HashSet<>();
    /** Revisions of watchers parked lately, with the time until which their reading waits for them. Thread-safe. */
    private final ConcurrentSkipListMap<Long, Long> awaitedUntilNanos = new ConcurrentSkipListMap<>();

    private int early;
    /** The number of watchers that have not ended. */
    private int size;

    WatcherGroup(LoopHub hub, CommitLog log, boolean previous) {
        this.hub = hub;
        this.log = log;
        this.previous = previous;
        this.pass = new Pass(this, hub, previous);
        this.live = new Cohort(log.head());
    }

    /** The revision up to which its live watchers have received all events. */
    long revision() {
        return live.revision();
    }

    boolean isLive(Watcher watcher) {
        return watcher.filterGroup != null && watcher.filterGroup.cohort() == live;
    }

    int live() {
        return live.size();
    }

    int parked() {
        return parked.size();
    }

    int behind() {
        return size - live.size() - parked.size() - early;
    }

    int coming() {
        return early;
    }

    void add(Watcher watcher) {
        long start = watcher.spec().startRevision();
        size++;
        if (start > live.revision() + 1) {
            early++;
            coming.computeIfAbsent(start, revision -> new LinkedHashSet<>()).add(watcher);
            if (start <= log.former() + 1) {
                hub.wake();
            }
        } else {
            place(watcher, start == 0 ? live.revision() : start - 1);
        }
    }

    void resume(Watcher watcher) {
        // Not during a delivery to its cohort, which would skip it.
        hub.afterwards(() -> {
            if (watcher.state() == Watcher.State.PARKED) {
                parked.remove(watcher);
                place(watcher, watcher.delivered);
                awaitedUntilNanos.remove(watcher.delivered);
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
            case ACTIVE -> leave(watcher);
            case PARKED -> parked.remove(watcher);
            case COMPACTED -> {
                watcher.state(Watcher.State.OVER);
                hub.left();
                return;
            }
            case OVER -> {
                return;
            }
        }
        watcher.state(Watcher.State.OVER);
        size--;
        hub.left();
    }

    /** Advances the live watchers by one batch at most. Returns whether more can be delivered at once. */
    boolean stepLive() {
        long head = log.head();
        if (head == CommitLog.NONE) {
            return false;
        }
        if (live.revision() == CommitLog.NONE) {
            live.advance(head);
        }
        admitComing();
        endAmbiguous();
        long before = live.revision();
        if (before >= head) {
            return false;
        }
        endMoved(live);
        long limit = coming.isEmpty() ? head : Math.min(head, coming.firstKey() - 1);
        long reached = pass.run(live, log, limit, true);
        if (reached == Pass.FORGOTTEN) {
            fallBehind(head);
            return true;
        }
        live.advance(reached);
        admitComing();
        return reached > before && reached < head;
    }

    /**
     * Advances the lowest cohort that can, and the one nearest to the head. So a short lag does not wait for a long
     * one. One batch each. Returns whether there was one.
     */
    boolean stepBehind(CatchUps catchUps) {
        boolean stepped = false;
        Map.Entry<Long, Cohort> next = behind.firstEntry();
        while (next != null && !stepped) {
            stepped = stepBehind(next.getValue(), catchUps);
            // Thousands may wait for the same reading.
            next = behind.ceilingEntry(catchUps.nextKnown(next.getKey(), previous));
        }
        Map.Entry<Long, Cohort> nearest = behind.lastEntry();
        if (nearest != null && stepped) {
            boolean unused = stepBehind(nearest.getValue(), catchUps);
        }
        return stepped;
    }

    private boolean stepBehind(Cohort cohort, CatchUps catchUps) {
        long revision = cohort.revision();
        CommitLog source = log.isReadable(revision) ? log : catchUps.covering(revision, previous);
        if (source == null) {
            CatchUps.Compacted compacted = catchUps.compacted(revision, previous);
            boolean gone = compacted.concerns(revision);
            if (gone) {
                compacted(cohort, compacted);
            }
            return gone;
        }
        takeUp(cohort);
        endMoved(cohort);
        Long higher = behind.higherKey(revision);
        long limit = Math.min(source.head(), higher == null ? live.revision() : Math.min(higher, live.revision()));
        long reached = limit <= revision ? revision : pass.run(cohort, source, limit, false);
        if (reached > revision) {
            cohort.advance(reached);
            settle(cohort);
            // Last, since a reading drops what is before the lowest.
            boolean unused = behind.remove(revision, cohort);
            return true;
        }
        return false;
    }

    /** Merges the cohorts that are a little ahead: thousands of resume points become one. */
    private void takeUp(Cohort cohort) {
        long revision = cohort.revision();
        Long next = behind.higherKey(revision);
        while (next != null && next <= revision + Pass.MAX_COMMITS) {
            Cohort ahead = behind.remove(next);
            cohort.merge(ahead);
            next = behind.higherKey(revision);
        }
    }

    /**
     * Returns the lowest revision from that one on after which a cohort needs commits that the log has dropped, or a
     * watcher will that is parked for a moment; null if there is none. Thread-safe.
     */
    @Nullable Long wanted(long from) {
        Long lowest = behind.ceilingKey(from);
        Map.Entry<Long, Long> awaited = awaitedUntilNanos.ceilingEntry(from);
        while (awaited != null && awaited.getValue() - System.nanoTime() < 0) {
            boolean unused = awaitedUntilNanos.remove(awaited.getKey(), awaited.getValue());
            awaited = awaitedUntilNanos.ceilingEntry(from);
        }
        if (awaited != null && (lowest == null || awaited.getKey() < lowest)) {
            lowest = awaited.getKey();
        }
        return lowest == null || log.isReadable(lowest) ? null : lowest;
    }

    private void place(Watcher watcher, long revision) {
        watcher.delivered = revision;
        if (revision >= live.revision()) {
            live.add(watcher);
        } else {
            behind.computeIfAbsent(revision, Cohort::new).add(watcher);
            hub.wake();
        }
    }

    private void settle(Cohort cohort) {
        if (cohort.size() == 0) {
            return;
        }
        if (cohort.revision() == live.revision()) {
            live = united(cohort, live);
            return;
        }
        Cohort there = behind.get(cohort.revision());
        behind.put(cohort.revision(), there == null ? cohort : united(cohort, there));
    }

    private static Cohort united(Cohort one, Cohort other) {
        Cohort larger = one.size() > other.size() ? one : other;
        larger.merge(larger == one ? other : one);
        return larger;
    }

    private void leave(Watcher watcher) {
        FilterGroup filterGroup = watcher.filterGroup;
        if (filterGroup == null) {
            throw new IllegalStateException("watcher is in no cohort");
        }
        Cohort cohort = filterGroup.cohort();
        cohort.remove(watcher);
        if (cohort.size() == 0 && cohort != live) {
            behind.remove(cohort.revision(), cohort);
        }
    }

    private void admitComing() {
        while (!coming.isEmpty() && coming.firstKey() <= live.revision() + 1) {
            Map.Entry<Long, Set<Watcher>> first = coming.pollFirstEntry();
            for (Watcher watcher : first.getValue()) {
                early--;
                place(watcher, first.getKey() - 1);
            }
        }
    }

    /** Ends watchers of a future revision from before a restart, as they would miss commits. */
    private void endAmbiguous() {
        while (!coming.isEmpty() && coming.firstKey() <= log.former() + 1) {
            Set<Watcher> first = coming.pollFirstEntry().getValue();
            early -= first.size();
            end(first, revision() + 1);
        }
    }

    /** Ends watchers of keys that differ since a move of the primary. Others of the cohort continue. */
    private void endMoved(Cohort cohort) {
        long movedAt = log.movedAt();
        if (cohort.revision() < movedAt) {
            forEachActive(cohort.watchers(), watcher -> {
                // Some may be ahead of the cohort.
                if (!log.continues(watcher.spec().range(), Math.max(watcher.delivered, cohort.revision()))) {
                    cohort.remove(watcher);
                    end(watcher, movedAt + 1);
                }
            });
        }
    }

    /** Ends all watchers: the following commits have other revisions. */
    void restart(long compactRevision) {
        List<Watcher> all = new ArrayList<>(parked);
        all.addAll(live.watchers());
        behind.values().forEach(cohort -> all.addAll(cohort.watchers()));
        coming.values().forEach(all::addAll);
        parked.clear();
        awaitedUntilNanos.clear();
        behind.clear();
        coming.clear();
        early = 0;
        live = new Cohort(CommitLog.NONE);
        all.forEach(watcher -> watcher.filterGroup = null);
        end(all, compactRevision);
    }

    /** Moves the live cohort behind, as the log has dropped its next commits. */
    private void fallBehind(long head) {
        Cohort late = live;
        live = new Cohort(head);
        settle(late);
        admitComing();
    }

    /** Ends the watchers that need compacted commits. Others of the cohort may be ahead of the gap. */
    private void compacted(Cohort cohort, CatchUps.Compacted found) {
        behind.remove(cohort.revision(), cohort);
        forEachActive(cohort.watchers(), watcher -> {
            cohort.remove(watcher);
            if (watcher.delivered + 1 >= found.next()) {
                place(watcher, watcher.delivered);
            } else if (found.refusal() == null) {
                end(watcher, found.next());
            } else {
                watcher.state(Watcher.State.OVER);
                size--;
                hub.left();
                refused(watcher, "cannot read the history: " + found.refusal());
            }
        });
    }

    /** Ends the watchers that need previous entries of a commit, which the source rejects or which are too large. */
    void unreadable(LoggedCommit commit, Throwable why) {
        Set<Watcher> ended = new LinkedHashSet<>();
        long revision = commit.revision().value();
        List<Cohort> cohorts = new ArrayList<>(behind.headMap(revision).values());
        if (revision() < revision) {
            cohorts.add(live);
        }
        for (Cohort cohort : cohorts) {
            Pass.forEachThatNeedsPrevious(cohort, commit, filterGroup -> {
                filterGroup.forEachBefore(revision, ended::add);
            });
        }
        if (why instanceof CommitHistory.CompactedException) {
            compacted(ended, revision + 1);
        } else {
            forEachActive(ended, watcher -> {
                cancel(watcher);
                refused(watcher, "cannot read previous values of revision " + revision + ": " + why.getMessage());
            });
        }
    }

    /** Ends the watchers of a filter group that have not received a revision, as if it was compacted. */
    void compacted(FilterGroup filterGroup, long revision) {
        Set<Watcher> ended = new LinkedHashSet<>();
        filterGroup.forEachBefore(revision, ended::add);
        compacted(ended, revision + 1);
    }

    private void compacted(Set<Watcher> ended, long compactRevision) {
        forEachActive(ended, watcher -> {
            leave(watcher);
            end(watcher, compactRevision);
        });
    }

    private static void forEachActive(Collection<Watcher> watchers, Consumer<Watcher> each) {
        for (Watcher watcher : watchers) {
            // Another's listener may have cancelled it.
            if (watcher.state() == Watcher.State.ACTIVE) {
                each.accept(watcher);
            }
        }
    }

    /** Ends a watcher that is in no cohort, with a reason. */
    private void refused(Watcher watcher, String why) {
        try {
            watcher.listener().unreadable(why);
        } catch (RuntimeException | Error e) {
            hub.failed(watcher, e);
        }
    }

    private void end(Watcher watcher, long compactRevision) {
        end(List.of(watcher), compactRevision);
    }

    /** Ends watchers that are in no cohort as compacted. The listener of one may cancel others. */
    private void end(Collection<Watcher> watchers, long compactRevision) {
        watchers.forEach(watcher -> watcher.state(Watcher.State.COMPACTED));
        size -= watchers.size();
        for (Watcher watcher : watchers) {
            if (watcher.state() == Watcher.State.COMPACTED) {
                hub.compacted();
                try {
                    watcher.listener().compacted(compactRevision);
                } catch (RuntimeException | Error e) {
                    hub.failed(watcher, e);
                }
            }
        }
    }

    /** Delivers a batch, or parks the watcher if its client reads nothing. */
    void deliver(Watcher watcher, EventBatch batch) {
        try {
            if (watcher.listener().ready()) {
                watcher.listener().events(batch);
                hub.delivered(batch.events().size());
            } else {
                park(watcher);
            }
        } catch (RuntimeException | Error e) {
            // It may have missed this batch, so it is cancelled; the others continue.
            cancel(watcher);
            hub.failed(watcher, e);
        }
    }

    private void park(Watcher watcher) {
        long reached = Objects.requireNonNull(watcher.filterGroup).cohort().revision();
        // Before it leaves, as its reading may end otherwise.
        awaitedUntilNanos.put(Math.max(watcher.delivered, reached), System.nanoTime() + AWAITED_NANOS);
        leave(watcher);
        watcher.state(Watcher.State.PARKED);
        parked.add(watcher);
        hub.slow();
    }
}
