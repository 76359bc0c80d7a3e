package io.understudy.bench.relay;

import io.etcd.jetcd.api.KVGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Connections to a member, for the load and for looking. */
final class RelayConnections {

    static final Duration DEADLINE = Duration.ofSeconds(30);

    private RelayConnections() {}

    static ManagedChannel to(URI member) {
        return NettyChannelBuilder.forAddress(member.getHost(), member.getPort())
                .usePlaintext()
                .directExecutor()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .build();
    }

    static KVGrpc.KVBlockingStub blocking(ManagedChannel channel) {
        return KVGrpc.newBlockingStub(channel)
                .withWaitForReady()
                .withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    static KVGrpc.KVStub stub(ManagedChannel channel) {
        return KVGrpc.newStub(channel).withWaitForReady().withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }
}
