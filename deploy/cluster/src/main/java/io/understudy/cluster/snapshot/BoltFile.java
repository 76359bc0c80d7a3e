package io.understudy.cluster.snapshot;

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
 * Reads small buckets of a database file of bbolt while no process writes to it.
 *
 * <p>A bbolt file, etcd's storage, is a tree of pages with two meta pages, of which the later one has the root. Only
 * little-endian files are accepted, by the magic number. For one thread.
 */
public final class BoltFile implements AutoCloseable {

    private static final int MAGIC = 0xED0CDAED;
    private static final int PAGE_HEADER = 16;
    private static final int CHECKED = 56;
    private static final int ELEMENT = 16;
    private static final int BRANCH_PAGE = 1;
    private static final int LEAF_PAGE = 2;
    private static final int BUCKET_HEADER = 16;

    private static final int SMALLEST_PAGE = 1 << 10;
    private static final int LARGEST_PAGE = 1 << 16;

    /** Maximum page run: values have 1.5 MiB by default, large ones their own run. */
    private static final long LARGEST_RUN = 1L << 30;

    private static final int DEEPEST = 32;

    private final FileChannel channel;
    private final Root root;

    /** @param transaction transaction that wrote it */
    private record Root(int pageSize, long page, long transaction) {}

    private record Entry(boolean isBucket, ByteBuffer key, ByteBuffer value) {}

    private BoltFile(FileChannel channel, Root root) {
        this.channel = channel;
        this.root = root;
    }

    /**
     * Opens a file for reading.
     *
     * @throws IOException the file cannot be read, or is no such file
     */
    public static BoltFile open(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            List<Root> roots = new ArrayList<>();
            root(channel, 0).ifPresent(roots::add);
            // The second is on the second page, and may be the only record of the page size.
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
     * Returns the values of a top-level bucket in the order of their keys. None without the bucket.
     *
     * @throws IOException the file cannot be read, or is damaged
     */
    public List<String> values(String bucket) throws IOException {
        return plain(bucket).stream().map(entry -> text(entry.value())).toList();
    }

    /** Returns the big-endian number at a key of a small top-level bucket. */
    public Optional<Long> number(String bucket, String key) throws IOException {
        return value(bucket, key).filter(value -> value.limit() >= Long.BYTES).map(BoltFile::bigEndian);
    }

    /** Returns the text at a key of a small top-level bucket. */
    public Optional<String> text(String bucket, String key) throws IOException {
        return value(bucket, key).map(BoltFile::text);
    }

    private Optional<ByteBuffer> value(String bucket, String key) throws IOException {
        return plain(bucket).stream()
                .filter(entry -> text(entry.key()).equals(key))
                .map(Entry::value)
                .findFirst();
    }

    /** Returns the big-endian number that starts the last key of a top-level bucket. */
    public Optional<Long> lastKey(String bucket) throws IOException {
        return guarded(bucket, value -> {
                    ByteBuffer page = value.getLong(0) == 0
                            ? part(value, BUCKET_HEADER, value.limit() - BUCKET_HEADER)
                            : page(value.getLong(0));
                    for (int depth = DEEPEST; depth > 0; depth--) {
                        int count = Short.toUnsignedInt(page.getShort(10));
                        if (count == 0) {
                            return Optional.<Long>empty();
                        }
                        int at = PAGE_HEADER + (count - 1) * ELEMENT;
                        if (Short.toUnsignedInt(page.getShort(8)) == LEAF_PAGE) {
                            return Optional.of(bigEndian(part(page, at + page.getInt(at + 4), page.getInt(at + 8))));
                        }
                        page = page(page.getLong(at + 8));
                    }
                    throw new IOException("tree deeper than " + DEEPEST + " pages");
                })
                .flatMap(last -> last);
    }

    private interface Reading<T> {
        T from(ByteBuffer bucket) throws IOException;
    }

    private List<Entry> plain(String bucket) throws IOException {
        return guarded(bucket, value -> within(value).stream()
                        .filter(each -> !each.isBucket())
                        .toList())
                .orElse(List.of());
    }

    /** Reads a bucket; empty if it is missing. */
    private <T> Optional<T> guarded(String bucket, Reading<T> reading) throws IOException {
        try {
            for (Entry entry : entries(root.page())) {
                if (entry.isBucket() && text(entry.key()).equals(bucket)) {
                    return Optional.of(reading.from(entry.value()));
                }
            }
            return Optional.empty();
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("damaged page on the path to bucket " + bucket, e);
        }
    }

    private static long bigEndian(ByteBuffer bytes) {
        return bytes.duplicate().order(ByteOrder.BIG_ENDIAN).getLong(0);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** Returns the entries of a bucket. A small bucket has no page, but follows its header. */
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
                    page.getInt(at) == 1, part(page, key, keyBytes), part(page, key + keyBytes, page.getInt(at + 12))));
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

    /** Returns the FNV-1a hash. */
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
