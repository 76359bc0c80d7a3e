package io.understudy.gateway;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleGetRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserDeleteRequest;
import io.etcd.jetcd.api.AuthUserGetRequest;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.understudy.gateway.forward.EtcdMethod;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Calls of every etcd method that a gateway forwards, with an effect if they succeed. */
final class EveryCall {

    private static final ByteString KEY = ByteString.copyFromUtf8("stolen");

    /** Answered by the gateway itself, or always rejected. */
    private static final Set<String> NOT_PASSED_ON = Set.of(
            "etcdserverpb.KV/Range",
            "etcdserverpb.Watch/Watch",
            "etcdserverpb.Maintenance/Status",
            "etcdserverpb.Maintenance/Defragment",
            "etcdserverpb.Maintenance/Hash",
            "etcdserverpb.Maintenance/HashKV");

    /** Requests of methods that reject an empty one before they authenticate. */
    private static final Map<String, MessageLite> REQUESTS = new HashMap<>(Map.of(
            "KV/Put", PutRequest.newBuilder().setKey(KEY).build(),
            "KV/DeleteRange", DeleteRangeRequest.newBuilder().setKey(KEY).build(),
            "KV/Txn",
                    TxnRequest.newBuilder()
                            .addSuccess(RequestOp.newBuilder()
                                    .setRequestPut(PutRequest.newBuilder().setKey(KEY)))
                            .build(),
            "Lease/LeaseGrant", LeaseGrantRequest.newBuilder().setTTL(60).build(),
            "Lease/LeaseRevoke", LeaseRevokeRequest.newBuilder().setID(7).build(),
            "Lease/LeaseTimeToLive",
                    LeaseTimeToLiveRequest.newBuilder().setID(7).setKeys(true).build(),
            "Maintenance/Alarm",
                    AlarmRequest.newBuilder()
                            .setAction(AlarmRequest.AlarmAction.ACTIVATE)
                            .setAlarm(AlarmType.NOSPACE)
                            .build(),
            "Auth/Authenticate",
                    AuthenticateRequest.newBuilder()
                            .setName("root")
                            .setPassword("guessed")
                            .build(),
            "Auth/UserAdd",
                    AuthUserAddRequest.newBuilder()
                            .setName("thief")
                            .setPassword("x")
                            .build(),
            "Auth/UserDelete",
                    AuthUserDeleteRequest.newBuilder().setName("root").build()));

    static {
        REQUESTS.put(
                "Auth/UserGet", AuthUserGetRequest.newBuilder().setName("root").build());
        REQUESTS.put(
                "Auth/RoleAdd", AuthRoleAddRequest.newBuilder().setName("thief").build());
        REQUESTS.put(
                "Auth/RoleGet", AuthRoleGetRequest.newBuilder().setRole("root").build());
    }

    static final List<EtcdMethod> PASSED_ON = EtcdMethod.ALL.stream()
            .filter(method -> !NOT_PASSED_ON.contains(method.fullName()))
            // etcd requires no permission for it.
            .filter(method -> !method.fullName().endsWith("/Compact"))
            .toList();

    private EveryCall() {}

    /** {@code OK}, or how it was refused. */
    static String outcome(Channel channel, EtcdMethod method) {
        String name = method.fullName().substring(method.fullName().indexOf('.') + 1);
        byte[] request = REQUESTS.containsKey(name) ? REQUESTS.get(name).toByteArray() : new byte[0];
        CompletableFuture<String> outcome = new CompletableFuture<>();
        StreamObserver<byte[]> answers = new StreamObserver<>() {
            @Override
            public void onNext(byte[] answer) {
                outcome.complete("OK");
            }

            @Override
            public void onError(Throwable failure) {
                outcome.complete(((StatusRuntimeException) failure).getMessage());
            }

            @Override
            public void onCompleted() {
                outcome.complete("OK");
            }
        };
        var call = channel.newCall(method.wire(), CallOptions.DEFAULT.withDeadlineAfter(10, TimeUnit.SECONDS));
        if (method.wire().getType() == MethodType.BIDI_STREAMING) {
            StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(call, answers);
            requests.onNext(request);
        } else if (method.wire().getType() == MethodType.SERVER_STREAMING) {
            ClientCalls.asyncServerStreamingCall(call, request, answers);
        } else {
            ClientCalls.asyncUnaryCall(call, request, answers);
        }
        return outcome.join();
    }
}
