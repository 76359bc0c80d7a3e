package io.understudy.gateway.hub;

import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The watchers of a cohort with the same filter; they share their batches. */
final class FilterGroup {

    /** The filter that the watchers share. */
    record WatchFilter(KeyRange range, boolean noPuts, boolean noDeletes) {
        static WatchFilter of(WatchSpec spec) {
            return new WatchFilter(spec.range(), spec.noPuts(), spec.noDeletes());
        }

        boolean includes(Entry change) {
            return change.isDeleted() ? !noDeletes : !noPuts;
        }
    }

    private final Cohort cohort;
    private final WatchFilter filter;
    private final ArrayList<Watcher> watchers = new ArrayList<>(1);
    /** Events for them of the current pass. */
    private @Nullable List<WatchEvent> collected;

    FilterGroup(Cohort cohort, WatchFilter filter) {
        this.cohort = cohort;
        this.filter = filter;
    }

    Cohort cohort() {
        return cohort;
    }

    WatchFilter filter() {
        return filter;
    }

    int size() {
        return watchers.size();
    }

    Watcher get(int place) {
        return watchers.get(place);
    }

    /** Passes the watchers that have not received that revision to {@code each}. Others may be ahead of the cohort. */
    void forEachBefore(long revision, Consumer<Watcher> each) {
        for (Watcher watcher : watchers) {
            if (watcher.delivered < revision) {
                each.accept(watcher);
            }
        }
    }

    /** Whether a watcher has not received that revision. */
    boolean isBefore(long revision) {
        return watchers.stream().anyMatch(watcher -> watcher.delivered < revision);
    }

    void add(Watcher watcher) {
        watcher.filterGroup = this;
        watcher.place = watchers.size();
        watchers.add(watcher);
    }

    void remove(Watcher watcher) {
        Watcher last = watchers.remove(watchers.size() - 1);
        if (last != watcher) {
            watchers.set(watcher.place, last);
            last.place = watcher.place;
        }
        watcher.filterGroup = null;
    }

    /** Adds an event; returns whether it is the first one since {@link #take}. */
    boolean collect(WatchEvent event) {
        if (collected != null) {
            collected.add(event);
            return false;
        }
        collected = new ArrayList<>(1);
        collected.add(event);
        return true;
    }

    /** Returns and clears the collected events. */
    List<WatchEvent> take() {
        List<WatchEvent> taken = collected == null ? List.of() : collected;
        collected = null;
        return taken;
    }
}
