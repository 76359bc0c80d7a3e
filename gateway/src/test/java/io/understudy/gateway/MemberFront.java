package io.understudy.gateway;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.local.etcd.EtcdMember;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A port in front of a member that serves its ranges and status, as the test sets them. */
final class MemberFront implements AutoCloseable {

    /** Called before each range is read from the member. */
    volatile Consumer<RangeRequest> before = request -> {};

    /** Maps the member's answers. */
    volatile UnaryOperator<RangeResponse> answer = UnaryOperator.identity();

    private final CountDownLatch status = new CountDownLatch(1);
    private final ManagedChannel channel;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Server server;

    MemberFront(EtcdMember member) throws IOException {
        channel = GatewayFixture.channel(
                member.clientUrl().getHost(), member.clientUrl().getPort());
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .executor(threads)
                .addService(new Ranges())
                .addService(new Statuses())
                .build()
                .start();
    }

    /** Releases its status, which is withheld until then. */
    MemberFront known() {
        status.countDown();
        return this;
    }

    /** Returns a source of these members, this one last. */
    EtcdSettings source(URI... others) {
        URI[] all = java.util.Arrays.copyOf(others, others.length + 1);
        all[others.length] = URI.create("http://127.0.0.1:" + server.getPort());
        return EtcdSettings.of(all).withName("source").withDiscovery(MemberDiscovery.CONFIGURED);
    }

    @Override
    public void close() {
        known();
        server.shutdownNow();
        channel.shutdownNow();
        threads.shutdownNow();
    }

    private static <R> void reply(StreamObserver<R> observer, Supplier<R> answer) {
        try {
            observer.onNext(answer.get());
            observer.onCompleted();
        } catch (StatusRuntimeException e) {
            observer.onError(e);
        }
    }

    private final class Ranges extends KVGrpc.KVImplBase {
        @Override
        public void range(RangeRequest request, StreamObserver<RangeResponse> observer) {
            before.accept(request);
            reply(observer, () -> answer.apply(GatewayFixture.kv(channel).range(request)));
        }
    }

    private final class Statuses extends MaintenanceGrpc.MaintenanceImplBase {
        @Override
        public void status(StatusRequest request, StreamObserver<StatusResponse> observer) {
            try {
                status.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            reply(observer, () -> MaintenanceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .status(request));
        }
    }
}
