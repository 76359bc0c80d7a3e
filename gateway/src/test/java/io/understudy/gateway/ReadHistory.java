package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.vocabulary.KeyRange;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Concurrent writers to the voters and readers of a gateway. A linearizable read includes every write acknowledged before
 * it began, and revisions of a session never decrease. Each writer counts up in a key of its own, so that a value is the
 * number of its writes.
 */
final class ReadHistory implements AutoCloseable {

    private static final int WRITERS = 3;
    private static final int READERS = 8;

    /** Unique, so that several histories of one cluster are separate. */
    private final String prefix = "counter-" + UUID.randomUUID() + "/";

    final Queue<String> violations = new ConcurrentLinkedQueue<>();
    final AtomicInteger linearizable = new AtomicInteger();
    final AtomicInteger serializable = new AtomicInteger();
    final AtomicInteger writes = new AtomicInteger();
    final AtomicInteger failures = new AtomicInteger();
    private final AtomicLong acknowledgedRevision = new AtomicLong();
    private final AtomicLong[] acknowledged = new AtomicLong[WRITERS];
    private final List<Thread> threads = new ArrayList<>();
    private final List<ManagedChannel> channels = new ArrayList<>();
    private volatile boolean stopped;

    /** Starts writers and readers. */
    ReadHistory(List<URI> voters, int gatewayPort, long seed) {
        for (int i = 0; i < WRITERS; i++) {
            int writer = i;
            acknowledged[i] = new AtomicLong();
            List<ManagedChannel> ways = new ArrayList<>();
            for (URI voter : voters) {
                ways.add(open(voter.getHost(), voter.getPort()));
            }
            begin("writer-" + i, () -> write(writer, ways));
        }
        for (int i = 0; i < READERS; i++) {
            Random random = new Random(seed + i);
            // A channel, and so a session, for each.
            ManagedChannel channel = open("127.0.0.1", gatewayPort);
            begin("reader-" + i, () -> new Reader(channel, random).run());
        }
        threads.forEach(Thread::start);
    }

    /** The number of answered reads. */
    int reads() {
        return linearizable.get() + serializable.get();
    }

    @Override
    public void close() {
        stopped = true;
        try {
            for (Thread thread : threads) {
                thread.join(TimeUnit.SECONDS.toMillis(30));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        channels.forEach(ManagedChannel::shutdownNow);
    }

    @Override
    public String toString() {
        return "linearizable=" + linearizable + " serializable=" + serializable + " writes=" + writes + " failures="
                + failures;
    }

    private ManagedChannel open(String host, int port) {
        ManagedChannel channel = GatewayFixture.channel(host, port);
        channels.add(channel);
        return channel;
    }

    private void begin(String name, Runnable work) {
        threads.add(new Thread(work, name));
    }

    /**
     * Writes on top of the previous value or not at all: a write with an unknown outcome may be applied much later, and
     * must not undo newer ones.
     */
    private void write(int writer, List<ManagedChannel> ways) {
        KeyValue last = null;
        int way = writer;
        while (!stopped) {
            KVGrpc.KVBlockingStub voter = kv(ways.get(way % ways.size()), Duration.ofMillis(1_500));
            try {
                if (last == null) {
                    last = current(writer, voter);
                }
                last = next(writer, last, voter);
            } catch (StatusRuntimeException e) {
                last = null;
                way++;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
    }

    private KeyValue current(int writer, KVGrpc.KVBlockingStub voter) {
        RangeResponse found =
                voter.range(RangeRequest.newBuilder().setKey(key(writer)).build());
        return found.getKvsCount() == 0
                ? KeyValue.newBuilder().setValue(ByteString.copyFromUtf8("0")).build()
                : found.getKvs(0);
    }

    private @Nullable KeyValue next(int writer, KeyValue last, KVGrpc.KVBlockingStub voter) {
        long count = count(last) + 1;
        PutRequest put = PutRequest.newBuilder()
                .setKey(key(writer))
                .setValue(ByteString.copyFromUtf8(Long.toString(count)))
                .build();
        TxnResponse done = voter.txn(TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(key(writer))
                        .setTarget(Compare.CompareTarget.MOD)
                        .setModRevision(last.getModRevision()))
                .addSuccess(RequestOp.newBuilder().setRequestPut(put))
                .build());
        if (!done.getSucceeded()) {
            return null;
        }
        long revision = done.getHeader().getRevision();
        acknowledged[writer].set(count);
        acknowledgedRevision.accumulateAndGet(revision, Math::max);
        writes.incrementAndGet();
        return KeyValue.newBuilder()
                .setModRevision(revision)
                .setValue(put.getValue())
                .build();
    }

    private static long count(KeyValue kv) {
        return Long.parseLong(kv.getValue().toStringUtf8());
    }

    private ByteString key(int writer) {
        return ByteString.copyFromUtf8(prefix + writer);
    }

    private static KVGrpc.KVBlockingStub kv(ManagedChannel channel, Duration deadline) {
        return KVGrpc.newBlockingStub(channel).withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** A session with reads one after the other. */
    private final class Reader {
        private final ManagedChannel channel;
        private final Random random;
        private final long[] seen = new long[WRITERS];
        private long seenRevision;

        Reader(ManagedChannel channel, Random random) {
            this.channel = channel;
            this.random = random;
        }

        void run() {
            while (!stopped) {
                boolean local = random.nextInt(4) == 0;
                boolean all = random.nextInt(4) == 0;
                int writer = random.nextInt(WRITERS);
                RangeRequest.Builder request = RangeRequest.newBuilder()
                        .setKey(all ? ByteString.copyFromUtf8(prefix) : key(writer))
                        .setSerializable(local);
                if (all) {
                    request.setRangeEnd(KeyRange.prefix(request.getKey()).etcdRangeEnd());
                }
                long[] before = new long[WRITERS];
                for (int i = 0; i < WRITERS; i++) {
                    before[i] = acknowledged[i].get();
                }
                long revisionBefore = acknowledgedRevision.get();
                try {
                    RangeResponse answer = kv(channel, Duration.ofSeconds(20)).range(request.build());
                    check(answer, local, before, revisionBefore);
                    (local ? serializable : linearizable).incrementAndGet();
                } catch (StatusRuntimeException e) {
                    failed(e, local);
                }
            }
        }

        private void check(RangeResponse answer, boolean local, long[] before, long revisionBefore) {
            long revision = answer.getHeader().getRevision();
            String kind = local ? "serializable" : "linearizable";
            if (revision < seenRevision) {
                violations.add(kind + " at revision " + revision + " after the session had seen " + seenRevision);
            }
            if (!local && revision < revisionBefore) {
                violations.add(kind + " at revision " + revision + " though " + revisionBefore + " was acknowledged");
            }
            for (KeyValue kv : answer.getKvsList()) {
                int writer = Integer.parseInt(kv.getKey().toStringUtf8().substring(prefix.length()));
                long count = count(kv);
                if (count < seen[writer]) {
                    violations.add(kind + " of " + count + " after the session had seen " + seen[writer]);
                }
                if (!local && count < before[writer]) {
                    violations.add(kind + " of " + count + " though " + before[writer] + " was acknowledged");
                }
                if (kv.getModRevision() > revision) {
                    violations.add(kind + " at revision " + revision + " of a key from " + kv.getModRevision());
                }
                seen[writer] = Math.max(seen[writer], count);
            }
            seenRevision = Math.max(seenRevision, revision);
        }

        private void failed(StatusRuntimeException failure, boolean local) {
            if (stopped) {
                return;
            }
            failures.incrementAndGet();
            // Without a quorum, or with a replica that is behind: only etcd's own errors.
            if (local || failure.getStatus().getCode() != Status.Code.UNAVAILABLE) {
                violations.add((local ? "serializable" : "linearizable") + " failed: " + failure.getStatus());
            }
        }
    }
}
