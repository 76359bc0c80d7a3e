package io.understudy.lab.check;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import java.time.Duration;
import java.util.concurrent.CompletionException;

/** A client of one etcd server or gateway. Every call has a deadline and fails with a gRPC status. */
final class EtcdClient implements AutoCloseable {

    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private final Endpoint server;
    private final EtcdConnections connections;

    /** @param server of the first endpoint */
    EtcdClient(EtcdSettings server) {
        this.server = server.seeds().get(0);
        this.connections = EtcdConnections.open(server);
    }

    PutResponse put(ByteString key, ByteString value) {
        return call(
                KVGrpc.getPutMethod(),
                PutRequest.newBuilder().setKey(key).setValue(value).build());
    }

    DeleteRangeResponse delete(ByteString key) {
        return call(
                KVGrpc.getDeleteRangeMethod(),
                DeleteRangeRequest.newBuilder().setKey(key).build());
    }

    /** Reads a key at this server alone (serializable). */
    RangeResponse range(ByteString key) {
        return call(
                KVGrpc.getRangeMethod(),
                RangeRequest.newBuilder().setKey(key).setSerializable(true).build());
    }

    /** Returns a status as text for users, without gRPC terms. */
    static String text(Status status) {
        return status.getDescription() == null
                ? status.getCode().toString()
                : status.getCode() + ", " + status.getDescription();
    }

    private <Q, A> A call(MethodDescriptor<Q, A> method, Q request) {
        try {
            return connections.call(server, method, request, DEADLINE).join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StatusRuntimeException refused ? refused : e;
        }
    }

    @Override
    public void close() {
        connections.close();
    }
}
