package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.understudy.local.junit.EtcdExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Compares random ranges and transactions at the gateway and at its source: equal bytes, except member id and raft term, or
 * equal errors. {@code -Dunderstudy.seed=…} repeats a run, {@code -Dunderstudy.requests=…} sets the number of requests.
 *
 * <p>Tests invariants A1, A1c.
 */
@Timeout(300)
@Tag("core")
final class DifferenceIT {

    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int REQUESTS = Integer.getInteger("understudy.requests", LONG ? 20_000 : 2_000);
    /** Each costs the gateway one or more requests to its source. */
    private static final int REQUESTS_PASSED_ON = REQUESTS / 10;

    /** The last one that is written, so that the gateway is seen to have all of it. */
    private static final ByteString HELD = ByteString.copyFromUtf8("a");

    /** Few, since a gateway that is overloaded rejects reads. */
    private static final int UNDER_WAY = 32;

    private static final int KEYS = 400;
    private static final int WRITES = 1_000;
    private static final int LEASES = 3;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final RandomKeys keys = new RandomKeys(random, KEYS);

    private static ManagedChannel source;

    @BeforeAll
    static void connect() {
        var url = SOURCE.cluster().clientUrls().get(0);
        source = GatewayFixture.channel(url.getHost(), url.getPort());
        for (long lease = 1; lease <= LEASES; lease++) {
            var unused = LeaseGrpc.newBlockingStub(source)
                    .leaseGrant(LeaseGrantRequest.newBuilder()
                            .setID(lease)
                            .setTTL(3_600)
                            .build());
        }
    }

    @AfterAll
    static void disconnect() {
        source.shutdownNow();
    }

    @Test
    void answersEqualThoseOfEtcd() throws Exception {
        requireNoDifferences("", REQUESTS);
    }

    @Test
    void readsOutsideTheRangeEqualThoseOfEtcd() throws Exception {
        requireNoDifferences(HELD.toStringUtf8(), REQUESTS_PASSED_ON);
    }

    /** Protobuf for Java omits an empty end; etcd distinguishes it from a missing one. */
    @Test
    void anExplicitEmptyEndIsReadAsByEtcd() throws Exception {
        write();
        ByteString range = RangeRequest.newBuilder()
                .setKey(HELD)
                .build()
                .toByteString()
                .concat(field(RangeRequest.RANGE_END_FIELD_NUMBER, ByteString.EMPTY));
        ByteString compare = Compare.newBuilder()
                .setKey(HELD)
                .setTarget(Compare.CompareTarget.VERSION)
                .setResult(Compare.CompareResult.LESS)
                .setVersion(2)
                .build()
                .toByteString()
                .concat(field(Compare.RANGE_END_FIELD_NUMBER, ByteString.EMPTY));
        ByteString read = field(RequestOp.REQUEST_RANGE_FIELD_NUMBER, range);
        ByteString txn = field(TxnRequest.COMPARE_FIELD_NUMBER, compare)
                .concat(field(TxnRequest.SUCCESS_FIELD_NUMBER, read))
                .concat(field(TxnRequest.FAILURE_FIELD_NUMBER, read));
        ByteString nested =
                txn.concat(field(TxnRequest.SUCCESS_FIELD_NUMBER, field(RequestOp.REQUEST_TXN_FIELD_NUMBER, txn)));
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            fixture.awaitRevision(
                    HELD,
                    GatewayFixture.kv(source)
                            .put(PutRequest.newBuilder().setKey(HELD).build())
                            .getHeader()
                            .getRevision());
            RawCalls etcd = new RawCalls(source);
            RawCalls gateway = new RawCalls(fixture.channel());
            assertThat(gateway.call("Range", range.toByteArray()).get())
                    .isEqualTo(etcd.call("Range", range.toByteArray()).get());
            assertThat(gateway.call("Txn", txn.toByteArray()).get())
                    .isEqualTo(etcd.call("Txn", txn.toByteArray()).get());
            assertThat(gateway.call("Txn", nested.toByteArray()).get())
                    .isEqualTo(etcd.call("Txn", nested.toByteArray()).get());
        }
    }

    private static ByteString field(int number, ByteString content) {
        return UnknownFieldSet.newBuilder()
                .addField(
                        number,
                        UnknownFieldSet.Field.newBuilder()
                                .addLengthDelimited(content)
                                .build())
                .build()
                .toByteString();
    }

    /** Of a gateway that started after some of the writes, so that some revisions are compacted, some held, some neither. */
    private void requireNoDifferences(String prefix, int requests) throws Exception {
        write();
        long compacted = GatewayFixture.kv(source)
                .range(RangeRequest.newBuilder().setKey(HELD).build())
                .getHeader()
                .getRevision();
        GatewayFixture.kv(source)
                .compact(CompactionRequest.newBuilder().setRevision(compacted).build());
        write();
        GatewaySettings settings = GatewayFixture.settings(SOURCE.cluster()).withPrefix(prefix);
        try (GatewayFixture fixture = new GatewayFixture(settings)) {
            fixture.awaitReady();
            write();
            long current = GatewayFixture.kv(source)
                    .put(PutRequest.newBuilder().setKey(HELD).build())
                    .getHeader()
                    .getRevision();
            fixture.awaitRevision(HELD, current);
            RandomReads reads = new RandomReads(random, keys, compacted, current);
            RawCalls etcd = new RawCalls(source);
            RawCalls gateway = new RawCalls(fixture.channel());
            ConcurrentLinkedQueue<String> differences = new ConcurrentLinkedQueue<>();
            Semaphore free = new Semaphore(UNDER_WAY);
            for (int i = 0; i < requests; i++) {
                boolean isRange = random.nextInt(3) > 0;
                Message request = isRange ? reads.range() : reads.txn();
                String method = isRange ? "Range" : "Txn";
                free.acquire();
                CompletableFuture<Void> unused = etcd.call(method, request)
                        .thenAcceptBoth(gateway.call(method, request), (theirs, ours) -> {
                            if (!theirs.equals(ours)) {
                                differences.add(request + "\n  etcd: " + theirs + "\n  gateway: " + ours);
                            }
                        })
                        .whenComplete((done, failure) -> free.release());
            }
            free.acquire(UNDER_WAY);
            assertThat(differences.size())
                    .as(() -> "seed " + seed + ", the first ones: " + firstOf(differences))
                    .isZero();
        }
    }

    private static List<String> firstOf(ConcurrentLinkedQueue<String> differences) {
        return differences.stream()
                .limit(3)
                .map(difference -> difference.substring(0, Math.min(difference.length(), 2_000)))
                .toList();
    }

    private void write() throws ExecutionException, InterruptedException {
        var kv = KVGrpc.newFutureStub(source).withDeadlineAfter(60, TimeUnit.SECONDS);
        List<Future<?>> written = new ArrayList<>();
        for (int i = 0; i < WRITES; i++) {
            written.add(
                    random.nextInt(4) == 0
                            ? kv.deleteRange(DeleteRangeRequest.newBuilder()
                                    .setKey(keys.used())
                                    .build())
                            : kv.put(PutRequest.newBuilder()
                                    .setKey(keys.used())
                                    .setValue(ByteString.copyFromUtf8(value()))
                                    .setLease(random.nextInt(LEASES + 1))
                                    .build()));
        }
        for (Future<?> each : written) {
            Object unused = each.get();
        }
    }

    private String value() {
        return random.nextInt(4) == 0 ? "" : Integer.toString(random.nextInt(10));
    }
}
