package io.understudy.feed;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Keeps writing at random, seeded, on a thread of its own: puts, transactions, deletes of keys and of ranges. */
public final class RandomWriter implements AutoCloseable {

    private static final int KEYS = 200;

    /** Leaves the processor to what is tested: without it the writer takes all it can get until a fault is noticed. */
    private static final Duration PAUSE = Duration.ofMillis(2);

    private final SourceClient client;
    private final String prefix;
    private final Random random;
    private final AtomicLong writes = new AtomicLong();
    private final Thread thread;
    private volatile boolean stopping;

    public RandomWriter(SourceClient client, String prefix, long seed) {
        this.client = client;
        this.prefix = prefix;
        this.random = new Random(seed);
        this.thread = new Thread(this::run, "random-writer seed=" + seed);
        this.thread.setDaemon(true);
        this.thread.start();
    }

    /** Writes acknowledged so far. */
    public long writes() {
        return writes.get();
    }

    private void run() {
        while (!stopping) {
            try {
                write();
                writes.incrementAndGet();
            } catch (RuntimeException e) {
                // A fault is under way; what was and wasn't written shows in the source itself.
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private void write() {
        int kind = random.nextInt(20);
        if (kind == 0) {
            client.delete(KeyRange.prefix(SourceClient.bytes(prefix + random.nextInt(10))));
        } else if (kind < 4) {
            client.delete(KeyRange.single(key()));
        } else if (kind < 8) {
            Set<ByteString> keys = new LinkedHashSet<>();
            int size = 1 + random.nextInt(20);
            for (int i = 0; i < size; i++) {
                keys.add(key());
            }
            client.putAll(List.copyOf(keys), value(), 0);
        } else {
            client.put(key(), value(), 0);
        }
    }

    private ByteString key() {
        return SourceClient.bytes(prefix + random.nextInt(KEYS));
    }

    private ByteString value() {
        byte[] value = new byte[random.nextInt(100)];
        random.nextBytes(value);
        return ByteString.copyFrom(value);
    }

    @Override
    public void close() {
        stop();
    }

    /** Ends after the write under way. */
    public void stop() {
        stopping = true;
        try {
            thread.join(60_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
