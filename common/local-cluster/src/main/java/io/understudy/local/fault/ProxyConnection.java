package io.understudy.local.fault;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client's connection and, once open, the one to the target. Confined to the proxy's thread. */
final class ProxyConnection {

    private static final Logger LOG = LoggerFactory.getLogger(ProxyConnection.class);
    private static final int SCRATCH_BYTES = 1 << 15;

    /** The connection to the target. */
    private record Link(SocketChannel channel, SelectionKey key, Flow there, Flow back) {}

    private final Selector selector;
    private final SocketChannel client;
    private final SelectionKey clientKey;
    private final InetSocketAddress target;
    private final String party;
    private final Counters counters;
    private final ByteBuffer scratch = ByteBuffer.allocate(SCRATCH_BYTES);
    private @Nullable Link link;
    private boolean halfOpen;

    ProxyConnection(Selector selector, SocketChannel client, InetSocketAddress target, String party, Counters counters)
            throws IOException {
        this.selector = selector;
        this.client = client;
        this.target = target;
        this.party = party;
        this.counters = counters;
        client.configureBlocking(false);
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        this.clientKey = client.register(selector, 0, this);
    }

    String party() {
        return party;
    }

    /**
     * Transfers what the two faults allow now and registers interest for the rest.
     *
     * @return false when it is closed
     */
    boolean pump(LinkFault all, LinkFault its) {
        try {
            return switch (worse(all.mode(), its.mode())) {
                case CUT -> end();
                case BLACK_HOLE -> halfOpen ? swallow() : hold();
                case HALF_OPEN -> swallow();
                case FLOWS -> halfOpen ? end() : flow(all, its);
            };
        } catch (IOException e) {
            LOG.atDebug()
                    .addKeyValue("client", client)
                    .addKeyValue("target", target)
                    .addKeyValue("cause", e.toString())
                    .log("connection closed");
            return end();
        }
    }

    private static LinkFault.Mode worse(LinkFault.Mode one, LinkFault.Mode other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private boolean end() {
        reset();
        return false;
    }

    private boolean hold() {
        clientKey.interestOps(0);
        Link open = link;
        if (open != null) {
            open.key().interestOps(0);
            open.there().hold();
            open.back().hold();
        }
        return true;
    }

    private boolean swallow() throws IOException {
        halfOpen = true;
        Link open = link;
        if (open != null) {
            open.channel().close();
            link = null;
        }
        int read = client.read(scratch.clear());
        while (read > 0) {
            read = client.read(scratch.clear());
        }
        if (read < 0) {
            return end();
        }
        clientKey.interestOps(SelectionKey.OP_READ);
        return true;
    }

    private boolean flow(LinkFault all, LinkFault its) throws IOException {
        Link open = link == null ? connect() : link;
        if (!open.channel().finishConnect()) {
            open.key().interestOps(SelectionKey.OP_CONNECT);
            return true;
        }
        long delay = all.delay().plus(its.delay()).toNanos();
        open.there().pump(delay, all.toTarget(), its.toTarget(), scratch);
        open.back().pump(delay, all.fromTarget(), its.fromTarget(), scratch);
        if (open.there().isDone() && open.back().isDone()) {
            open.channel().close();
            client.close();
            return false;
        }
        clientKey.interestOps(interest(open.there(), open.back(), delay));
        open.key().interestOps(interest(open.back(), open.there(), delay));
        return true;
    }

    private static int interest(Flow out, Flow in, long delay) {
        return (out.wantsRead(delay) ? SelectionKey.OP_READ : 0) | (in.wantsWrite() ? SelectionKey.OP_WRITE : 0);
    }

    private Link connect() throws IOException {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        SelectionKey key = channel.register(selector, 0, this);
        Link made = new Link(
                channel,
                key,
                new Flow(client, channel, counters.bytesToTarget()),
                new Flow(channel, client, counters.bytesFromTarget()));
        // Before connecting, so that a refusal finds the channel to close.
        link = made;
        channel.connect(target);
        return made;
    }

    /** Nanoseconds until it can continue, 0 for now, {@code MAX_VALUE} if not by time alone. */
    long waitNanos(long now) {
        Link open = link;
        return open == null
                ? Long.MAX_VALUE
                : Math.min(open.there().waitNanos(now), open.back().waitNanos(now));
    }

    /** Closes both sides with a reset, like a network that has lost the connection's state. */
    void reset() {
        reset(client);
        Link open = link;
        if (open != null) {
            reset(open.channel());
        }
    }

    static void reset(SocketChannel channel) {
        try (channel) {
            if (channel.isConnected()) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
        } catch (IOException e) {
            LOG.atDebug()
                    .addKeyValue("channel", channel)
                    .addKeyValue("cause", e.toString())
                    .log("connection reset failed");
        }
    }

    /** One direction of a connection: bytes read and not yet written, oldest first. Confined to the proxy's thread. */
    private static final class Flow {

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

        private void write(long delayNanos, @Nullable TokenBucket first, @Nullable TokenBucket second)
                throws IOException {
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

    /** Grants so many bytes per second, with bursts of a twentieth of a second. Used by one thread. */
    static final class TokenBucket {

        private static final long NANOS = TimeUnit.SECONDS.toNanos(1);
        private static final int BURSTS_PER_SECOND = 20;

        private final long bytesPerSecond;
        private final long burst;
        private double tokens;
        private long filledNanos;
        private boolean used;

        TokenBucket(long bytesPerSecond) {
            this.bytesPerSecond = bytesPerSecond;
            this.burst = Math.max(1, bytesPerSecond / BURSTS_PER_SECOND);
        }

        /** How many bytes may pass now. */
        int available(long nowNanos) {
            if (!used) {
                used = true;
                tokens = (double) burst;
            } else {
                tokens = Math.min(
                        (double) burst, tokens + (double) (nowNanos - filledNanos) * (double) bytesPerSecond / NANOS);
            }
            filledNanos = nowNanos;
            return (int) Math.min(Integer.MAX_VALUE, (long) tokens);
        }

        void take(int bytes) {
            tokens -= bytes;
        }

        /** Returns when the bucket will be full again. Passing less at a time would only use more CPU. */
        long fullNanos(long nowNanos) {
            return nowNanos + (long) Math.ceil(((double) burst - tokens) * NANOS / bytesPerSecond);
        }
    }
}
