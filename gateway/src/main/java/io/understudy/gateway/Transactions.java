package io.understudy.gateway;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.SentRequests;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.api.WireForm;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.forward.EtcdMethod;
import io.understudy.gateway.forward.Forwarding;
import io.understudy.gateway.forward.OneRequest;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.server.CallMethod;
import io.understudy.gateway.server.MessageCall;
import io.understudy.gateway.server.Reply;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code KV.Txn}: a read if neither branch writes. */
final class Transactions implements CallMethod.Starter {

    private static final Logger LOG = LoggerFactory.getLogger(Transactions.class);

    private final EtcdMethod method;
    private final Reads reads;
    private final Forwarding forwarding;

    Transactions(EtcdMethod method, Reads reads, Forwarding forwarding) {
        this.method = method;
        this.reads = reads;
        this.forwarding = forwarding;
    }

    @Override
    public ServerCall.Listener<byte[]> start(MessageCall call, Metadata metadata, Caller caller, Executor loop) {
        return new OneRequest(call, request -> {
            TxnRequest txn;
            try {
                txn = SentRequests.txn(request, reads.version());
            } catch (InvalidProtocolBufferException e) {
                return end(
                        call,
                        new ApiException(Status.Code.INTERNAL, "grpc: error unmarshalling request: " + e.getMessage()));
            }
            if (!TxnRequests.isReadOnly(txn)) {
                try {
                    TxnRequests.requireSortable(txn, reads.version());
                } catch (ApiException e) {
                    return end(call, e);
                }
                return forwarding.start(method, call, metadata, caller, loop, request);
            }
            reads.txn(caller, txn)
                    .map(answer -> Reply.of(answer, WireForm.of(answer.result())))
                    .onComplete(call::answer, why -> fail(call, why));
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
