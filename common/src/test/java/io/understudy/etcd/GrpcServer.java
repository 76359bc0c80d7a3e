package io.understudy.etcd;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Attributes;
import io.grpc.Server;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/** gRPC's own server, of ranges. */
final class GrpcServer implements AutoCloseable {
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger requests = new AtomicInteger();
    private final Server server;
    volatile RangeResponse answer = RangeResponse.getDefaultInstance();
    volatile Status refusal = Status.OK;
    volatile boolean silent;

    GrpcServer() throws IOException {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addTransportFilter(new ServerTransportFilter() {
                    @Override
                    public Attributes transportReady(Attributes attributes) {
                        connections.incrementAndGet();
                        return attributes;
                    }
                })
                .addService(new KVGrpc.KVImplBase() {
                    @Override
                    public void range(RangeRequest request, StreamObserver<RangeResponse> to) {
                        requests.incrementAndGet();
                        if (!refusal.isOk()) {
                            to.onError(refusal.asRuntimeException());
                        } else if (!silent) {
                            to.onNext(answer);
                            to.onCompleted();
                        }
                    }
                })
                .build()
                .start();
    }

    int port() {
        return server.getPort();
    }

    @Override
    public void close() {
        server.shutdownNow();
    }
}
