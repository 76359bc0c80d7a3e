package io.understudy.local.fault;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** One direction of a connection: bytes read and not yet written, oldest first. Confined to the proxy's thread. */
final class Flow {

    /** Rounds before the other connections have their turn. */
    private static final int ROUNDS = 8;

    private static final int READ_BYTES = 1 << 15;

    /** Maximum held back without a delay: keeps both sides busy, with backpressure. */
    private static final int HELD_BYTES = 1 << 16;

    /** Maximum held back with a delay, so that the delay does not bound the throughput. */
    private static final int HELD_BYTES_DELAYED = 1 << 22;

    /** Bytes, or the end of the stream, and the time they were read. */
    private record Chunk(ByteBuffer bytes, boolean end, long readNanos) {}

    private final SocketChannel from;
    private final SocketChannel to;
    private final LongAdder passed;
    private final Deque<Chunk> chunks = new ArrayDeque<>();
    private long heldBytes;
    private boolean endRead;
    private boolean endWritten;
    private boolean blocked;
    private long nextNanos;
    private boolean waits;

    Flow(SocketChannel from, SocketChannel to, LongAdder passed) {
        this.from = from;
        this.to = to;
        this.passed = passed;
    }

    /** Moves what may be moved now. */
    void pump(long delayNanos, @Nullable TokenBucket first, @Nullable TokenBucket second, ByteBuffer scratch)
            throws IOException {
        for (int round = 0; round < ROUNDS; round++) {
            boolean read = read(delayNanos, scratch);
            write(delayNanos, first, second);
            if (!read || blocked || waits) {
                return;
            }
        }
    }

    private boolean read(long delayNanos, ByteBuffer scratch) throws IOException {
        if (!wantsRead(delayNanos)) {
            return false;
        }
        scratch.clear().limit(Math.min(READ_BYTES, scratch.capacity()));
        int count = from.read(scratch);
        if (count == 0) {
            return false;
        }
        endRead = count < 0;
        ByteBuffer copy = ByteBuffer.allocate(Math.max(0, count));
        copy.put(scratch.flip()).flip();
        heldBytes += copy.remaining();
        chunks.add(new Chunk(copy, endRead, System.nanoTime()));
        return true;
    }

    private void write(long delayNanos, @Nullable TokenBucket first, @Nullable TokenBucket second) throws IOException {
        blocked = false;
        waits = false;
        for (Chunk head = chunks.peek(); head != null; head = chunks.peek()) {
            long now = System.nanoTime();
            if (now - head.readNanos() < delayNanos) {
                waitUntil(head.readNanos() + delayNanos);
                return;
            }
            if (head.end()) {
                to.shutdownOutput();
                endWritten = true;
                chunks.remove();
                return;
            }
            if (!writeSome(head.bytes(), now, first, second)) {
                return;
            }
            if (!head.bytes().hasRemaining()) {
                chunks.remove();
            }
        }
    }

    /** Whether the flow may continue at once. */
    private boolean writeSome(ByteBuffer bytes, long now, @Nullable TokenBucket first, @Nullable TokenBucket second)
            throws IOException {
        int allowed = Math.min(available(first, now), available(second, now));
        if (allowed == 0) {
            waitUntil(Math.max(full(first, now), full(second, now)));
            return false;
        }
        int limit = bytes.limit();
        int wanted = Math.min(allowed, bytes.remaining());
        bytes.limit(bytes.position() + wanted);
        int written = to.write(bytes);
        bytes.limit(limit);
        heldBytes -= written;
        passed.add(written);
        take(first, written);
        take(second, written);
        blocked = written < wanted;
        return !blocked;
    }

    private static int available(@Nullable TokenBucket bucket, long now) {
        return bucket == null ? Integer.MAX_VALUE : bucket.available(now);
    }

    private static long full(@Nullable TokenBucket bucket, long now) {
        return bucket == null ? now : bucket.fullNanos(now);
    }

    private static void take(@Nullable TokenBucket bucket, int bytes) {
        if (bucket != null) {
            bucket.take(bytes);
        }
    }

    private void waitUntil(long nanos) {
        waits = true;
        nextNanos = nanos;
    }

    /** Whether more is to be read now. */
    boolean wantsRead(long delayNanos) {
        return !endRead && heldBytes < (delayNanos == 0 ? HELD_BYTES : HELD_BYTES_DELAYED);
    }

    /** Whether it waits for the receiving side to take more. */
    boolean wantsWrite() {
        return blocked;
    }

    /** Nanoseconds until it can continue, 0 for now, {@code MAX_VALUE} if not by time alone. */
    long waitNanos(long now) {
        return waits ? Math.max(0, nextNanos - now) : Long.MAX_VALUE;
    }

    /** Whether its end of stream was forwarded. */
    boolean isDone() {
        return endWritten;
    }

    /** Pauses until pumped again. */
    void hold() {
        blocked = false;
        waits = false;
    }
}
