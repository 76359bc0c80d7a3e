package io.understudy.mirror.active;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A target that is busy answers reads late: they wait for all that was written before. The role lasts as long as its lease.
 *
 * <p>Tests invariant M8.
 */
@Timeout(60)
final class ActiveLeaseTest {

    private static final long LEASE = 7;
    private static final Duration TTL = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private volatile boolean busy;
    private volatile boolean gone;
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicInteger keptAlive = new AtomicInteger();
    private final AtomicReference<KeyValue> stored = new AtomicReference<>();

    @Test
    void theRoleIsKeptWhileTheTargetAnswersNoReads() throws IOException {
        Server target = start();
        try (EtcdCluster cluster = EtcdCluster.connect(
                        EtcdSettings.of(URI.create("http://127.0.0.1:" + target.getPort()))
                                .withDiscovery(MemberDiscovery.CONFIGURED),
                        new SimpleMeterRegistry());
                ActiveRole role = ActiveLease.start("dr", "one", cluster, TTL, new SimpleMeterRegistry())) {
            role.compete(true);
            await().atMost(PATIENCE).until(role::isActive);
            long activation = role.activation();
            busy = true;
            // Longer than the lease lasts without being kept alive: a read that fails takes a quarter of it.
            await().atMost(PATIENCE).until(() -> unanswered.get() >= 8);
            assertThat(role.isActive()).isTrue();
            assertThat(role.activation()).isEqualTo(activation);
            assertThat(keptAlive.get()).isGreaterThanOrEqualTo(8);

            gone = true;
            await().atMost(PATIENCE).until(() -> !role.isActive());
        } finally {
            target.shutdownNow();
        }
    }

    @Test
    void aLeaseThatLastsDoesNotReturnARoleThatAnotherProcessHas() throws Exception {
        Server target = start();
        try (EtcdCluster cluster = EtcdCluster.connect(
                        EtcdSettings.of(URI.create("http://127.0.0.1:" + target.getPort()))
                                .withDiscovery(MemberDiscovery.CONFIGURED),
                        new SimpleMeterRegistry());
                ActiveRole role = ActiveLease.start("dr", "one", cluster, TTL, new SimpleMeterRegistry())) {
            role.compete(true);
            await().atMost(PATIENCE).until(role::isActive);
            long activation = role.activation();
            stored.set(stored.get().toBuilder()
                    .setValue(ByteString.copyFromUtf8("two"))
                    .setLease(LEASE + 1)
                    .build());
            assertThat(role.isConfirmed(activation)).isFalse();
            busy = true;
            int before = keptAlive.get();
            await().atMost(PATIENCE)
                    .until(() -> keptAlive.get() >= before + 2 || (!role.isActive() && unanswered.get() > 1));
            assertThat(role.activation()).isEqualTo(activation);
            assertThat(role.isActive()).isFalse();
        } finally {
            target.shutdownNow();
        }
    }

    private Server start() throws IOException {
        return NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new KVGrpc.KVImplBase() {
                    @Override
                    public void range(RangeRequest request, StreamObserver<RangeResponse> to) {
                        if (busy) {
                            unanswered.incrementAndGet();
                            return;
                        }
                        RangeResponse.Builder answer = RangeResponse.newBuilder();
                        KeyValue found = stored.get();
                        if (found != null) {
                            answer.addKvs(found).setCount(1);
                        }
                        to.onNext(answer.build());
                        to.onCompleted();
                    }

                    @Override
                    public void txn(TxnRequest request, StreamObserver<TxnResponse> to) {
                        PutRequest put = request.getSuccess(0).getRequestPut();
                        stored.set(KeyValue.newBuilder()
                                .setKey(put.getKey())
                                .setValue(put.getValue())
                                .setLease(put.getLease())
                                .setModRevision(2)
                                .build());
                        to.onNext(TxnResponse.newBuilder().setSucceeded(true).build());
                        to.onCompleted();
                    }
                })
                .addService(new LeaseGrpc.LeaseImplBase() {
                    @Override
                    public void leaseGrant(LeaseGrantRequest request, StreamObserver<LeaseGrantResponse> to) {
                        to.onNext(LeaseGrantResponse.newBuilder()
                                .setID(LEASE)
                                .setTTL(TTL.toSeconds())
                                .build());
                        to.onCompleted();
                    }

                    @Override
                    public StreamObserver<LeaseKeepAliveRequest> leaseKeepAlive(
                            StreamObserver<LeaseKeepAliveResponse> to) {
                        return new StreamObserver<>() {
                            @Override
                            public void onNext(LeaseKeepAliveRequest request) {
                                keptAlive.incrementAndGet();
                                to.onNext(LeaseKeepAliveResponse.newBuilder()
                                        .setID(request.getID())
                                        .setTTL(gone ? 0 : TTL.toSeconds())
                                        .build());
                            }

                            @Override
                            public void onError(Throwable failure) {}

                            @Override
                            public void onCompleted() {
                                to.onCompleted();
                            }
                        };
                    }
                })
                .build()
                .start();
    }
}
