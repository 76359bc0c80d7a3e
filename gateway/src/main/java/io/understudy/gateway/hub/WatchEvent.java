package io.understudy.gateway.hub;

import io.understudy.gateway.replica.Entry;
import org.jspecify.annotations.Nullable;

/**
 * A change as watchers receive it.
 *
 * @param entry the changed key; of a deleted one only key and mod revision
 * @param previous the entry before the change, if requested and available
 */
public record WatchEvent(Entry entry, @Nullable Entry previous) {

    /** The approximate size of its encoding. */
    long bytes() {
        return (long) entry.wireSize() + (previous == null ? 0 : previous.wireSize());
    }

    public boolean isDelete() {
        return entry.isDeleted();
    }
}
