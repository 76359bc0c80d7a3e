package io.understudy.gateway.replica;

import static io.understudy.vocabulary.KeyRange.KEY_ORDER;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.EntryTree.Edits;
import io.understudy.gateway.replica.Heap.Widths;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyRange;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;

/** The structures that the benchmark compares. */
final class Candidates {

    private Candidates() {}

    /** By name: {@code tree-WIDTH}, {@code chunks-WIDTH}, {@code pcollections}. */
    static Candidate of(String name, List<Entry> entries) {
        int dash = name.indexOf('-');
        int width = dash < 0 ? 0 : Integer.parseInt(name.substring(dash + 1));
        return switch (dash < 0 ? name : name.substring(0, dash)) {
            case "tree" -> tree(new Widths(width), entries);
            case "chunks" -> Chunks.of(width, entries);
            case "pcollections" -> library(entries);
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Candidate tree(Widths widths, List<Entry> entries) {
        EntryTree.Builder builder = new EntryTree.Builder(widths);
        entries.forEach(builder::add);
        return new Tree(builder.build());
    }

    private static Candidate library(List<Entry> entries) {
        TreePMap<ByteString, byte[]> map = TreePMap.empty(KEY_ORDER);
        for (Entry entry : entries) {
            map = map.plus(entry.key(), entry.wire());
        }
        return new Library(map);
    }

    /** The replica's own structure. */
    private record Tree(EntryTree entries) implements Candidate {
        @Override
        public @Nullable Entry get(ByteString key) {
            return entries.get(key);
        }

        @Override
        public Candidate put(List<Change.Put> commit) {
            return new Tree(entries.apply(Edits.of(
                    commit.stream().map(put -> Entry.of(put.keyValue())).toList())));
        }

        @Override
        public int copy(ByteString from, int limit, byte[] out) {
            EntryCursor cursor = entries.cursor(KeyRange.fromKey(from));
            int size = 0;
            for (int i = 0; i < limit && cursor.hasNext(); i++) {
                size = append(cursor.next().wire(), out, size);
            }
            return size;
        }
    }

    /** A balanced binary tree from a library. */
    private record Library(TreePMap<ByteString, byte[]> map) implements Candidate {
        @Override
        public @Nullable Entry get(ByteString key) {
            byte[] wire = map.get(key);
            return wire == null ? null : new Entry(wire);
        }

        @Override
        public Candidate put(List<Change.Put> commit) {
            TreePMap<ByteString, byte[]> next = map;
            for (Change.Put put : commit) {
                next = next.plus(put.key(), Entry.of(put.keyValue()).wire());
            }
            return new Library(next);
        }

        @Override
        public int copy(ByteString from, int limit, byte[] out) {
            int size = 0;
            int copied = 0;
            for (byte[] wire : map.tailMap(from, true).values()) {
                size = append(wire, out, size);
                if (++copied == limit) {
                    break;
                }
            }
            return size;
        }
    }

    /** A sorted array of chunks, each of which has its entries' encodings in one piece of memory. */
    private static final class Chunks implements Candidate {

        private final Chunk[] chunks;

        private Chunks(Chunk[] chunks) {
            this.chunks = chunks;
        }

        private static final class Chunk {
            private final byte[] first;
            private final byte[] bytes;
            private final int[] ends;

            private Chunk(byte[] first, byte[] bytes, int[] ends) {
                this.first = first;
                this.bytes = bytes;
                this.ends = ends;
            }

            static Chunk of(List<Entry> entries) {
                int[] ends = new int[entries.size()];
                int size = 0;
                for (int i = 0; i < ends.length; i++) {
                    size += entries.get(i).wireSize();
                    ends[i] = size;
                }
                byte[] bytes = new byte[size];
                int at = 0;
                for (Entry entry : entries) {
                    at = append(entry.wire(), bytes, at);
                }
                return new Chunk(Entry.copyKey(entries.get(0).wire()), bytes, ends);
            }

            int begin(int index) {
                return index == 0 ? 0 : ends[index - 1];
            }

            /** Keys of the benchmark are shorter than 128 bytes. */
            int search(byte[] key) {
                int low = 0;
                int high = ends.length - 1;
                while (low <= high) {
                    int middle = (low + high) >>> 1;
                    int at = begin(middle);
                    int order = Arrays.compareUnsigned(bytes, at + 2, at + 2 + bytes[at + 1], key, 0, key.length);
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

            /** Replaces the value of an existing key. */
            Chunk with(int index, byte[] wire) {
                int grown = wire.length - (ends[index] - begin(index));
                byte[] next = new byte[bytes.length + grown];
                System.arraycopy(bytes, 0, next, 0, begin(index));
                System.arraycopy(wire, 0, next, begin(index), wire.length);
                System.arraycopy(bytes, ends[index], next, begin(index) + wire.length, bytes.length - ends[index]);
                int[] nextEnds = ends.clone();
                for (int i = index; i < ends.length; i++) {
                    nextEnds[i] += grown;
                }
                return new Chunk(first, next, nextEnds);
            }
        }

        static Chunks of(int width, List<Entry> entries) {
            Chunk[] chunks = new Chunk[(entries.size() + width - 1) / width];
            for (int i = 0; i < chunks.length; i++) {
                chunks[i] = Chunk.of(entries.subList(i * width, Math.min(entries.size(), (i + 1) * width)));
            }
            return new Chunks(chunks);
        }

        @Override
        public @Nullable Entry get(ByteString key) {
            byte[] bytes = key.toByteArray();
            Chunk chunk = chunks[chunkFor(bytes)];
            int at = chunk.search(bytes);
            return at < 0 ? null : new Entry(Arrays.copyOfRange(chunk.bytes, chunk.begin(at), chunk.ends[at]));
        }

        @Override
        public Candidate put(List<Change.Put> commit) {
            Chunk[] next = chunks.clone();
            for (Change.Put put : commit) {
                byte[] key = put.key().toByteArray();
                int at = chunkFor(key);
                byte[] wire = Entry.of(put.keyValue()).wire();
                next[at] = next[at].with(next[at].search(key), wire);
            }
            return new Chunks(next);
        }

        @Override
        public int copy(ByteString from, int limit, byte[] out) {
            byte[] bytes = from.toByteArray();
            int at = chunkFor(bytes);
            int found = chunks[at].search(bytes);
            int index = found < 0 ? -found - 1 : found;
            int size = 0;
            for (int left = limit; left > 0 && at < chunks.length; at++, index = 0) {
                Chunk chunk = chunks[at];
                int taken = Math.min(left, chunk.ends.length - index);
                int begin = chunk.begin(index);
                int length = chunk.begin(index + taken) - begin;
                System.arraycopy(chunk.bytes, begin, out, size, length);
                size += length;
                left -= taken;
            }
            return size;
        }

        private int chunkFor(byte[] key) {
            int low = 1;
            int high = chunks.length - 1;
            while (low <= high) {
                int middle = (low + high) >>> 1;
                if (Arrays.compareUnsigned(chunks[middle].first, key) <= 0) {
                    low = middle + 1;
                } else {
                    high = middle - 1;
                }
            }
            return low - 1;
        }
    }

    private static int append(byte[] wire, byte[] out, int at) {
        System.arraycopy(wire, 0, out, at, wire.length);
        return at + wire.length;
    }
}
