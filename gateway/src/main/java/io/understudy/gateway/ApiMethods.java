package io.understudy.gateway;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MemberListRequest;
import io.etcd.jetcd.api.MemberListResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.etcd.EtcdMessages;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.SentRequests;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.api.WireForm;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.understudy.gateway.forward.EtcdMethod;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.forward.OneRequest;
import io.understudy.gateway.member.MemberAnswers;
import io.understudy.gateway.member.MemberSettings.MembersShown;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.server.Field;
import io.understudy.gateway.server.GrpcMethod;
import io.understudy.gateway.server.GrpcMethod.CallMethod;
import io.understudy.gateway.server.GrpcMethod.UnaryMethod;
import io.understudy.gateway.server.MessageCall;
import io.understudy.gateway.server.Reply;
import io.understudy.gateway.server.WebRequest;
import io.understudy.gateway.watch.GrpcWatch;
import io.understudy.gateway.watch.MessageWatch;
import io.understudy.gateway.watch.Watches;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps etcd's methods to the parts of the gateway that answer them. Thread-safe.
 *
 * <p>Invariant A1b: clients of etcd cannot distinguish a gateway from its source: etcdctl get with every option, jetcd,
 * and etcd3 for Node.
 */
record ApiMethods(
        ReadPermissions permissions,
        ReadPath reads,
        Watches watches,
        Forwarding forwarding,
        MemberAnswers self,
        MembersShown shown) {

    private static final String RANGE = KVGrpc.getRangeMethod().getFullMethodName();
    private static final String RANGE_STREAM = "etcdserverpb.KV/RangeStream";
    private static final String TXN = KVGrpc.getTxnMethod().getFullMethodName();
    private static final String WATCH = WatchGrpc.getWatchMethod().getFullMethodName();
    private static final String STATUS = MaintenanceGrpc.getStatusMethod().getFullMethodName();
    private static final String HASH_KV = MaintenanceGrpc.getHashKVMethod().getFullMethodName();
    private static final String MEMBERS = ClusterGrpc.getMemberListMethod().getFullMethodName();

    /** All of them. */
    List<GrpcMethod> overGrpc() {
        return Stream.concat(EtcdMethod.ALL.stream().map(this::overGrpc), Stream.of(rangeStream()))
                .toList();
    }

    /**
     * Calls any method except range and read-only transactions, which encode their answers lazily.
     *
     * @param fullName of a unary etcd method
     * @param whenGone receives the task to run, on the session's event loop, once the client has cancelled
     * @return the answer's bytes; fails with an {@link ApiException} only. On the session's event loop, where this is
     *     called
     */
    Future<byte[]> call(String fullName, Caller caller, byte[] request, Consumer<Runnable> whenGone) {
        EtcdMethod method = EtcdMethod.named(fullName);
        if (method == null || !method.unary()) {
            throw new IllegalArgumentException("not a unary etcd method: " + fullName);
        }
        if (fullName.equals(STATUS)) {
            return status(caller).map(MessageLite::toByteArray);
        }
        if (fullName.equals(MEMBERS) && shown == MembersShown.GATEWAYS) {
            return gateways(caller).map(MessageLite::toByteArray);
        }
        if (fullName.equals(HASH_KV)) {
            try {
                return hashKv(caller, HashKVRequest.parseFrom(request));
            } catch (InvalidProtocolBufferException e) {
                throw new IllegalArgumentException("not a request of " + fullName, e);
            }
        }
        Context loop = Vertx.currentContext();
        return forwarding.call(method, caller, task -> loop.runOnContext(run -> task.run()), request, whenGone);
    }

    /**
     * Begins a call with a stream of answers.
     *
     * @param fullName of a streaming etcd method
     * @param requests of the client; more may follow
     */
    StreamedCall stream(String fullName, Caller caller, WebRequest http, StreamedRequests requests, StreamTaker taker)
            throws ApiException {
        EtcdMethod method = EtcdMethod.named(fullName);
        if (method == null || method.unary()) {
            throw new IllegalArgumentException("not a server-streaming etcd method: " + fullName);
        }
        return fullName.equals(WATCH)
                ? MessageWatch.open(watches, taker, caller, http, requests)
                : forwarding.stream(method, caller, http.loop(), requests, taker);
    }

    /** Served from the replica, also for sources before etcd 3.7. */
    private GrpcMethod rangeStream() {
        return new UnaryMethod<>(
                RANGE_STREAM,
                RangeRequest.getDescriptor(),
                message -> SentRequests.range(message, reads.version()),
                (caller, request) -> {
                    try {
                        RangeRequests.requireStreamable(request);
                    } catch (ApiException e) {
                        return Future.failedFuture(e);
                    }
                    return reads.range(caller, request).map(answer -> Reply.of(answer, WireForm.stream(answer.result()))
                            .with(new Field(
                                    EtcdMessages.CLUSTER_ID_KEY,
                                    Long.toHexString(answer.result().header().getClusterId()))));
                });
    }

    private GrpcMethod overGrpc(EtcdMethod method) {
        String name = method.fullName();
        if (name.equals(RANGE)) {
            return UnaryMethod.of(
                    KVGrpc.getRangeMethod(),
                    message -> SentRequests.range(message, reads.version()),
                    (caller, request) ->
                            reads.range(caller, request).map(answer -> Reply.of(answer, WireForm.of(answer.result()))));
        }
        if (name.equals(STATUS)) {
            return UnaryMethod.of(
                    MaintenanceGrpc.getStatusMethod(), StatusRequest::parseFrom, (caller, request) -> status(caller)
                            .map(Reply::of));
        }
        if (name.equals(HASH_KV)) {
            return UnaryMethod.of(MaintenanceGrpc.getHashKVMethod(), HashKVRequest::parseFrom, this::hashKv);
        }
        if (name.equals(MEMBERS) && shown == MembersShown.GATEWAYS) {
            return UnaryMethod.of(
                    ClusterGrpc.getMemberListMethod(),
                    MemberListRequest::parseFrom,
                    (caller, request) -> gateways(caller).map(Reply::of));
        }
        if (name.equals(WATCH)) {
            return new CallMethod(
                    method.wire(),
                    false,
                    (call, metadata, caller, loop) -> GrpcWatch.start(watches, call, metadata, caller, loop));
        }
        return new CallMethod(
                method.wire(),
                true,
                name.equals(TXN)
                        ? new Transactions(method, reads, forwarding)
                        : (call, metadata, caller, loop) -> forwarding.start(method, call, metadata, caller, loop));
    }

    /** Requires the permission of the source's version ({@code v3rpc/maintenance.go}). */
    private Future<StatusResponse> status(Caller caller) {
        Permission.Standing required =
                reads.version().statusRequiresRoot() ? Permission.Standing.ROOT : Permission.Standing.USER;
        return answered(caller, required, self::status, StatusResponse::getHeader);
    }

    /** Always fails: the hash of the largest revision shows whether the caller has the role root. */
    private <T> Future<T> hashKv(Caller caller, HashKVRequest request) {
        return permissions
                .check(caller.principal(), Permission.Standing.ROOT)
                .compose(allowed -> Future.failedFuture(
                        request.getRevision() == Long.MAX_VALUE
                                ? ApiException.futureRevision()
                                : ApiException.neverSupported()));
    }

    /** For any user, as in etcd. */
    private Future<MemberListResponse> gateways(Caller caller) {
        return answered(caller, Permission.Standing.USER, self::gateways, MemberListResponse::getHeader);
    }

    private <A> Future<A> answered(
            Caller caller, Permission.Standing required, Answer<A> own, Function<A, ResponseHeader> header) {
        try {
            reads.requireLeader(caller);
        } catch (ApiException e) {
            return Future.failedFuture(e);
        }
        return permissions.check(caller.principal(), required).compose(allowed -> {
            try {
                A answer = own.get(caller.session().lastRevision());
                caller.session().answered(header.apply(answer).getRevision());
                return Future.succeededFuture(answer);
            } catch (ApiException e) {
                return Future.failedFuture(e);
            }
        });
    }

    @FunctionalInterface
    private interface Answer<A> {
        A get(long known) throws ApiException;
    }

    /** {@code KV.Txn}: a read if neither branch writes. */
    private record Transactions(EtcdMethod method, Reads reads, Forwarding forwarding) implements CallMethod.Starter {

        private static final Logger LOG = LoggerFactory.getLogger(Transactions.class);

        @Override
        public ServerCall.Listener<byte[]> start(MessageCall call, Metadata metadata, Caller caller, Executor loop) {
            return new OneRequest(call, request -> {
                TxnRequest txn;
                try {
                    txn = SentRequests.txn(request, reads.version());
                } catch (InvalidProtocolBufferException e) {
                    return end(
                            call,
                            new ApiException(
                                    Status.Code.INTERNAL, "grpc: error unmarshalling request: " + e.getMessage()));
                }
                if (!TxnRequests.isReadOnly(txn)) {
                    try {
                        TxnRequests.requireSortable(txn, reads.version());
                    } catch (ApiException e) {
                        return end(call, e);
                    }
                    return forwarding.start(method, call, metadata, caller, loop, request);
                }
                Future<Reply> reply =
                        reads.txn(caller, txn).map(answer -> Reply.of(answer, WireForm.of(answer.result())));
                call.holdUntil(reply);
                reply.onComplete(call::answer, why -> fail(call, why));
                return new ServerCall.Listener<>() {};
            });
        }

        private static void fail(ServerCall<byte[], byte[]> call, Throwable why) {
            if (why instanceof ApiException refusal) {
                var unused = end(call, refusal);
            } else {
                LOG.error("transaction failed", why);
                var unused = end(call, new ApiException(Status.Code.INTERNAL, "understudy: " + why));
            }
        }

        private static ServerCall.Listener<byte[]> end(ServerCall<byte[], byte[]> call, ApiException why) {
            call.close(why.code().toStatus().withDescription(why.text()), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }
}
