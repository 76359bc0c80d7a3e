package io.understudy.gateway;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.ManagedChannel;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/** Random requests of watch streams, and random writes meanwhile. */
final class RandomWatches {

    private static final int KEYS = 12;
    /** Large, so that a few events make a response that is split. */
    private static final int LARGE_BYTES = 400_000;

    private final Random random;
    private final RandomKeys keys;
    private final boolean large;
    private long lease;

    /** Bounds of {@code start_revision}: at least {@code oldest}; compacted up to {@code gone}. */
    record Starts(long gone, long oldest, long now) {}

    RandomWatches(Random random) {
        this.random = random;
        this.keys = new RandomKeys(random, KEYS);
        this.large = random.nextInt(10) == 0;
        this.lease = random.nextLong(Long.MAX_VALUE / 2);
    }

    WatchRequest create(Starts starts, Iterable<Long> idsInUse) {
        WatchCreateRequest.Builder create = WatchCreateRequest.newBuilder()
                .setKey(random.nextInt(10) == 0 ? ByteString.EMPTY : keys.any())
                .setPrevKv(random.nextInt(3) == 0)
                .setProgressNotify(random.nextInt(4) == 0);
        create.setRangeEnd(end());
        for (int filters = random.nextInt(6) - 3; filters > 0; filters--) {
            create.addFiltersValue(random.nextInt(3));
        }
        create.setStartRevision(start(starts, create.getPrevKv()));
        if (random.nextInt(3) == 0) {
            WatchRequests.fragment(create);
        }
        if (random.nextInt(3) == 0) {
            WatchRequests.id(create, id(idsInUse));
        }
        return WatchRequest.newBuilder().setCreateRequest(create).build();
    }

    private ByteString end() {
        return switch (random.nextInt(5)) {
            case 0, 1 -> ByteString.EMPTY;
            case 2 -> GatewayFixture.ZERO;
            default -> keys.any();
        };
    }

    private long start(Starts starts, boolean previous) {
        return switch (random.nextInt(12)) {
            case 0, 1, 2, 3, 4 -> 0;
            case 5, 6, 7 -> between(starts.oldest() + (previous ? 1 : 0), starts.now() + 1);
            case 8, 9 -> starts.now() + 1 + random.nextInt(12);
            case 10 -> starts.gone() > 0 ? between(1, starts.gone()) : 1_000_000;
            default -> random.nextBoolean() ? -1 : Long.MIN_VALUE;
        };
    }

    private long between(long least, long most) {
        return least + random.nextLong(Math.max(1, most - least + 1));
    }

    /** Returns the ID of a watcher that may not exist. */
    long id(Iterable<Long> inUse) {
        for (long id : inUse) {
            if (random.nextInt(3) == 0) {
                return id;
            }
        }
        return random.nextInt(8) == 0 ? -7 : random.nextInt(8);
    }

    /** Writes; returns the revision after it. */
    long write(ManagedChannel etcd) {
        KVBlockingStub kv = GatewayFixture.kv(etcd);
        return switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> kv.put(put(keys.used())).getHeader().getRevision();
            case 4, 5 ->
                kv.deleteRange(DeleteRangeRequest.newBuilder()
                                .setKey(keys.used())
                                .build())
                        .getHeader()
                        .getRevision();
            case 6 ->
                kv.deleteRange(DeleteRangeRequest.newBuilder()
                                .setKey(keys.any())
                                .setRangeEnd(end())
                                .build())
                        .getHeader()
                        .getRevision();
            case 7, 8 -> kv.txn(txn()).getHeader().getRevision();
            default -> leased(etcd, kv);
        };
    }

    private TxnRequest txn() {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        Set<ByteString> touched = new HashSet<>();
        for (int ops = random.nextInt(6); ops > 0; ops--) {
            ByteString key = keys.used();
            if (touched.add(key)) {
                txn.addSuccess(
                        random.nextInt(3) == 0
                                ? RequestOp.newBuilder()
                                        .setRequestDeleteRange(
                                                DeleteRangeRequest.newBuilder().setKey(key))
                                        .build()
                                : RequestOp.newBuilder()
                                        .setRequestPut(put(key).toBuilder().setValue(small()))
                                        .build());
            }
        }
        return txn.build();
    }

    /** Puts some keys with a lease, and revokes it. */
    private long leased(ManagedChannel etcd, KVBlockingStub kv) {
        LeaseGrpc.LeaseBlockingStub leases = LeaseGrpc.newBlockingStub(etcd);
        lease++;
        var unused = leases.leaseGrant(
                LeaseGrantRequest.newBuilder().setID(lease).setTTL(3_600).build());
        long revision = 0;
        for (int puts = 1 + random.nextInt(4); puts > 0; puts--) {
            revision = kv.put(put(keys.used()).toBuilder().setLease(lease).build())
                    .getHeader()
                    .getRevision();
        }
        return random.nextInt(3) == 0
                ? revision
                : leases.leaseRevoke(
                                LeaseRevokeRequest.newBuilder().setID(lease).build())
                        .getHeader()
                        .getRevision();
    }

    private PutRequest put(ByteString key) {
        ByteString value = large && random.nextInt(3) == 0 ? ByteString.copyFrom(new byte[LARGE_BYTES]) : small();
        return PutRequest.newBuilder().setKey(key).setValue(value).build();
    }

    private ByteString small() {
        return ByteString.copyFromUtf8(random.nextInt(4) == 0 ? "" : Integer.toString(random.nextInt(1_000)));
    }
}
