package io.understudy.lab.check;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A plain client of one etcd server or gateway. Every call has a deadline and fails with a gRPC status. */
final class EtcdClient implements AutoCloseable {

    private static final long DEADLINE_SECONDS = 5;

    private final ManagedChannel channel;

    /** @param tls null for plain text */
    EtcdClient(URI server, @Nullable TlsFiles tls) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(server.getHost(), server.getPort());
        if (tls == null) {
            channel = builder.usePlaintext().build();
        } else {
            // Closed, it looks for new files no more.
            try (TlsContext context = TlsContext.of(tls)) {
                channel = builder.sslContext(context.forGrpc()).build();
            }
        }
    }

    void put(ByteString key, ByteString value) {
        stub().put(PutRequest.newBuilder().setKey(key).setValue(value).build());
    }

    void delete(ByteString key) {
        stub().deleteRange(DeleteRangeRequest.newBuilder().setKey(key).build());
    }

    /** What this very server has, without asking others. */
    Optional<ByteString> read(ByteString key) {
        RangeResponse answer = stub().range(RangeRequest.newBuilder()
                .setKey(key)
                .setSerializable(true)
                .build());
        return answer.getKvsList().stream().findFirst().map(found -> found.getValue());
    }

    private KVGrpc.KVBlockingStub stub() {
        return KVGrpc.newBlockingStub(channel).withWaitForReady().withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
