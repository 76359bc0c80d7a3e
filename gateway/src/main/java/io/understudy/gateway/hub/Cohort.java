package io.understudy.gateway.hub;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Watchers that advance through the commits together; some may be ahead of the cohort. */
final class Cohort {

    private final Map<FilterGroup.WatchFilter, FilterGroup> filterGroups = new HashMap<>();
    private final RangeIndex<FilterGroup> index = new RangeIndex<>();
    private long revision;
    /** The highest revision that a watcher may have received. */
    private long furthest;

    private int size;

    /** @param revision up to which all commits were delivered */
    Cohort(long revision) {
        this.revision = revision;
    }

    /** The revision up to which all commits were delivered to all of them. */
    long revision() {
        return revision;
    }

    void advance(long to) {
        revision = to;
    }

    int size() {
        return size;
    }

    void add(Watcher watcher) {
        FilterGroup.WatchFilter filter = FilterGroup.WatchFilter.of(watcher.spec());
        FilterGroup filterGroup = filterGroups.get(filter);
        if (filterGroup == null) {
            filterGroup = new FilterGroup(this, filter);
            filterGroups.put(filter, filterGroup);
            index.add(filter.range(), filterGroup);
        }
        filterGroup.add(watcher);
        watcher.state(Watcher.State.ACTIVE);
        size++;
    }

    void remove(Watcher watcher) {
        FilterGroup filterGroup = watcher.filterGroup;
        if (filterGroup == null || filterGroup.cohort() != this) {
            throw new IllegalStateException("watcher is not in this cohort");
        }
        filterGroup.remove(watcher);
        watcher.delivered = Math.max(watcher.delivered, revision);
        size--;
        if (filterGroup.size() == 0) {
            filterGroups.remove(filterGroup.filter());
            index.remove(filterGroup.filter().range(), filterGroup);
        }
    }

    /** Whether some watchers may be ahead of the cohort. */
    boolean isUneven() {
        return furthest > revision;
    }

    /** Moves all watchers of another cohort, which is not behind, into this one. */
    void merge(Cohort other) {
        furthest = Math.max(furthest, Math.max(other.revision, other.furthest));
        for (FilterGroup filterGroup : other.filterGroups.values()) {
            for (int i = 0; i < filterGroup.size(); i++) {
                Watcher watcher = filterGroup.get(i);
                watcher.delivered = Math.max(watcher.delivered, other.revision);
                add(watcher);
            }
        }
    }

    /** Passes every watcher to {@code each}. */
    void forEach(Consumer<Watcher> each) {
        for (FilterGroup filterGroup : filterGroups.values().toArray(new FilterGroup[0])) {
            for (int i = filterGroup.size() - 1; i >= 0; i--) {
                each.accept(filterGroup.get(i));
            }
        }
    }

    /** The filter groups by their ranges. */
    RangeIndex<FilterGroup> index() {
        return index;
    }
}
