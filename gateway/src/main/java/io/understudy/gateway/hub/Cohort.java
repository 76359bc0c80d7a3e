package io.understudy.gateway.hub;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Watchers that go through commits together, though some may have been told of the next ones already. */
final class Cohort {

    private final Map<Audience.Wish, Audience> audiences = new HashMap<>();
    private final RangeIndex<Audience> index = new RangeIndex<>();
    private long told;
    /** Some may have been told of commits up to this revision. */
    private long furthest;

    private int size;

    /** @param told of all commits up to this revision */
    Cohort(long told) {
        this.told = told;
    }

    /** All of them were told of all commits up to this revision. */
    long told() {
        return told;
    }

    void told(long revision) {
        told = revision;
    }

    int size() {
        return size;
    }

    void add(Watcher watcher) {
        Audience.Wish wish = Audience.Wish.of(watcher.spec());
        Audience audience = audiences.get(wish);
        if (audience == null) {
            audience = new Audience(this, wish);
            audiences.put(wish, audience);
            index.add(wish.range(), audience);
        }
        audience.add(watcher);
        watcher.state(Watcher.State.TOLD);
        size++;
    }

    void remove(Watcher watcher) {
        Audience audience = watcher.audience;
        if (audience == null || audience.cohort() != this) {
            throw new IllegalStateException("watcher is not in this cohort");
        }
        audience.remove(watcher);
        watcher.told = Math.max(watcher.told, told);
        size--;
        if (audience.size() == 0) {
            audiences.remove(audience.wish());
            index.remove(audience.wish().range(), audience);
        }
    }

    /** Whether some may have been told of the next commits already. */
    boolean isUneven() {
        return furthest > told;
    }

    /** Takes all of another, which has come at least as far. */
    void merge(Cohort other) {
        furthest = Math.max(furthest, Math.max(other.told, other.furthest));
        for (Audience audience : other.audiences.values()) {
            for (int i = 0; i < audience.size(); i++) {
                Watcher watcher = audience.get(i);
                watcher.told = Math.max(watcher.told, other.told);
                add(watcher);
            }
        }
    }

    /** Has {@code each} take every watcher. */
    void forEach(Consumer<Watcher> each) {
        for (Audience audience : audiences.values().toArray(new Audience[0])) {
            for (int i = audience.size() - 1; i >= 0; i--) {
                each.accept(audience.get(i));
            }
        }
    }

    /** The audiences that a key concerns. */
    RangeIndex<Audience> index() {
        return index;
    }
}
