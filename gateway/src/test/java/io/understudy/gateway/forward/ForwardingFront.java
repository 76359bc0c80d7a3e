package io.understudy.gateway.forward;

import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A port at which every call is forwarded, without a gateway around it; all clients share one session and its thread. */
final class ForwardingFront implements AutoCloseable {

    static final SourceForwarding.Executed UNOBSERVED = new SourceForwarding.Executed() {
        @Override
        public boolean answered(long revision) {
            return true;
        }

        @Override
        public void compacted(long revision) {}

        @Override
        public void authentication(boolean enabled) {}
    };

    /** Clients get no answer with a greater revision. */
    volatile long last = Long.MAX_VALUE;

    final Session session = new Session();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    final ForwardMetrics metrics = new ForwardMetrics(registry);
    final EtcdCluster source;
    private final ExecutorService loop = Executors.newSingleThreadExecutor();
    private final Forwarding forwarding;
    private final Server server;

    ForwardingFront(EtcdSettings settings, ForwardSettings forward) throws IOException {
        source = EtcdCluster.connect(settings, new SimpleMeterRegistry());
        forwarding = new SourceForwarding(source, forward, metrics, upToLast(), () -> false, false);
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .executor(loop)
                .fallbackHandlerRegistry(new HandlerRegistry() {
                    @Override
                    public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
                        EtcdMethod method = Objects.requireNonNull(EtcdMethod.named(name), name);
                        return ServerMethodDefinition.create(
                                method.wire(), (call, headers) -> accept(method, call, headers));
                    }
                })
                .build()
                .start();
    }

    private SourceForwarding.Executed upToLast() {
        return new SourceForwarding.Executed() {
            @Override
            public boolean answered(long revision) {
                return revision <= last;
            }

            @Override
            public void compacted(long revision) {}

            @Override
            public void authentication(boolean enabled) {}
        };
    }

    double elsewhere() {
        return registry.get("understudy.gateway.forward.elsewhere").counter().count();
    }

    int port() {
        return server.getPort();
    }

    private ServerCall.Listener<byte[]> accept(EtcdMethod method, ServerCall<byte[], byte[]> call, Metadata headers) {
        Caller caller = new Caller(Principal.ANONYMOUS, session, Freshness.ANY, deadline(), () -> false, Runnable::run);
        return forwarding.start(method, call, headers, caller, loop);
    }

    private static long deadline() {
        var deadline = io.grpc.Context.current().getDeadline();
        return deadline == null ? Caller.NO_DEADLINE : System.nanoTime() + deadline.timeRemaining(TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        server.shutdownNow();
        source.close();
        loop.shutdownNow();
    }
}
