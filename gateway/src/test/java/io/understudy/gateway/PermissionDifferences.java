package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Channel;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/** Sends random requests of users with random permissions, and compares the gateway's responses with etcd's. */
final class PermissionDifferences {

    private static final int UNDER_WAY = 32;
    private static final String ALPHABET = "ab/";
    private static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);

    private final Set<Granted> granted = new HashSet<>();
    private final boolean backwards;

    /** @param backwards whether some ranges end before their start */
    PermissionDifferences(boolean backwards) {
        this.backwards = backwards;
    }

    /** A user with connections of its own. */
    record Client(String name, Channel etcd, Channel gateway) {}

    private record Granted(String user, ByteString from, ByteString to) {}

    /** Grants to the role of that name. */
    void grant(Users users, String user) {
        for (int i = random.nextInt(3); i >= 0; i--) {
            Permission.Type type = Permission.Type.forNumber(random.nextInt(3));
            ByteString from = key();
            ByteString to = random.nextInt(3) == 0 ? ByteString.EMPTY : random.nextInt(8) == 0 ? FROM_KEY : key();
            boolean valid = to.isEmpty()
                    || to.equals(FROM_KEY)
                    || ByteString.unsignedLexicographicalComparator().compare(from, to) < 0;
            // etcd replaces the type of a range granted before: a revocation, which takes effect later.
            if (granted.add(new Granted(user, from, valid ? to : ByteString.EMPTY))) {
                users.grant(user, type, from, valid ? to : ByteString.EMPTY);
            }
        }
    }

    /**
     * Sends that many requests, each as one of {@code clients}.
     *
     * @param revision an existing one
     */
    void requireNone(int requests, List<Client> clients, long revision) throws InterruptedException {
        ConcurrentLinkedQueue<String> differences = new ConcurrentLinkedQueue<>();
        Semaphore free = new Semaphore(UNDER_WAY);
        for (int i = 0; i < requests; i++) {
            Client client = clients.get(random.nextInt(clients.size()));
            boolean isRange = random.nextInt(3) > 0;
            Message request = isRange ? range(revision) : txn(revision, 2);
            String method = isRange ? "Range" : "Txn";
            free.acquire();
            CompletableFuture<Void> unused = new RawCalls(client.etcd())
                    .call(method, request)
                    .thenAcceptBoth(new RawCalls(client.gateway()).call(method, request), (theirs, ours) -> {
                        if (!theirs.equals(ours)) {
                            differences.add(
                                    client.name() + " " + request + "\n  etcd: " + theirs + "\n  gateway: " + ours);
                        }
                    })
                    .whenComplete((done, failure) -> free.release());
        }
        free.acquire(UNDER_WAY);
        assertThat(differences)
                .as(() -> "seed " + seed + ", of " + differences.size())
                .isEmpty();
    }

    private RangeRequest range(long revision) {
        ByteString key = random.nextInt(50) == 0 ? ByteString.EMPTY : key();
        return RangeRequest.newBuilder()
                .setKey(key)
                .setRangeEnd(end(key))
                .setRevision(random.nextInt(4) == 0 ? revision + 1_000L * random.nextInt(2) : 0)
                .setSerializable(random.nextInt(4) > 0)
                .setLimit(random.nextInt(3))
                .build();
    }

    private TxnRequest txn(long revision, int depth) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        for (int i = random.nextInt(3); i > 0; i--) {
            ByteString key = key();
            txn.addCompare(Compare.newBuilder()
                    .setKey(key)
                    .setRangeEnd(random.nextBoolean() ? ByteString.EMPTY : end(key))
                    .setTarget(Compare.CompareTarget.VERSION)
                    .setResult(Compare.CompareResult.GREATER));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            txn.addSuccess(op(revision, depth));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            txn.addFailure(op(revision, depth));
        }
        return txn.build();
    }

    private RequestOp op(long revision, int depth) {
        return depth > 0 && random.nextInt(4) == 0
                ? RequestOp.newBuilder().setRequestTxn(txn(revision, depth - 1)).build()
                : RequestOp.newBuilder()
                        .setRequestRange(range(revision).toBuilder().setRevision(0))
                        .build();
    }

    private ByteString end(ByteString key) {
        return switch (random.nextInt(4)) {
            case 0 -> ByteString.EMPTY;
            case 1 -> FROM_KEY;
            default -> {
                ByteString end = key();
                boolean isBackwards =
                        ByteString.unsignedLexicographicalComparator().compare(key, end) > 0;
                yield isBackwards && !backwards ? key.concat(end) : end;
            }
        };
    }

    ByteString key() {
        StringBuilder key = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0; i--) {
            key.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return ByteString.copyFromUtf8(key.toString());
    }
}
