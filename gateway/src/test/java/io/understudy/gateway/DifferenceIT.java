package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.KeySpace;
import io.understudy.gateway.api.RangeEvaluation;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.ReplicaKeys;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.States;
import io.understudy.gateway.api.TxnPath;
import io.understudy.gateway.api.TxnPlan;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.api.WireForm;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random ranges and transactions, evaluated here and by etcd: the same bytes, but for member id and raft term, or the same
 * refusal. {@code -Dunderstudy.seed=…} repeats a run, {@code -Dunderstudy.requests=…} asks more.
 */
@Timeout(300)
final class DifferenceIT {

    private static final int REQUESTS = Integer.getInteger("understudy.requests", 20_000);
    private static final int UNDER_WAY = 256;
    private static final int KEYS = 400;
    private static final int WRITES = 1_500;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final RandomKeys keys = new RandomKeys(random, KEYS);

    @Test
    void answersAreThoseOfEtcd() throws Exception {
        var url = SOURCE.cluster().clientUrls().get(0);
        ManagedChannel channel = GatewayFixture.channel(url.getHost(), url.getPort());
        try {
            write(channel);
            long current = header(channel).getHeader().getRevision();
            long compacted = current - WRITES / 2;
            GatewayFixture.kv(channel)
                    .compact(CompactionRequest.newBuilder()
                            .setRevision(compacted)
                            .build());
            RawCalls etcd = new RawCalls(channel);
            Evaluators here = new Evaluators(channel, compacted, current);
            RandomReads reads = new RandomReads(random, keys, compacted, current);
            List<String> differences = new ArrayList<>();
            Semaphore free = new Semaphore(UNDER_WAY);
            for (int i = 0; i < REQUESTS; i++) {
                boolean range = random.nextInt(3) > 0;
                Message request = range ? reads.range() : reads.txn();
                String method = range ? "Range" : "Txn";
                String number = "request " + i;
                free.acquire();
                String mine = here.ask(request);
                CompletableFuture<Void> unused = etcd.ask(method, request).thenAccept(theirs -> {
                    free.release();
                    if (!theirs.equals(mine)) {
                        synchronized (differences) {
                            differences.add(number + ": " + request + "\n etcd: " + theirs + "\n here: " + mine);
                        }
                    }
                });
            }
            free.acquire(UNDER_WAY);
            assertThat(differences.size())
                    .as(() -> "seed " + seed + ": "
                            + differences.stream()
                                    .limit(5)
                                    .map(d -> d.substring(0, Math.min(d.length(), 2000)))
                                    .toList())
                    .isZero();
        } finally {
            channel.shutdownNow();
        }
    }

    private void write(ManagedChannel channel) throws Exception {
        for (long lease = 1; lease <= 3; lease++) {
            LeaseGrpc.newBlockingStub(channel)
                    .leaseGrant(LeaseGrantRequest.newBuilder()
                            .setID(lease)
                            .setTTL(3_600)
                            .build());
        }
        var kv = KVGrpc.newFutureStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS);
        for (int i = 0; i < WRITES; i++) {
            var written = random.nextInt(4) == 0
                    ? kv.deleteRange(
                            DeleteRangeRequest.newBuilder().setKey(keys.used()).build())
                    : kv.put(PutRequest.newBuilder()
                            .setKey(keys.used())
                            .setValue(ByteString.copyFromUtf8(value()))
                            .setLease(random.nextInt(4))
                            .build());
            if (i == WRITES - 1) {
                Object unused = written.get();
            }
        }
    }

    private String value() {
        return random.nextInt(4) == 0 ? "" : Integer.toString(random.nextInt(10));
    }

    private static RangeResponse header(ManagedChannel channel) {
        return GatewayFixture.kv(channel).range(GatewayFixture.everythingRequest());
    }

    /** The functions that answer, without a network, against states read from etcd at the revisions asked for. */
    private static final class Evaluators {
        private final ManagedChannel channel;
        private final long compacted;
        private final long current;
        private long cluster;
        private final Map<Long, KeySpace> spaces = new ConcurrentHashMap<>();

        Evaluators(ManagedChannel channel, long compacted, long current) {
            this.channel = channel;
            this.compacted = compacted;
            this.current = current;
        }

        String ask(Message request) {
            try {
                return RawCalls.comparable(
                        request instanceof RangeRequest range ? range(range) : txn((TxnRequest) request));
            } catch (ApiException e) {
                return e.code() + ": " + e.text();
            }
        }

        private byte[] range(RangeRequest request) throws ApiException {
            RangeRequests.requireValid(request);
            return bytes(WireForm.of(evaluated(request)));
        }

        private RangeResult evaluated(RangeRequest request) throws ApiException {
            return RangeEvaluation.range(request, at(request.getRevision()), header());
        }

        private byte[] txn(TxnRequest request) throws ApiException {
            TxnRequests.requireValid(request);
            TxnPath path = new TxnPlan(request).choose(at(0));
            List<RangeResult> results = new ArrayList<>();
            for (RangeRequest range : path.ranges()) {
                results.add(evaluated(range));
            }
            return bytes(WireForm.of(path.result(results, header())));
        }

        private ResponseHeader header() {
            return new ResponseHeaders(new MemberId(5), () -> 1).of(new ClusterId(cluster), new Revision(current));
        }

        private KeySpace at(long revision) throws ApiException {
            if (revision > current) {
                throw ApiException.futureRevision();
            }
            long wanted = revision <= 0 ? current : revision;
            if (wanted < compacted) {
                throw ApiException.compacted();
            }
            return spaces.computeIfAbsent(wanted, this::read);
        }

        private KeySpace read(long revision) {
            RangeResponse all = GatewayFixture.kv(channel)
                    .range(GatewayFixture.everythingRequest().toBuilder()
                            .setRevision(revision)
                            .build());
            cluster = all.getHeader().getClusterId();
            return new ReplicaKeys(States.of(
                    KeyRange.all(),
                    revision,
                    all.getKvsList().stream()
                            .map(kv -> new KeyValue(
                                    kv.getKey(),
                                    kv.getValue(),
                                    new Revision(kv.getCreateRevision()),
                                    new Revision(kv.getModRevision()),
                                    kv.getVersion(),
                                    kv.getLease()))
                            .toList()));
        }

        private static byte[] bytes(AnswerBody body) {
            ByteBuf out = Unpooled.buffer();
            while (body.appendTo(out, 1_000)) {
                // Piece by piece.
            }
            return ByteBufUtil.getBytes(out);
        }
    }
}
