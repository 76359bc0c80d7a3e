package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A cache of all keys below a prefix, as in Kubernetes' API server: listed in pages at one revision, then watched from the
 * next one, with progress requests during consistent reads, and listed again after a compaction. Records events that don't
 * match the cache. On a thread of its own.
 */
final class ListWatch implements AutoCloseable {

    private static final int PAGE = 10;
    private static final long POLL_MILLIS = 20;
    private static final Metadata HAS_LEADER = new Metadata();

    static {
        HAS_LEADER.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
    }

    private final ManagedChannel channel;
    private final String prefix;
    private final Thread thread;
    private final TreeMap<String, KeyValue> entries = new TreeMap<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();
    private final AtomicInteger lists = new AtomicInteger();
    private final AtomicInteger watches = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private long revision;
    private volatile boolean closed;

    /** A state, and the revision that it is of. */
    record Snapshot(long revision, List<KeyValue> entries) {}

    /** A response or the end of a stream. */
    private record Signal(
            @Nullable WatchResponse response, @Nullable Throwable end) {}

    ListWatch(String host, int port, String prefix) {
        this.channel = GatewayFixture.channel(host, port);
        this.prefix = prefix;
        this.thread = new Thread(this::run, "list-watch " + prefix);
        thread.start();
    }

    /** Waits until the cache has that revision. */
    private Snapshot awaitRevision(long wanted, Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        waiting.incrementAndGet();
        try {
            synchronized (entries) {
                while (revision < wanted) {
                    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                    if (left <= 0) {
                        throw new AssertionError(prefix + " is at " + revision + ", not at " + wanted + "; " + this);
                    }
                    entries.wait(left);
                }
                return new Snapshot(revision, List.copyOf(entries.values()));
            }
        } finally {
            waiting.decrementAndGet();
        }
    }

    /** A state not older than this call, as a linearizable read would give it. */
    Snapshot consistentRead(Duration patience) throws InterruptedException {
        RangeRequest now = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(prefix))
                .setLimit(1)
                .setCountOnly(true)
                .build();
        return awaitRevision(
                GatewayFixture.kv(channel)
                        .withWaitForReady()
                        .range(now)
                        .getHeader()
                        .getRevision(),
                patience);
    }

    String prefix() {
        return prefix;
    }

    /** Returns events that did not match the cache. */
    List<String> faults() {
        return faults;
    }

    /** Returns the number of lists. */
    int lists() {
        return lists.get();
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        channel.shutdownNow();
    }

    @Override
    public String toString() {
        return prefix + " lists=" + lists + " watches=" + watches + " faults=" + faults;
    }

    private void run() {
        boolean listed = false;
        while (!closed) {
            try {
                if (!listed) {
                    list();
                    listed = true;
                }
                listed = watch();
            } catch (StatusRuntimeException e) {
                pause();
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                faults.add(e.toString());
                return;
            }
        }
    }

    private void list() {
        ByteString end = ByteString.copyFromUtf8(
                prefix.substring(0, prefix.length() - 1) + (char) (prefix.charAt(prefix.length() - 1) + 1));
        RangeRequest.Builder request = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(prefix))
                .setRangeEnd(end)
                .setLimit(PAGE);
        TreeMap<String, KeyValue> found = new TreeMap<>();
        RangeResponse page;
        do {
            page = GatewayFixture.kv(channel).range(request.build());
            page.getKvsList().forEach(kv -> found.put(kv.getKey().toStringUtf8(), kv));
            if (request.getRevision() == 0) {
                request.setRevision(page.getHeader().getRevision());
            }
            if (page.getMore()) {
                request.setKey(page.getKvs(page.getKvsCount() - 1).getKey().concat(GatewayFixture.ZERO));
            }
        } while (page.getMore());
        synchronized (entries) {
            if (request.getRevision() < revision) {
                faults.add("listed at " + request.getRevision() + " after " + revision);
            }
            entries.clear();
            entries.putAll(found);
            revision = request.getRevision();
            entries.notifyAll();
        }
        lists.incrementAndGet();
    }

    /** Returns whether the cache is still valid. */
    private boolean watch() throws InterruptedException {
        BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
        StreamObserver<WatchRequest> stream = WatchGrpc.newStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(HAS_LEADER))
                .watch(observer(signals));
        long from = revision + 1;
        stream.onNext(WatchRequests.createPrefix(
                prefix, create -> create.setStartRevision(from).setPrevKv(true).setProgressNotify(true)));
        watches.incrementAndGet();
        while (!closed) {
            Signal signal = signals.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
            if (signal == null) {
                if (waiting.get() > 0) {
                    stream.onNext(WatchRequests.progress());
                }
            } else if (signal.response() == null) {
                pause();
                return true;
            } else if (signal.response().getCompactRevision() > 0) {
                stream.onError(new IllegalStateException("compacted"));
                return false;
            } else if (!signal.response().getCreated()) {
                synchronized (entries) {
                    apply(signal.response());
                    entries.notifyAll();
                }
            }
        }
        return true;
    }

    private void apply(WatchResponse response) {
        long header = response.getHeader().getRevision();
        if (header < revision) {
            faults.add("told " + header + " after " + revision);
        }
        long before = revision;
        for (Event event : response.getEventsList()) {
            long at = event.getKv().getModRevision();
            if (at <= before || at < revision) {
                faults.add("an event of " + at + " after " + revision);
            }
            revision = at;
            String key = event.getKv().getKey().toStringUtf8();
            KeyValue known =
                    event.getType() == Event.EventType.DELETE ? entries.remove(key) : entries.put(key, event.getKv());
            boolean same = known == null ? !event.hasPrevKv() : known.equals(event.getPrevKv());
            if (!same) {
                faults.add("at " + at + " before " + key + " was " + event.getPrevKv() + ", known was " + known);
            }
        }
        if (response.getEventsCount() == 0) {
            revision = Math.max(revision, header);
        }
    }

    private static StreamObserver<WatchResponse> observer(BlockingQueue<Signal> signals) {
        return new StreamObserver<>() {
            @Override
            public void onNext(WatchResponse response) {
                signals.add(new Signal(response, null));
            }

            @Override
            public void onError(Throwable failure) {
                signals.add(new Signal(null, failure));
            }

            @Override
            public void onCompleted() {
                signals.add(new Signal(null, null));
            }
        };
    }

    private void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
