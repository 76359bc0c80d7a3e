package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Channel;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.permission.PermissionSettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random users with random roles ask for random keys, at the gateway and at a voter: the same bytes, or the same refusal.
 * {@code -Dunderstudy.seed=…} repeats a run, {@code -Dunderstudy.requests=…} asks more.
 */
@Timeout(300)
final class PermissionDifferenceIT {

    private static final int REQUESTS = Integer.getInteger("understudy.requests", 6_000);
    private static final int ROUNDS = 3;
    private static final int USERS = 6;
    private static final int UNDER_WAY = 32;
    private static final String ALPHABET = "ab/";
    private static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @Test
    void everybodyIsToldWhatEtcdTellsHim() throws Exception {
        try (Users users = new Users(SOURCE.cluster());
                GatewayFixture fixture = new GatewayFixture(settings())) {
            long last = 0;
            for (int i = 0; i < 50; i++) {
                last = users.asRoot()
                        .put(PutRequest.newBuilder().setKey(key()).build())
                        .getHeader()
                        .getRevision();
            }
            for (int i = 0; i < USERS; i++) {
                users.add("user" + i);
            }
            fixture.awaitReady();
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < USERS; i++) {
                    grant(users, "user" + i);
                }
                List<@Nullable String> tokens = new ArrayList<>();
                tokens.add(null);
                tokens.add("never.1");
                tokens.add("nonsense");
                tokens.add(users.token("root"));
                for (int i = 0; i < USERS; i++) {
                    tokens.add(users.token("user" + i));
                }
                requireNoDifferences(users, fixture, tokens, last);
            }
        }
    }

    private static GatewaySettings settings() {
        EtcdSettings source = EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]))
                .withName("source")
                .withLogin(Users.root());
        return GatewaySettings.of("test", new HostPort("127.0.0.1", 0), source)
                .withPermissions(new PermissionSettings(Duration.ofSeconds(1), false));
    }

    private void grant(Users users, String user) {
        for (int i = random.nextInt(3); i >= 0; i--) {
            Permission.Type type = Permission.Type.forNumber(random.nextInt(3));
            ByteString from = key();
            ByteString to = random.nextInt(3) == 0 ? ByteString.EMPTY : random.nextInt(8) == 0 ? FROM_KEY : key();
            boolean valid = to.isEmpty()
                    || to.equals(FROM_KEY)
                    || ByteString.unsignedLexicographicalComparator().compare(from, to) < 0;
            users.grant(user, type, from, valid ? to : ByteString.EMPTY);
        }
    }

    private void requireNoDifferences(Users users, GatewayFixture fixture, List<@Nullable String> tokens, long revision)
            throws Exception {
        ConcurrentLinkedQueue<String> differences = new ConcurrentLinkedQueue<>();
        Semaphore free = new Semaphore(UNDER_WAY);
        for (int i = 0; i < REQUESTS / ROUNDS; i++) {
            String token = tokens.get(random.nextInt(tokens.size()));
            boolean isRange = random.nextInt(3) > 0;
            Message request = isRange ? range(revision) : txn(revision, 2);
            String method = isRange ? "Range" : "Txn";
            free.acquire();
            CompletableFuture<Void> unused = ask(users.voter(), token, method, request)
                    .thenAcceptBoth(ask(fixture.channel(), token, method, request), (theirs, ours) -> {
                        if (!theirs.equals(ours)) {
                            differences.add(token + " " + request + "\n  etcd: " + theirs + "\n  gateway: " + ours);
                        }
                    })
                    .whenComplete((done, failure) -> free.release());
        }
        free.acquire(UNDER_WAY);
        assertThat(differences)
                .as(() -> "seed " + seed + ", of " + differences.size())
                .isEmpty();
    }

    private static CompletableFuture<String> ask(
            Channel channel, @Nullable String token, String method, Message request) {
        return new RawCalls(Users.as(token, channel)).ask(method, request);
    }

    private RangeRequest range(long revision) {
        return RangeRequest.newBuilder()
                .setKey(random.nextInt(50) == 0 ? ByteString.EMPTY : key())
                .setRangeEnd(end())
                .setRevision(random.nextInt(4) == 0 ? revision + 1_000L * random.nextInt(2) : 0)
                .setSerializable(random.nextInt(4) > 0)
                .setLimit(random.nextInt(3))
                .build();
    }

    private TxnRequest txn(long revision, int depth) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        for (int i = random.nextInt(3); i > 0; i--) {
            txn.addCompare(Compare.newBuilder()
                    .setKey(key())
                    .setRangeEnd(random.nextBoolean() ? ByteString.EMPTY : end())
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

    private ByteString end() {
        return switch (random.nextInt(4)) {
            case 0 -> ByteString.EMPTY;
            case 1 -> FROM_KEY;
            default -> key();
        };
    }

    private ByteString key() {
        StringBuilder key = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0; i--) {
            key.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return ByteString.copyFromUtf8(key.toString());
    }
}
