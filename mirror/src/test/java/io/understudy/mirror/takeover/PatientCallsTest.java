package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.process.FreePorts;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.fixture.LeaseServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Calls of a command to a cluster that does not respond. */
final class PatientCallsTest {

    /** Tests invariant M37: a cluster that does not respond is not taken for closed. */
    @Test
    void withoutAResponseItIsUnknownWhetherAuthenticationIsEnabled() {
        try (FreePorts ports = FreePorts.take(1);
                EtcdCluster cluster = EtcdCluster.connect(
                        EtcdSettings.of(URI.create("http://127.0.0.1:" + ports.get(0))), new SimpleMeterRegistry())) {
            assertThatThrownBy(() -> new PatientCalls(cluster, null, Duration.ZERO).isAuthEnabled())
                    .isInstanceOf(TakeOverException.class)
                    .hasMessageContaining("did not answer a login");
        }
    }

    /** The first attempt may have had an effect. */
    @Test
    void aRefusalAfterAnAttemptWithoutAResponseIsNoProofThatNothingHappened() throws IOException {
        Queue<Status> answers = new ConcurrentLinkedQueue<>(List.of(
                Status.UNAVAILABLE.withDescription("etcdserver: leader changed"),
                Status.PERMISSION_DENIED.withDescription("etcdserver: permission denied"),
                Status.PERMISSION_DENIED.withDescription("etcdserver: permission denied")));
        KVGrpc.KVImplBase etcd = new KVGrpc.KVImplBase() {
            @Override
            public void txn(TxnRequest request, StreamObserver<TxnResponse> response) {
                response.onError(answers.remove().asRuntimeException());
            }
        };
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(etcd)
                .build()
                .start();
        try (EtcdCluster cluster = EtcdCluster.connect(
                EtcdSettings.of(URI.create("http://127.0.0.1:" + server.getPort())), new SimpleMeterRegistry())) {
            PatientCalls calls = new PatientCalls(cluster, null, Duration.ofMinutes(1));
            assertThat(isRefused(calls)).isFalse();
            assertThat(isRefused(calls)).as("at once").isTrue();
        } finally {
            server.shutdownNow();
        }
    }

    /** It answers as many as it can within the timeout of an attempt. */
    @Test
    void aSlowClusterKeepsManyLeasesAlive() throws IOException {
        LeaseGrpc.LeaseImplBase etcd = new LeaseGrpc.LeaseImplBase() {
            @Override
            public StreamObserver<LeaseKeepAliveRequest> leaseKeepAlive(
                    StreamObserver<LeaseKeepAliveResponse> response) {
                return new StreamObserver<>() {
                    private int answered;

                    @Override
                    public void onNext(LeaseKeepAliveRequest request) {
                        if (answered++ == 1_000) {
                            response.onError(Status.DEADLINE_EXCEEDED.asRuntimeException());
                        } else if (answered <= 1_000) {
                            response.onNext(LeaseKeepAliveResponse.newBuilder()
                                    .setID(request.getID())
                                    .setTTL(request.getID() % 2)
                                    .build());
                        }
                    }

                    @Override
                    public void onError(Throwable failure) {}

                    @Override
                    public void onCompleted() {
                        if (answered <= 1_000) {
                            response.onCompleted();
                        }
                    }
                };
            }
        };
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(etcd)
                .build()
                .start();
        try (EtcdCluster cluster = EtcdCluster.connect(
                EtcdSettings.of(URI.create("http://127.0.0.1:" + server.getPort())), new SimpleMeterRegistry())) {
            List<Long> leases = LongStream.range(0, 2_100).boxed().toList();
            assertThat(new PatientCalls(cluster, null, Duration.ZERO).keepAlive(leases))
                    .as("alive")
                    .hasSize(1_050)
                    .allMatch(lease -> lease % 2 == 1);
        } finally {
            server.shutdownNow();
        }
    }

    /** etcd ends the stream at the first lease that it denies. */
    @Test
    void aLeaseThatIsDeniedDoesNotEndTheOthers() {
        try (LeaseServer etcd = new LeaseServer();
                EtcdCluster cluster = EtcdCluster.connect(EtcdSettings.of(etcd.uri()), new SimpleMeterRegistry())) {
            LongStream.rangeClosed(1, 600).forEach(id -> etcd.grant(id, 60));
            List.of(2L, 3L).forEach(etcd::deny);
            List<Long> leases = LongStream.rangeClosed(1, 600).boxed().toList();
            assertThatThrownBy(() -> new PatientCalls(cluster, null, Duration.ZERO).keepAlive(leases))
                    .hasMessageContaining("refuses lease keep-alives");
            assertThat(etcd.keptAlive()).hasSize(598).doesNotContainKeys(2L, 3L);
        }
    }

    private static boolean isRefused(PatientCalls calls) {
        try {
            throw new AssertionError(calls.txn("a record", TxnRequest.getDefaultInstance()));
        } catch (TakeOverException e) {
            assertThat(e).hasMessageContaining("refuses a record");
            return e.getCause() instanceof CallFailedException failed && failed.isRefused();
        }
    }
}
