package io.understudy.lab.directory;

import io.understudy.lab.failure.LabException;
import io.understudy.local.process.Folders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;

/**
 * The lock of a lab's directory. The operating system's lock on the file decides, so that a killed lab leaves none
 * behind; the process ID in it is for messages. The file stays: deleting it would let two labs lock two files of one
 * name.
 */
final class LabLock implements AutoCloseable {

    private final FileChannel channel;
    private final OptionalLong abandonedBy;

    private LabLock(FileChannel channel, OptionalLong abandonedBy) {
        this.channel = channel;
        this.abandonedBy = abandonedBy;
    }

    /** @throws LabException a running lab holds it; the message names its process */
    static LabLock acquire(Path file) throws IOException {
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            // Read through this very channel: closing any other one of the file would drop this process's lock on it.
            OptionalLong holder = readPid(channel);
            if (!Folders.tryLock(channel)) {
                throw new LabException("the lab in " + file.getParent() + " is already running as process "
                        + (holder.isPresent() ? Long.toString(holder.getAsLong()) : "with unknown id")
                        + "; stop it, or choose another directory with --data-dir");
            }
            writePid(channel, Long.toString(ProcessHandle.current().pid()));
            return new LabLock(channel, holder);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** The lab that held the lock when it died. */
    OptionalLong abandonedBy() {
        return abandonedBy;
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            writePid(channel, "");
        }
    }

    private static OptionalLong readPid(FileChannel channel) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(32);
        int read;
        do {
            read = channel.read(content, content.position());
        } while (read > 0);
        String text = new String(content.array(), 0, content.position(), StandardCharsets.US_ASCII).strip();
        return text.matches("[0-9]{1,18}") ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
    }

    private static void writePid(FileChannel channel, String pid) throws IOException {
        channel.truncate(0);
        ByteBuffer content = ByteBuffer.wrap((pid.isEmpty() ? "" : pid + "\n").getBytes(StandardCharsets.US_ASCII));
        while (content.hasRemaining()) {
            channel.write(content, content.position());
        }
        channel.force(false);
    }
}
