package io.understudy.gateway.replica;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One commit's changes in key order, applied to a tree in one pass. Accounts for what the new tree no longer holds,
 * which a previous state retains. Used once.
 */
final class Edits {

    private final byte[][] keys;
    /** The new encoding, or null for a deleted key. */
    private final byte[] @Nullable [] wires;

    private long replacedBytes;

    private Edits(byte[][] keys, byte[] @Nullable [] wires) {
        this.keys = keys;
        this.wires = wires;
    }

    private static final class Edit {
        private final byte[] key;
        private final byte @Nullable [] wire;

        private Edit(Entry entry) {
            key = Entry.copyKey(entry.wire());
            wire = entry.isDeleted() ? null : entry.wire();
        }
    }

    /** The changes of one commit, with deletes; for each key the last one. */
    static Edits of(List<Entry> changes) {
        List<Edit> edits = new ArrayList<>(changes.size());
        for (Entry change : changes) {
            edits.add(new Edit(change));
        }
        edits.sort((a, b) -> Arrays.compareUnsigned(a.key, b.key));
        byte[][] keys = new byte[edits.size()][];
        byte[][] wires = new byte[edits.size()][];
        int size = 0;
        for (Edit edit : edits) {
            if (size > 0 && Arrays.equals(keys[size - 1], edit.key)) {
                size--;
            }
            keys[size] = edit.key;
            wires[size++] = edit.wire;
        }
        return size == keys.length
                ? new Edits(keys, wires)
                : new Edits(Arrays.copyOf(keys, size), Arrays.copyOf(wires, size));
    }

    int size() {
        return keys.length;
    }

    byte[] key(int index) {
        return keys[index];
    }

    byte @Nullable [] wire(int index) {
        return wires[index];
    }

    /** The first edit in {@code [from, to)} with a key not before {@code key}. */
    int lowerBound(int from, int to, byte[] key) {
        int low = from;
        int high = to;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Arrays.compareUnsigned(keys[middle], key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Accounts for bytes of the old tree that are not in the new one. */
    void replaced(long bytes) {
        replacedBytes += bytes;
    }

    /** The heap that only the old tree holds. */
    long replacedBytes() {
        return replacedBytes;
    }
}
