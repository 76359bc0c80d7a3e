package io.understudy.cluster.supervise.elect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseRevokeResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The right to change a cluster ends with its lease or its key.
 *
 * <p>Tests invariant DP23.
 */
final class TurnTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long LEASE = 7;

    private final AtomicReference<KeyValue> key = new AtomicReference<>(KeyValue.newBuilder()
            .setKey(ByteString.copyFromUtf8("\0understudy/cluster/changing"))
            .setLease(LEASE)
            .build());
    private volatile long timeToLive = 10;
    private volatile Status refusal = Status.OK;
    private Server server;
    private EtcdSettings settings;
    private EtcdConnections connections;

    @BeforeEach
    void open() throws Exception {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Keys())
                .addService(new Leases())
                .build()
                .start();
        settings = EtcdSettings.of(URI.create("http://127.0.0.1:" + server.getPort()));
        connections = EtcdConnections.open(settings);
        // The first call of a process takes longest, and is not to count from a request's deadline.
        connections
                .call(settings.seeds().get(0), KVGrpc.getRangeMethod(), RangeRequest.getDefaultInstance(), PATIENCE)
                .get();
    }

    @AfterEach
    void close() {
        connections.close();
        server.shutdownNow();
    }

    /** As after a suspend of the command: another one may have had the right. */
    @Test
    void theRightEndsAtOnceWhenItsLeaseIsGone() throws Exception {
        try (Turn turn = turn()) {
            assertThat(turn.lost()).isEmpty();
            timeToLive = 0;
            await().atMost(PATIENCE).until(() -> turn.lost().isPresent());

            assertThat(turn.lost()).hasValue("the lease of this command has expired, so supervisors may act again");
        }
    }

    /** As by {@code etcdctl del "" --prefix}; the lease stays. */
    @Test
    void theRightEndsWithItsKey() throws Exception {
        try (Turn turn = turn()) {
            assertThat(turn.lost()).isEmpty();
            key.set(key.get().toBuilder().setLease(8).build());

            assertThat(turn.lost()).hasValue("the key of this command was deleted, so supervisors may act again");
        }
    }

    @Test
    void anAlarmIsNamedWithItsRemedy() {
        refusal = Status.RESOURCE_EXHAUSTED.withDescription(EtcdError.NO_SPACE.message());

        assertThatThrownBy(this::turn)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("cannot pause the supervisors, so nothing was changed: ")
                .hasMessageContaining(
                        "database space exceeded. Repair an alarm first (understudy cluster repair), or stop"
                                + " all supervisors and repeat with --take-over");
    }

    private Turn turn() throws InterruptedException {
        return Turn.take("this command", connections, settings::seeds, waited -> {});
    }

    private final class Keys extends KVGrpc.KVImplBase {

        @Override
        public void range(RangeRequest request, StreamObserver<RangeResponse> response) {
            response.onNext(RangeResponse.newBuilder().addKvs(key.get()).build());
            response.onCompleted();
        }

        @Override
        public void txn(TxnRequest request, StreamObserver<TxnResponse> response) {
            response.onNext(TxnResponse.newBuilder().setSucceeded(true).build());
            response.onCompleted();
        }
    }

    /** etcd answers the renewal of an expired lease with TTL 0. */
    private final class Leases extends LeaseGrpc.LeaseImplBase {

        @Override
        public void leaseGrant(LeaseGrantRequest request, StreamObserver<LeaseGrantResponse> response) {
            if (!refusal.isOk()) {
                response.onError(refusal.asRuntimeException());
                return;
            }
            response.onNext(LeaseGrantResponse.newBuilder().setID(LEASE).build());
            response.onCompleted();
        }

        @Override
        public StreamObserver<LeaseKeepAliveRequest> leaseKeepAlive(StreamObserver<LeaseKeepAliveResponse> response) {
            return new StreamObserver<>() {
                @Override
                public void onNext(LeaseKeepAliveRequest request) {
                    response.onNext(LeaseKeepAliveResponse.newBuilder()
                            .setTTL(timeToLive)
                            .build());
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {
                    response.onCompleted();
                }
            };
        }

        @Override
        public void leaseRevoke(LeaseRevokeRequest request, StreamObserver<LeaseRevokeResponse> response) {
            response.onNext(LeaseRevokeResponse.getDefaultInstance());
            response.onCompleted();
        }
    }
}
