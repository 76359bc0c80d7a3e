package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.read.ReadSource.ReadableCluster;
import io.understudy.gateway.replica.Replica;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Proxied reads while the source is replaced.
 *
 * <p>Tests invariant G3.
 */
@Timeout(120)
final class MovedReadsIT {

    @RegisterExtension
    static final EtcdExtension FORMER = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension NEXT = EtcdExtension.voters(1).named("standby");

    private static final ByteString KEY = ByteString.copyFromUtf8("key");

    private final Vertx vertx = Vertx.vertx();
    private EtcdCluster former;
    private EtcdCluster next;

    @BeforeEach
    void connect() {
        former = connected(FORMER.cluster(), "former");
        next = connected(NEXT.cluster(), "next");
    }

    @AfterEach
    void close() throws Exception {
        former.close();
        next.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    @Test
    void aTransactionReadsOneCluster() throws Exception {
        AtomicBoolean moved = new AtomicBoolean();
        TxnResult read = txn(new ReadSource.Cluster(
                () -> new ReadableCluster(moved.get() ? next : former, 0, revision -> {
                    moved.set(true);
                    return true;
                }),
                deadline -> new CompletableFuture<>(),
                former.thread()));
        assertThat(moved).isTrue();
        assertThat(read.succeeded()).isTrue();
        assertThat(((RangeResult) read.results().get(0))
                        .entries()
                        .iterator()
                        .next()
                        .value())
                .isEqualTo(ByteString.copyFromUtf8("former"));
    }

    private TxnResult txn(ReadSource source) throws Exception {
        ReadPath reads = new ReadPath(
                vertx,
                ReadSettings.DEFAULTS,
                new Replica(KeyRange.all(), state -> {}),
                new ResponseHeaders(new MemberId(1), () -> 1),
                ReadPermissions.EVERYTHING,
                source,
                () -> {},
                () -> false,
                new SimpleMeterRegistry(),
                System::nanoTime);
        TxnRequest request = TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(KEY)
                        .setTarget(Compare.CompareTarget.VALUE)
                        .setValue(ByteString.copyFromUtf8("former")))
                .addSuccess(RequestOp.newBuilder()
                        .setRequestRange(RangeRequest.newBuilder().setKey(KEY).setSerializable(true)))
                .build();
        CompletableFuture<Answer<TxnResult>> answer = new CompletableFuture<>();
        vertx.getOrCreateContext().runOnContext(run -> {
            Future<Answer<TxnResult>> unused = reads.txn(
                            new Caller(
                                    Principal.ANONYMOUS,
                                    new Session(),
                                    Freshness.ANY,
                                    Caller.NO_DEADLINE,
                                    () -> false,
                                    Runnable::run),
                            request)
                    .onSuccess(answer::complete)
                    .onFailure(answer::completeExceptionally);
        });
        try {
            return answer.get(30, TimeUnit.SECONDS).result();
        } finally {
            reads.close();
        }
    }

    /** Connected to a cluster in which the key has its name. */
    private static EtcdCluster connected(LocalEtcd etcd, String name) {
        URI url = etcd.clientUrls().get(0);
        ManagedChannel channel = ManagedChannelBuilder.forAddress(url.getHost(), url.getPort())
                .usePlaintext()
                .build();
        try {
            var unused = KVGrpc.newBlockingStub(channel)
                    .put(PutRequest.newBuilder()
                            .setKey(KEY)
                            .setValue(ByteString.copyFromUtf8(name))
                            .build());
        } finally {
            channel.shutdownNow();
        }
        return EtcdCluster.connect(EtcdSettings.of(url).withName(name), new SimpleMeterRegistry());
    }
}
