package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.vocabulary.KeyRange;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Concurrent writers to the voters: puts, deletes, transactions over several keys, and leases that run out. */
final class RandomWrites implements AutoCloseable {

    /** The prefixes of all keys. */
    static final List<String> PREFIXES = List.of("a/", "b/", "c/");

    static final int KEYS_PER_PREFIX = 8;

    private static final int WRITERS = 3;
    private static final int MAX_BURST = 40;

    private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
    private final List<List<ManagedChannel>> ways = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /** Starts the writers. */
    RandomWrites(List<URI> voters, long seed) {
        for (int i = 0; i < WRITERS; i++) {
            List<ManagedChannel> own = new ArrayList<>();
            voters.forEach(voter -> own.add(GatewayFixture.channel(voter.getHost(), voter.getPort())));
            ways.add(own);
            Random random = new Random(seed + i);
            int first = i;
            threads.add(new Thread(() -> write(own, first, random), "writer-" + i));
        }
        threads.forEach(Thread::start);
    }

    /** Revisions of the writes that were acknowledged. */
    Set<Long> acknowledged() {
        return acknowledged;
    }

    static String key(Random random) {
        return PREFIXES.get(random.nextInt(PREFIXES.size())) + random.nextInt(KEYS_PER_PREFIX);
    }

    /** Stops the writers and waits for their last writes. */
    void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(30));
        }
    }

    @Override
    public void close() {
        stopped = true;
        ways.forEach(own -> own.forEach(ManagedChannel::shutdownNow));
    }

    private void write(List<ManagedChannel> own, int first, Random random) {
        int way = first;
        while (!stopped) {
            int burst = random.nextInt(50) == 0 ? random.nextInt(MAX_BURST) : 1;
            for (int i = 0; i < burst && !stopped; i++) {
                try {
                    long revision = write(own.get(way % own.size()), random);
                    if (revision > 0) {
                        acknowledged.add(revision);
                    }
                } catch (StatusRuntimeException e) {
                    // The member is down or has no leader; the write may still succeed.
                    way++;
                }
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5 + random.nextInt(30)));
        }
    }

    /** Returns the revision of the write; 0 if nothing changed. */
    private static long write(ManagedChannel voter, Random random) {
        KVGrpc.KVBlockingStub kv = KVGrpc.newBlockingStub(voter).withDeadlineAfter(1_500, TimeUnit.MILLISECONDS);
        return switch (random.nextInt(20)) {
            case 0, 1, 2 -> revision(kv.deleteRange(delete(key(random))));
            case 3 -> revision(kv.deleteRange(deletePrefix(PREFIXES.get(random.nextInt(PREFIXES.size())))));
            case 4, 5, 6, 7, 8 -> kv.txn(transaction(random)).getHeader().getRevision();
            case 9 -> {
                long lease = LeaseGrpc.newBlockingStub(voter)
                        .withDeadlineAfter(1_500, TimeUnit.MILLISECONDS)
                        .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(1).build())
                        .getID();
                yield kv.txn(TxnRequest.newBuilder()
                                .addSuccess(put(key(random), random, lease))
                                .addSuccess(put("lease/" + random.nextInt(KEYS_PER_PREFIX), random, lease))
                                .build())
                        .getHeader()
                        .getRevision();
            }
            default ->
                kv.put(put(key(random), random, 0).getRequestPut()).getHeader().getRevision();
        };
    }

    /** Puts and deletes several keys, each once. */
    private static TxnRequest transaction(Random random) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        int from = random.nextInt(KEYS_PER_PREFIX - 3);
        for (String prefix : PREFIXES) {
            for (int i = 0; i < 1 + random.nextInt(3); i++) {
                String key = prefix + (from + i);
                txn.addSuccess(
                        random.nextInt(4) == 0
                                ? RequestOp.newBuilder()
                                        .setRequestDeleteRange(delete(key))
                                        .build()
                                : put(key, random, 0));
            }
        }
        // So that every transaction changes something.
        return txn.addSuccess(put("txn", random, 0)).build();
    }

    private static long revision(DeleteRangeResponse response) {
        return response.getDeleted() == 0 ? 0 : response.getHeader().getRevision();
    }

    private static RequestOp put(String key, Random random, long lease) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setValue(ByteString.copyFromUtf8(Long.toHexString(random.nextLong())))
                        .setLease(lease))
                .build();
    }

    private static DeleteRangeRequest delete(String key) {
        return DeleteRangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .build();
    }

    private static DeleteRangeRequest deletePrefix(String prefix) {
        KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8(prefix));
        return DeleteRangeRequest.newBuilder()
                .setKey(range.from())
                .setRangeEnd(range.etcdRangeEnd())
                .build();
    }
}
