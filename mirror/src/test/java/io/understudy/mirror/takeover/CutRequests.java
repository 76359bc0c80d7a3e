package io.understudy.mirror.takeover;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Ports between one command and both clusters, at which each request has a name and one can be cut. */
final class CutRequests implements AutoCloseable {

    /** What happens at the cut. */
    enum Fault {
        /** The command sees one error. */
        ERROR,
        /** The cluster does not respond to the command from then on. */
        LOST,
        /** No request of the command arrives anywhere from then on. */
        KILLED
    }

    /** The n-th request of a kind in a step. */
    record Point(String step, String request, int occurrence) {}

    /** @param delivered whether the request arrives, and only the response is lost */
    record Cut(Point point, Fault fault, boolean delivered) {}

    /** Repeated until something is reached. */
    private static final Map<String, Integer> POLLS = Map.of("drain", 2);

    private static final int MANY = 1_000;
    private static final int MAX_BYTES = 64 << 20;
    /** Sent in the background, at times that vary. */
    private static final Set<String> PROBES =
            Set.of("etcdserverpb.Maintenance/Status", "etcdserverpb.Cluster/MemberList");

    private final @Nullable Cut cut;
    private final Set<Point> points = new LinkedHashSet<>();
    private final Map<String, Integer> counts = new HashMap<>();
    private final List<Port> ports = new ArrayList<>();
    private String step = "start";
    private @Nullable Port lost;
    private boolean isKilled;
    private boolean isReached;

    /** @param cut null for none */
    CutRequests(@Nullable Cut cut) {
        this.cut = cut;
    }

    /** A port that leads to {@code member}. */
    URI to(String name, URI member) {
        Port port = new Port(name, member);
        ports.add(port);
        return URI.create("http://127.0.0.1:" + port.server.getPort());
    }

    /** To be called at each step of the command. */
    synchronized void step(String name) {
        step = name;
    }

    /** All requests so far. */
    synchronized List<Point> points() {
        return List.copyOf(points);
    }

    synchronized boolean isReached() {
        return isReached;
    }

    @Override
    public void close() {
        ports.forEach(Port::close);
    }

    private enum Fate {
        PASSES,
        CUT,
        ANSWER_CUT
    }

    private synchronized Fate fate(Port port, String method) {
        if (isKilled || lost == port) {
            return Fate.CUT;
        }
        if (PROBES.contains(method)) {
            return Fate.PASSES;
        }
        String request = port.name + " " + method.substring(method.indexOf('.') + 1);
        int occurrence = counts.merge(step + " " + request, 1, Integer::sum);
        Point point = new Point(step, request, occurrence);
        if (occurrence <= POLLS.getOrDefault(step, MANY)) {
            points.add(point);
        }
        if (cut == null || isReached || !cut.point().equals(point)) {
            return Fate.PASSES;
        }
        isReached = true;
        if (cut.delivered()) {
            return Fate.ANSWER_CUT;
        }
        cutAt(port);
        return Fate.CUT;
    }

    private synchronized void cutAt(Port port) {
        isKilled = cut != null && cut.fault() == Fault.KILLED;
        lost = cut != null && cut.fault() == Fault.LOST ? port : null;
    }

    /** What the command sees: an error that it repeats the request after, or one that saves the time to do so. */
    private synchronized Status refusal(Port port) {
        return isKilled || lost == port
                ? Status.UNIMPLEMENTED.withDescription("cut for good")
                : Status.UNAVAILABLE.withDescription("cut");
    }

    private final class Port {

        private final String name;
        private final ManagedChannel channel;
        private final Server server;

        Port(String name, URI member) {
            this.name = name;
            channel = NettyChannelBuilder.forAddress(member.getHost(), member.getPort())
                    .usePlaintext()
                    .maxInboundMessageSize(MAX_BYTES)
                    .build();
            try {
                server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .maxInboundMessageSize(MAX_BYTES)
                        .fallbackHandlerRegistry(new HandlerRegistry() {
                            @Override
                            public ServerMethodDefinition<?, ?> lookupMethod(
                                    String method, @Nullable String authority) {
                                return ServerMethodDefinition.create(descriptor(method), Port.this::accept);
                            }
                        })
                        .build()
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void close() {
            var unused = server.shutdownNow();
            var unusedChannel = channel.shutdownNow();
        }

        private ServerCall.Listener<byte[]> accept(ServerCall<byte[], byte[]> call, Metadata headers) {
            Fate fate = fate(this, call.getMethodDescriptor().getFullMethodName());
            if (fate == Fate.CUT) {
                call.close(refusal(this), new Metadata());
                return new ServerCall.Listener<>() {};
            }
            ClientCall<byte[], byte[]> onward = channel.newCall(call.getMethodDescriptor(), CallOptions.DEFAULT);
            Answers answers = new Answers(call, onward, fate == Fate.ANSWER_CUT);
            onward.start(answers, headers);
            onward.request(Integer.MAX_VALUE);
            call.request(Integer.MAX_VALUE);
            return new ServerCall.Listener<>() {
                @Override
                public void onMessage(byte[] message) {
                    if (!answers.isClosed) {
                        onward.sendMessage(message);
                    }
                }

                @Override
                public void onHalfClose() {
                    if (!answers.isClosed) {
                        onward.halfClose();
                    }
                }

                @Override
                public void onCancel() {
                    onward.cancel("cancelled by the command", null);
                }
            };
        }

        /** Passes responses on. */
        private final class Answers extends ClientCall.Listener<byte[]> {

            private final ServerCall<byte[], byte[]> call;
            private final ClientCall<byte[], byte[]> onward;
            private final boolean isCut;
            private volatile boolean isClosed;

            Answers(ServerCall<byte[], byte[]> call, ClientCall<byte[], byte[]> onward, boolean isCut) {
                this.call = call;
                this.onward = onward;
                this.isCut = isCut;
            }

            @Override
            public void onHeaders(Metadata headers) {
                if (!isCut) {
                    call.sendHeaders(headers);
                }
            }

            @Override
            public void onMessage(byte[] message) {
                if (isCut) {
                    close(Status.OK, new Metadata());
                    onward.cancel("response cut", null);
                } else {
                    call.sendMessage(message);
                }
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
                close(status, trailers);
            }

            private void close(Status status, Metadata trailers) {
                if (isClosed) {
                    return;
                }
                isClosed = true;
                if (isCut) {
                    cutAt(Port.this);
                    call.close(refusal(Port.this), new Metadata());
                } else {
                    call.close(status, trailers);
                }
            }
        }
    }

    private static MethodDescriptor<byte[], byte[]> descriptor(String method) {
        return MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                .setFullMethodName(method)
                .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                .build();
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
