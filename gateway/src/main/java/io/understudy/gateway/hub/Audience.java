package io.understudy.gateway.hub;

import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The watchers of a cohort that wish for the same: what they are told is made once. */
final class Audience {

    /** What they have in common. */
    record Wish(KeyRange range, boolean noPuts, boolean noDeletes) {
        static Wish of(WatchSpec spec) {
            return new Wish(spec.range(), spec.noPuts(), spec.noDeletes());
        }

        boolean includes(Entry change) {
            return change.isDeleted() ? !noDeletes : !noPuts;
        }
    }

    private final Cohort cohort;
    private final Wish wish;
    private final ArrayList<Watcher> watchers = new ArrayList<>(1);
    /** For them, of the commits that are gone through. */
    private @Nullable List<WatchEvent> collected;

    Audience(Cohort cohort, Wish wish) {
        this.cohort = cohort;
        this.wish = wish;
    }

    Cohort cohort() {
        return cohort;
    }

    Wish wish() {
        return wish;
    }

    int size() {
        return watchers.size();
    }

    Watcher get(int place) {
        return watchers.get(place);
    }

    void add(Watcher watcher) {
        watcher.audience = this;
        watcher.place = watchers.size();
        watchers.add(watcher);
    }

    void remove(Watcher watcher) {
        Watcher last = watchers.remove(watchers.size() - 1);
        if (last != watcher) {
            watchers.set(watcher.place, last);
            last.place = watcher.place;
        }
        watcher.audience = null;
    }

    /** Returns whether it is the first one since {@link #take}. */
    boolean collect(WatchEvent event) {
        if (collected != null) {
            collected.add(event);
            return false;
        }
        collected = new ArrayList<>(1);
        collected.add(event);
        return true;
    }

    /** What was collected. */
    List<WatchEvent> take() {
        List<WatchEvent> taken = collected == null ? List.of() : collected;
        collected = null;
        return taken;
    }
}
