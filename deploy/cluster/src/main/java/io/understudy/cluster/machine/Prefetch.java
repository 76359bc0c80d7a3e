package io.understudy.cluster.machine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prefetches the pages that a leader on this machine sends next, in small parts. Otherwise the leader reads them
 * itself, with the kernel's read-ahead ({@code read_ahead_kb}). Writes of the log, on which every put waits, would
 * queue behind those megabytes.
 *
 * <p>A snapshot has the pages of its leader's database, at the same offsets, except for the first two ({@code
 * Tx.WriteTo} of bbolt). So received pages identify the sending member, if it is on this machine.
 *
 * <p>For one thread.
 */
final class Prefetch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Prefetch.class);

    /** Size of the last received page, which identifies the sender's file. */
    private static final int PAGE = 4096;

    private static final long OWN_PAGES = 2 * PAGE;

    /** The lead of the leader over a receiver: kernel buffers, and what one second brings. */
    private static final long AHEAD = 16 << 20;

    /** Maximum single read, which bounds the delay of a log's write. */
    private static final int AT_ONCE = 64 << 10;

    private static final long LEAST_STEP = 4 * AT_ONCE;

    private static final int WINDOW = 32 << 20;

    private final List<Source> sources = new ArrayList<>();
    private int compared;
    private Optional<Source> before = Optional.empty();
    private long sizeBefore;
    private long done;

    private Prefetch() {}

    /** @param databases databases of possible senders; missing ones are skipped */
    static Prefetch of(List<Path> databases) {
        Prefetch prefetch = new Prefetch();
        for (Path database : databases) {
            try {
                prefetch.sources.add(new Source(database));
            } catch (NoSuchFileException e) {
                LOG.atDebug().addKeyValue("file", database).log("database not found");
            } catch (IOException e) {
                LOG.atDebug()
                        .addKeyValue("file", database)
                        .addKeyValue("cause", e.getMessage())
                        .log("cannot read database");
            }
        }
        return prefetch;
    }

    /**
     * Reads some of the following data. Called repeatedly while data arrives; reads twice as much as arrived until the
     * lead suffices. Failures are ignored.
     *
     * @param received the received data
     * @param size size of the received data
     */
    void follow(FileChannel received, long size) {
        try {
            readAhead(received, size);
        } catch (IOException | RuntimeException | InternalError e) {
            // InternalError: the mapped file is unreadable.
            LOG.atDebug().addKeyValue("cause", e.getMessage()).log("read-ahead stopped");
            close();
        }
    }

    private void readAhead(FileChannel received, long size) throws IOException {
        compare(received, size);
        Optional<Source> sender = sender();
        if (sender.isPresent()) {
            done = sender.equals(before) ? Math.max(done, size) : size;
            long end = Math.min(size + AHEAD, done + Math.max(LEAST_STEP, 2 * (size - sizeBefore)));
            done = sender.get().load(done, end);
        }
        before = sender;
        sizeBefore = size;
    }

    private void compare(FileChannel received, long size) throws IOException {
        long last = size / PAGE * PAGE - PAGE;
        if (last < OWN_PAGES) {
            return;
        }
        ByteBuffer page = ByteBuffer.allocate(PAGE);
        if (received.read(page, last) == PAGE) {
            page.flip();
            for (Source source : sources) {
                source.compare(page, last);
            }
            compared++;
        }
    }

    /** Returns the sender of the received pages. Members that apply the same entries have many pages in common. */
    private Optional<Source> sender() {
        return sources.stream()
                .filter(source -> 2 * source.same > compared)
                .max(Comparator.comparingInt(source -> source.same));
    }

    /** Returns the prefetched database. */
    Optional<Path> file() {
        return sender().map(source -> source.file);
    }

    /** Returns the offset before which all is prefetched or received. */
    long done() {
        return done;
    }

    /** Idempotent. */
    @Override
    public void close() {
        for (Source source : sources) {
            try {
                source.data.close();
            } catch (IOException e) {
                LOG.atDebug()
                        .addKeyValue("file", source.file)
                        .addKeyValue("cause", e.getMessage())
                        .log("cannot close database");
            }
        }
        sources.clear();
    }

    /** One member's database; it grows, and never shrinks. */
    private static final class Source {
        private final Path file;
        private final FileChannel data;
        private @Nullable MappedByteBuffer window;
        private long windowAt;
        private int same;

        Source(Path file) throws IOException {
            this.file = file;
            this.data = FileChannel.open(file, StandardOpenOption.READ);
        }

        private MappedByteBuffer map(long at) throws IOException {
            return data.map(FileChannel.MapMode.READ_ONLY, at, Math.min(WINDOW, data.size() - at));
        }

        void compare(ByteBuffer page, long at) throws IOException {
            if (at + PAGE <= data.size() && slice(at, PAGE).load().equals(page)) {
                same++;
            }
        }

        /** Returns the end of the loaded part. */
        long load(long from, long to) throws IOException {
            long at = from;
            long end = Math.min(to, data.size());
            while (at < end) {
                int loaded = slice(at, (int) Math.min(AT_ONCE, end - at)).load().capacity();
                if (loaded == 0) {
                    throw new IOException(file + " shrank");
                }
                at += loaded;
            }
            return at;
        }

        /** Returns a part of the file within one window; the kernel prefetches only mapped pages. */
        private MappedByteBuffer slice(long at, int length) throws IOException {
            MappedByteBuffer whole = window;
            if (whole == null || at < windowAt || at >= windowAt + whole.capacity()) {
                windowAt = at / WINDOW * WINDOW;
                whole = map(windowAt);
                window = whole;
            }
            int from = (int) (at - windowAt);
            return whole.slice(from, Math.min(length, whole.capacity() - from));
        }
    }
}
