package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.DefragmentRequest;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.HashRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.LeaseTimeToLiveRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MemberListRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.SnapshotRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.understudy.gateway.member.MemberSettings;
import io.understudy.gateway.member.MemberSettings.MembersShown;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * By default a gateway rejects what a learner rejects, except for reads.
 *
 * <p>Tests invariant W4.
 */
@Timeout(120)
final class WritesRefusedIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final PutRequest PUT =
            PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("k")).build();

    private static GatewayFixture fixture;
    private static ManagedChannel client;
    private static ManagedChannel direct;

    @BeforeAll
    static void open() throws Exception {
        MemberSettings members = new MemberSettings(
                MembersShown.GATEWAYS,
                List.of(URI.create("http://127.0.0.1:1")),
                Map.of("other", new MemberSettings.Gateway(List.of(URI.create("http://127.0.0.1:2")))));
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()).with(members));
        fixture.awaitReady();
        client = GatewayFixture.channel("127.0.0.1", fixture.gateway.apiPort());
        URI source = SOURCE.cluster().members().get(0).directClientUrl();
        direct = GatewayFixture.channel(source.getHost(), source.getPort());
    }

    @AfterAll
    static void close() {
        client.shutdownNow();
        direct.shutdownNow();
        fixture.close();
    }

    @Test
    void writesAreRejectedAsByALearner() {
        assertRefused(() -> KVGrpc.newBlockingStub(client).put(PUT));
        assertRefused(() -> KVGrpc.newBlockingStub(client)
                .txn(TxnRequest.newBuilder()
                        .addFailure(RequestOp.newBuilder().setRequestPut(PUT))
                        .build()));
        assertRefused(() -> MaintenanceGrpc.newBlockingStub(client)
                .alarm(AlarmRequest.newBuilder()
                        .setAction(AlarmRequest.AlarmAction.DEACTIVATE)
                        .build()));
    }

    /** On every version: after Unavailable, which etcd 3.5 uses, two client libraries give up the endpoint. */
    @Test
    void callsOnTheDatabaseFailThePrecondition() {
        MaintenanceGrpc.MaintenanceBlockingStub maintenance = MaintenanceGrpc.newBlockingStub(client);
        assertRefused(Status.Code.FAILED_PRECONDITION, () -> maintenance.hashKV(HashKVRequest.getDefaultInstance()));
        assertRefused(Status.Code.FAILED_PRECONDITION, () -> maintenance.hash(HashRequest.getDefaultInstance()));
        assertRefused(
                Status.Code.FAILED_PRECONDITION, () -> maintenance.defragment(DefragmentRequest.getDefaultInstance()));
    }

    @Test
    void streamsThatWriteAreRefusedAtOnce() {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        StreamObserver<LeaseKeepAliveRequest> unused = LeaseGrpc.newStub(client).leaseKeepAlive(new StreamObserver<>() {
            @Override
            public void onNext(LeaseKeepAliveResponse answer) {}

            @Override
            public void onError(Throwable failure) {
                end.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {
                end.complete(true);
            }
        });
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> end.get(30, TimeUnit.SECONDS))
                .withStackTraceContaining("etcdserver: rpc not supported for learner");
    }

    @Test
    void voterOnlyCallsAreSentToVoters() {
        assertThat(LeaseGrpc.newBlockingStub(client)
                        .leaseTimeToLive(
                                LeaseTimeToLiveRequest.newBuilder().setID(1).build())
                        .getTTL())
                .isEqualTo(-1);
        assertThat(MaintenanceGrpc.newBlockingStub(client)
                        .alarm(AlarmRequest.getDefaultInstance())
                        .getAlarmsCount())
                .isZero();
        assertThat(MaintenanceGrpc.newBlockingStub(client).snapshot(SnapshotRequest.getDefaultInstance()))
                .toIterable()
                .isNotEmpty();
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> AuthGrpc.newBlockingStub(client)
                        .authenticate(AuthenticateRequest.newBuilder()
                                .setName("root")
                                .setPassword("x")
                                .build()))
                .withMessageContaining("etcdserver: authentication is not enabled");
    }

    @Test
    void membersCanBeTheGateways() {
        assertThat(ClusterGrpc.newBlockingStub(client)
                        .memberList(MemberListRequest.getDefaultInstance())
                        .getMembersList())
                .extracting(member -> member.getName() + " " + member.getClientURLsList())
                .containsExactlyInAnyOrder("test [http://127.0.0.1:1]", "other [http://127.0.0.1:2]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"etcdserverpb.KV/Sing", "opera.House/Sing", "etcdserverpb.KV/range"})
    void unknownMethodsAreUnimplementedAsInEtcd(String method) {
        Status expected = call(direct, method);
        assertThat(expected.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(call(client, method))
                .extracting(Status::getCode, Status::getDescription)
                .containsExactly(expected.getCode(), expected.getDescription());
    }

    private static Status call(ManagedChannel channel, String method) {
        MethodDescriptor<PutRequest, PutRequest> descriptor = MethodDescriptor.<PutRequest, PutRequest>newBuilder(
                        ProtoUtils.marshaller(PUT), ProtoUtils.marshaller(PUT))
                .setFullMethodName(method)
                .setType(MethodDescriptor.MethodType.UNARY)
                .build();
        try {
            return Status.OK.withDescription(
                    ClientCalls.blockingUnaryCall(channel, descriptor, CallOptions.DEFAULT, PUT)
                            .toString());
        } catch (StatusRuntimeException e) {
            return e.getStatus();
        }
    }

    private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertRefused(
                GatewayFixture.VERSION.learnerRejectsForGood()
                        ? Status.Code.FAILED_PRECONDITION
                        : Status.Code.UNAVAILABLE,
                call);
    }

    private static void assertRefused(Status.Code code, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatExceptionOfType(StatusRuntimeException.class).isThrownBy(call).satisfies(refusal -> assertThat(
                        refusal.getStatus())
                .extracting(Status::getCode, Status::getDescription)
                .containsExactly(code, "etcdserver: rpc not supported for learner"));
    }
}
