package io.understudy.bench;

import io.etcd.jetcd.api.KVGrpc;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Connections to a server, for the load and for looking. */
public final class Connections {

    public static final Duration DEADLINE = Duration.ofSeconds(30);

    private Connections() {}

    public static ManagedChannel to(URI member, ClientInterceptor... interceptors) {
        return NettyChannelBuilder.forAddress(member.getHost(), member.getPort())
                .usePlaintext()
                .directExecutor()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .intercept(interceptors)
                .build();
    }

    public static KVGrpc.KVBlockingStub blocking(ManagedChannel channel) {
        return KVGrpc.newBlockingStub(channel)
                .withWaitForReady()
                .withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    public static KVGrpc.KVStub stub(ManagedChannel channel) {
        return KVGrpc.newStub(channel).withWaitForReady().withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }
}
