package io.understudy.cluster.machine;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the kernel write what another process appends to a file, so that not all of it is left for that one's own flush. Who
 * reads past the kernel's cache is given what is on the disk, and so it is written before ({@code filemap_write_and_wait_range}
 * in {@code mm/filemap.c} of Linux); unlike a flush, that has no file system commit its journal, for which all others
 * that flush anything would have to wait.
 */
final class WriteBack implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(WriteBack.class);

    /** What disks and file systems have is this or a part of it. */
    private static final int BLOCK = 4096;

    private static final int AT_ONCE = 1 << 20;

    private final FileChannel data;
    private final ByteBuffer read = ByteBuffer.allocateDirect(AT_ONCE + BLOCK).alignedSlice(BLOCK);
    private long written;

    private final boolean isDirect;

    private WriteBack(FileChannel data, boolean isDirect) {
        this.data = data;
        this.isDirect = isDirect;
    }

    static WriteBack of(Path file) throws IOException {
        try {
            return new WriteBack(FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT), true);
        } catch (IOException | UnsupportedOperationException e) {
            log.debug("no way past the cache, flushing instead file={} why=\"{}\"", file, e.getMessage());
            return new WriteBack(FileChannel.open(file, StandardOpenOption.READ), false);
        }
    }

    /** Returns when what is there is written, but for the end of it. */
    void catchUp() throws IOException {
        if (!isDirect) {
            data.force(false);
            return;
        }
        int count;
        do {
            read.clear().limit(AT_ONCE);
            count = Math.max(0, data.read(read, written));
            written += count - count % BLOCK;
        } while (count == AT_ONCE);
    }

    @Override
    public void close() throws IOException {
        data.close();
    }
}
