package io.understudy.cluster.supervise.elect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.KVGrpc;
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
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * The right to change a cluster ends with its lease.
 *
 * <p>Tests invariant DP23.
 */
final class TurnTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** As after a suspend of the command: another one may have had the right. */
    @Test
    void theRightEndsAtOnceWhenItsLeaseIsGone() throws Exception {
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Keys())
                .addService(new ExpiredLeases())
                .build()
                .start();
        EtcdSettings settings = EtcdSettings.of(URI.create("http://127.0.0.1:" + server.getPort()));
        try (EtcdConnections connections = EtcdConnections.open(settings);
                Turn turn = Turn.take("this command", connections, settings::seeds, waited -> {})) {
            await().atMost(PATIENCE).until(() -> turn.lost().isPresent());

            assertThat(turn.lost()).hasValue("the lease of this command has expired, so supervisors may act again");
        } finally {
            server.shutdownNow();
        }
    }

    private static final class Keys extends KVGrpc.KVImplBase {

        @Override
        public void range(RangeRequest request, StreamObserver<RangeResponse> response) {
            response.onNext(RangeResponse.getDefaultInstance());
            response.onCompleted();
        }

        @Override
        public void txn(TxnRequest request, StreamObserver<TxnResponse> response) {
            response.onNext(TxnResponse.newBuilder().setSucceeded(true).build());
            response.onCompleted();
        }
    }

    /** Leases that have expired when they are first renewed, which etcd answers with TTL 0. */
    private static final class ExpiredLeases extends LeaseGrpc.LeaseImplBase {

        @Override
        public void leaseGrant(LeaseGrantRequest request, StreamObserver<LeaseGrantResponse> response) {
            response.onNext(LeaseGrantResponse.newBuilder().setID(7).build());
            response.onCompleted();
        }

        @Override
        public StreamObserver<LeaseKeepAliveRequest> leaseKeepAlive(StreamObserver<LeaseKeepAliveResponse> response) {
            return new StreamObserver<>() {
                @Override
                public void onNext(LeaseKeepAliveRequest request) {
                    response.onNext(LeaseKeepAliveResponse.getDefaultInstance());
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
