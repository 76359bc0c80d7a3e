package io.understudy.gateway.hub;

import io.understudy.gateway.replica.Entry;
import org.jspecify.annotations.Nullable;

/**
 * A change as a watcher is told of it.
 *
 * @param entry the key as it is now; of a deleted one only key and mod revision
 * @param previous as it was before, if that was asked for and is known
 */
public record WatchEvent(Entry entry, @Nullable Entry previous) {

    /** About its encoding's. */
    long bytes() {
        return (long) entry.wireSize() + (previous == null ? 0 : previous.wireSize());
    }

    public boolean isDelete() {
        return entry.isDeleted();
    }
}
