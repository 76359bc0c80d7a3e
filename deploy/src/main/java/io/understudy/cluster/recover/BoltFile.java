package io.understudy.cluster.recover;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Reads small buckets of a database file of bbolt, etcd's storage, that nobody writes to. It is a tree of pages; two of
 * them tell where the root is, and the one written last counts. Integers are in the order of the machine it was written
 * on, taken for little-endian here: another's file is none by its magic number. For one thread.
 */
final class BoltFile implements AutoCloseable {

    private static final int MAGIC = 0xED0CDAED;
    private static final int PAGE_HEADER = 16;
    private static final int CHECKED = 56;
    private static final int ELEMENT = 16;
    private static final int BRANCH_PAGE = 1;
    private static final int LEAF_PAGE = 2;
    private static final int BUCKET_HEADER = 16;

    private static final int SMALLEST_PAGE = 1 << 10;
    private static final int LARGEST_PAGE = 1 << 16;

    /** What is read here is far smaller, also where it takes several pages. */
    private static final long LARGEST_RUN = 16 << 20;

    private static final int DEEPEST = 32;

    private final FileChannel channel;
    private final Root root;

    /** @param transaction the one that wrote it */
    private record Root(int pageSize, long page, long transaction) {}

    private record Entry(boolean isBucket, String key, ByteBuffer value) {}

    private BoltFile(FileChannel channel, Root root) {
        this.channel = channel;
        this.root = root;
    }

    /** @throws IOException it can't be read, or is no such file */
    static BoltFile open(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            List<Root> roots = new ArrayList<>();
            root(channel, 0).ifPresent(roots::add);
            // The second is on the second page; how large one is it may have to tell itself.
            for (int size = SMALLEST_PAGE; size <= LARGEST_PAGE; size *= 2) {
                int expected = size;
                root(channel, size)
                        .filter(found -> found.pageSize() == expected)
                        .ifPresent(roots::add);
            }
            Root last = roots.stream()
                    .max(Comparator.comparingLong(Root::transaction))
                    .orElseThrow(() -> new IOException(file + " is not a bbolt database"));
            return new BoltFile(channel, last);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /**
     * The values of a bucket at the top, in the order of their keys; none if there is no such bucket.
     *
     * @throws IOException it can't be read, or is damaged
     */
    List<String> values(String bucket) throws IOException {
        try {
            for (Entry entry : entries(root.page())) {
                if (entry.isBucket() && entry.key().equals(bucket)) {
                    return within(entry.value()).stream()
                            .filter(each -> !each.isBucket())
                            .map(each -> text(each.value()))
                            .toList();
                }
            }
            return List.of();
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("damaged page on the path to bucket " + bucket, e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** Small buckets have no page of their own: theirs follows their header. */
    private List<Entry> within(ByteBuffer bucket) throws IOException {
        long page = bucket.getLong(0);
        if (page != 0) {
            return entries(page);
        }
        List<Entry> entries = new ArrayList<>();
        gather(part(bucket, BUCKET_HEADER, bucket.limit() - BUCKET_HEADER), DEEPEST, entries);
        return entries;
    }

    private List<Entry> entries(long page) throws IOException {
        List<Entry> entries = new ArrayList<>();
        gather(page(page), DEEPEST, entries);
        return entries;
    }

    private void gather(ByteBuffer page, int depth, List<Entry> into) throws IOException {
        int kind = Short.toUnsignedInt(page.getShort(8));
        int count = Short.toUnsignedInt(page.getShort(10));
        if (depth == 0 || (kind != BRANCH_PAGE && kind != LEAF_PAGE)) {
            throw new IOException("page " + page.getLong(0) + " is damaged");
        }
        for (int i = 0; i < count; i++) {
            int at = PAGE_HEADER + i * ELEMENT;
            if (kind == BRANCH_PAGE) {
                gather(page(page.getLong(at + 8)), depth - 1, into);
                continue;
            }
            int key = at + page.getInt(at + 4);
            int keyBytes = page.getInt(at + 8);
            into.add(new Entry(
                    page.getInt(at) == 1,
                    text(part(page, key, keyBytes)),
                    part(page, key + keyBytes, page.getInt(at + 12))));
        }
    }

    private ByteBuffer page(long number) throws IOException {
        long at = number * root.pageSize();
        long more = Integer.toUnsignedLong(read(channel, at, PAGE_HEADER).getInt(12));
        long bytes = (more + 1) * root.pageSize();
        if (bytes > LARGEST_RUN) {
            throw new IOException("page " + number + " is damaged or too large: " + bytes + " bytes");
        }
        return read(channel, at, (int) bytes);
    }

    private static Optional<Root> root(FileChannel channel, long at) throws IOException {
        if (channel.size() < at + PAGE_HEADER + CHECKED + Long.BYTES) {
            return Optional.empty();
        }
        ByteBuffer meta = read(channel, at + PAGE_HEADER, CHECKED + Long.BYTES);
        int pageSize = meta.getInt(8);
        return meta.getInt(0) == MAGIC
                        && meta.getLong(CHECKED) == checksum(meta)
                        && pageSize >= SMALLEST_PAGE
                        && pageSize <= LARGEST_PAGE
                ? Optional.of(new Root(pageSize, meta.getLong(16), meta.getLong(48)))
                : Optional.empty();
    }

    /** FNV-1a. */
    private static long checksum(ByteBuffer meta) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < CHECKED; i++) {
            hash = (hash ^ Byte.toUnsignedLong(meta.get(i))) * 0x100000001b3L;
        }
        return hash;
    }

    private static ByteBuffer read(FileChannel channel, long at, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, at + buffer.position()) < 0) {
                throw new EOFException("unexpected end of file: " + bytes + " bytes expected at offset " + at);
            }
        }
        return buffer.flip();
    }

    private static ByteBuffer part(ByteBuffer whole, int at, int bytes) {
        return whole.slice(at, bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes.duplicate()).toString();
    }
}
