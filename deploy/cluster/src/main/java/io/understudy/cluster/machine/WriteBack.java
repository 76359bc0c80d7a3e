package io.understudy.cluster.machine;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes back appended data of another process, so that its own flush is short.
 *
 * <p>A direct read writes the cached range to disk first ({@code filemap_write_and_wait_range} in {@code mm/filemap.c}
 * of Linux). Unlike a flush, it does not commit the file system's journal, which delays every other flush. The price is
 * one read of the file from the disk.
 */
final class WriteBack implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WriteBack.class);

    /** Multiple of the block sizes of disks and file systems. */
    private static final int BLOCK = 4096;

    private static final int AT_ONCE = 1 << 20;

    private final FileChannel data;
    private @Nullable FileChannel direct;
    private final ByteBuffer read;
    private long written;

    private WriteBack(FileChannel data, @Nullable FileChannel direct) {
        this.data = data;
        this.direct = direct;
        this.read = ByteBuffer.allocateDirect(direct == null ? BLOCK : AT_ONCE + BLOCK)
                .alignedSlice(BLOCK);
    }

    /** @param data the same file, closed by the caller */
    static WriteBack of(Path file, FileChannel data) {
        try {
            return new WriteBack(data, FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT));
        } catch (IOException | UnsupportedOperationException e) {
            LOG.atDebug()
                    .addKeyValue("file", file)
                    .addKeyValue("cause", e.getMessage())
                    .log("direct I/O not supported");
            return new WriteBack(data, null);
        }
    }

    /** Returns when existing data is written; without direct I/O, when it is flushed. */
    void catchUp() throws IOException {
        FileChannel past = direct;
        if (past == null) {
            data.force(false);
            return;
        }
        try {
            readFrom(past);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            // Some file systems report that only now.
            LOG.atDebug().addKeyValue("cause", e.getMessage()).log("direct I/O not supported");
            close();
            data.force(false);
        }
    }

    private void readFrom(FileChannel past) throws IOException {
        long end = data.size();
        int count;
        do {
            read.clear().limit(AT_ONCE);
            count = Math.max(0, past.read(read, written));
            written += count - count % BLOCK;
        } while (count == AT_ONCE && written < end);
    }

    @Override
    public void close() throws IOException {
        FileChannel past = direct;
        direct = null;
        if (past != null) {
            past.close();
        }
    }
}
