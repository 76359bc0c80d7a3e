package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Compares a page of the source with the target's range and returns the differences. Both are in key order.
 *
 * <p>Invariant M20: a merged snapshot writes only differences and leaves no key that the source lacks.
 */
final class PageMerge {

    /** A difference of one key. */
    sealed interface Difference {
        /**
         * The target lacks the entry, or has another value or lease.
         *
         * @param recreated whether the target's key must be deleted first, so that the mirror creates it
         */
        record Missing(KeyValue entry, boolean recreated) implements Difference {}

        /** The target holds a key that it should not. */
        record Surplus(ByteString key) implements Difference {}
    }

    private final List<KeyValue> entries;
    private final ForeignKeys onForeignKeys;
    private final boolean leased;
    private final long foreignBefore;

    private int nextEntry;
    private @Nullable ByteString end;
    private Iterator<io.etcd.jetcd.api.KeyValue> held = Collections.emptyIterator();
    private io.etcd.jetcd.api.@Nullable KeyValue nextHeld;

    /**
     * @param entries the source's, in key order
     * @param leased whether entries have their leases in the target
     * @param foreignBefore target keys with an earlier create revision existed before the first synchronisation
     */
    PageMerge(List<KeyValue> entries, ForeignKeys onForeignKeys, boolean leased, long foreignBefore) {
        this.leased = leased;
        this.entries = entries;
        this.onForeignKeys = onForeignKeys;
        this.foreignBefore = foreignBefore;
    }

    /** Enters the next part of the page's range; skips the source's entries before it. */
    void enter(KeyRange part, Iterator<io.etcd.jetcd.api.KeyValue> target) {
        while (nextEntry < entries.size()
                && KeyRange.KEY_ORDER.compare(entries.get(nextEntry).key(), part.from()) < 0) {
            nextEntry++;
        }
        end = part.to();
        held = target;
        nextHeld = null;
    }

    /** Returns the next difference; null if the rest of this part is equal. */
    @Nullable Difference next() {
        while (true) {
            io.etcd.jetcd.api.KeyValue there = peekHeld();
            KeyValue entry = peekEntry();
            if (there == null && entry == null) {
                return null;
            }
            int order =
                    entry == null ? 1 : there == null ? -1 : KeyRange.KEY_ORDER.compare(entry.key(), there.getKey());
            if (entry != null && order < 0) {
                nextEntry++;
                return new Difference.Missing(entry, false);
            }
            if (there == null) {
                throw new IllegalStateException("neither side has a next key");
            }
            nextHeld = null;
            if (entry != null && order == 0) {
                nextEntry++;
                if (!isEqual(entry, there) || mustBecomeOurs(there)) {
                    return new Difference.Missing(entry, mustBecomeOurs(there));
                }
            } else if (!isForeign(there) || onForeignKeys == ForeignKeys.DELETE) {
                return new Difference.Surplus(there.getKey());
            } else if (onForeignKeys == ForeignKeys.FAIL) {
                throw new SinkException.Refused(
                        "the target has a key that existed before the first sync and is not in the"
                                + " source: \"" + TextFormat.escapeBytes(there.getKey())
                                + "\". Set onForeignKeys to delete or keep to allow this");
            }
        }
    }

    private boolean isEqual(KeyValue entry, io.etcd.jetcd.api.KeyValue there) {
        return entry.value().equals(there.getValue()) && there.getLease() == (leased ? entry.lease() : 0);
    }

    private boolean isForeign(io.etcd.jetcd.api.KeyValue there) {
        // Not by the last write: its owner may continue to write it.
        return there.getCreateRevision() < foreignBefore;
    }

    /** Whether an equal foreign key must be recreated, so that it is not kept later. */
    private boolean mustBecomeOurs(io.etcd.jetcd.api.KeyValue there) {
        return isForeign(there) && onForeignKeys == ForeignKeys.KEEP;
    }

    private @Nullable KeyValue peekEntry() {
        if (nextEntry == entries.size()) {
            return null;
        }
        KeyValue entry = entries.get(nextEntry);
        return end == null || KeyRange.KEY_ORDER.compare(entry.key(), end) < 0 ? entry : null;
    }

    private io.etcd.jetcd.api.@Nullable KeyValue peekHeld() {
        if (nextHeld == null && held.hasNext()) {
            nextHeld = held.next();
        }
        return nextHeld;
    }
}
