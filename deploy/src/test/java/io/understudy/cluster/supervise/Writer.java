package io.understudy.cluster.supervise;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A client that keeps writing, each time another key, and remembers what was acknowledged. */
final class Writer implements AutoCloseable {

    private static final Duration DEADLINE = Duration.ofMillis(700);
    private static final String PREFIX = "written/";
    private static final long PAUSE_MILLIS = 10;
    private static final int PAGE = 5_000;

    private final EtcdConnections connections;
    private final List<Endpoint> endpoints;
    private final Set<String> acknowledged = new ConcurrentSkipListSet<>();
    private final Thread thread = new Thread(this::run, "writer");
    private final AtomicLong longestStall = new AtomicLong();
    private volatile boolean closed;

    private Writer(List<URI> urls) {
        EtcdSettings settings = EtcdSettings.of(urls.toArray(URI[]::new));
        this.connections = EtcdConnections.open(settings);
        this.endpoints = settings.seeds();
    }

    static Writer start(List<URI> urls) {
        Writer writer = new Writer(urls);
        writer.thread.setDaemon(true);
        writer.thread.start();
        return writer;
    }

    private void run() {
        long last = System.nanoTime();
        int at = 0;
        for (int number = 0; !closed; number++) {
            String key = PREFIX + number;
            PutRequest put = PutRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8(key))
                    .setValue(ByteString.copyFromUtf8(key))
                    .build();
            try {
                var unused = connections
                        .call(endpoints.get(at), KVGrpc.getPutMethod(), put, DEADLINE)
                        .get();
                if (!acknowledged.isEmpty()) {
                    longestStall.accumulateAndGet(System.nanoTime() - last, Math::max);
                }
                acknowledged.add(key);
                last = System.nanoTime();
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            } catch (ExecutionException e) {
                at = (at + 1) % endpoints.size();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    int count() {
        return acknowledged.size();
    }

    Duration longestStall() {
        return Duration.ofNanos(longestStall.get());
    }

    /** Acknowledged and not there, by a linearizable read. */
    Set<String> lost() throws InterruptedException {
        Set<String> missing = ConcurrentHashMap.newKeySet();
        missing.addAll(acknowledged);
        IllegalStateException unread = new IllegalStateException("nobody could be read from");
        for (Endpoint endpoint : endpoints) {
            try {
                readAll(endpoint, missing);
                return missing;
            } catch (ExecutionException e) {
                unread.addSuppressed(e);
            }
        }
        throw unread;
    }

    private void readAll(Endpoint endpoint, Set<String> missing) throws ExecutionException, InterruptedException {
        ByteString from = ByteString.copyFromUtf8(PREFIX);
        boolean more = true;
        while (more) {
            RangeRequest page = RangeRequest.newBuilder()
                    .setKey(from)
                    .setRangeEnd(ByteString.copyFromUtf8("written0"))
                    .setKeysOnly(true)
                    .setLimit(PAGE)
                    .build();
            RangeResponse answer = connections
                    .call(endpoint, KVGrpc.getRangeMethod(), page, Duration.ofSeconds(5))
                    .get();
            answer.getKvsList().forEach(found -> missing.remove(found.getKey().toStringUtf8()));
            more = answer.getMore();
            from = more ? answer.getKvs(answer.getKvsCount() - 1).getKey().concat(ByteString.copyFromUtf8("\0")) : from;
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        connections.close();
    }
}
