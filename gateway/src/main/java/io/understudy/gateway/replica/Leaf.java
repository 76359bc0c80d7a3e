package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Entries in key order. */
final class Leaf implements Node {

    static final Leaf EMPTY = new Leaf(new Entry[0]);

    private final Entry[] entries;
    private final long bytes;

    /** Takes the array over. */
    Leaf(Entry[] entries) {
        this.entries = entries;
        long sum = 0;
        for (Entry entry : entries) {
            sum += entry.bytes();
        }
        this.bytes = sum;
    }

    Entry[] entries() {
        return entries;
    }

    @Override
    public int width() {
        return entries.length;
    }

    @Override
    public long count() {
        return entries.length;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public ByteString first() {
        return entries[0].key();
    }

    @Override
    public @Nullable Entry get(ByteString key) {
        int at = search(key);
        return at >= 0 ? entries[at] : null;
    }

    @Override
    public Node[] with(Entry entry) {
        int at = search(entry.key());
        if (at >= 0) {
            Entry[] changed = entries.clone();
            changed[at] = entry;
            return new Node[] {new Leaf(changed)};
        }
        int insertion = -at - 1;
        return split(Slices.replace(entries, insertion, insertion, new Entry[] {entry}));
    }

    @Override
    public Node without(ByteString key) {
        int at = search(key);
        return at < 0 ? this : new Leaf(Slices.replace(entries, at, at + 1, new Entry[0]));
    }

    @Override
    public long rank(ByteString key) {
        int at = search(key);
        return at >= 0 ? at : -at - 1;
    }

    @Override
    public boolean scan(@Nullable ByteString from, EntryVisitor visitor) {
        for (int at = from == null ? 0 : (int) rank(from); at < entries.length; at++) {
            if (!visitor.visit(entries[at])) {
                return false;
            }
        }
        return true;
    }

    /** One leaf, or two if that would be too wide. */
    static Node[] split(Entry[] entries) {
        if (entries.length <= MAX_WIDTH) {
            return new Node[] {new Leaf(entries)};
        }
        int half = entries.length / 2;
        return new Node[] {
            new Leaf(Arrays.copyOfRange(entries, 0, half)), new Leaf(Arrays.copyOfRange(entries, half, entries.length))
        };
    }

    /** Where the key is, or {@code -insertion - 1}. */
    private int search(ByteString key) {
        int low = 0;
        int high = entries.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = KeyRange.KEY_ORDER.compare(entries[middle].key(), key);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -low - 1;
    }
}
