package io.understudy.bench;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Connections to one server, used in turn. Safe for use by several threads. */
interface ServerConnections extends AutoCloseable {

    /** Of each request. */
    Duration DEADLINE = Duration.ofSeconds(30);

    /**
     * Sends a request.
     *
     * @return the answer's message or body; fails with {@link NotServedException} if the server doesn't have this method
     */
    CompletableFuture<byte[]> call(byte[] request);

    @Override
    void close();

    static ServerConnections open(Api api, URI server, Access access, int connections) {
        return switch (api) {
            case GRPC -> new GrpcCaller(server, access, connections);
            case JSON -> new JsonCaller(server.resolve(api.path()), api.headers(), access);
        };
    }

    /** {@code KV.Range} over gRPC, messages as bytes. */
    final class GrpcCaller implements ServerConnections {

        /** As large as h2load's are for the answers of a benchmark: the window is not what is measured. */
        private static final int WINDOW_BYTES = 64 * 1024 * 1024;

        private static final int MAX_ANSWER_BYTES = 256 * 1024 * 1024;

        private static final MethodDescriptor<byte[], byte[]> RANGE = MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(Api.GRPC.path().substring(1))
                .setRequestMarshaller(new Bytes())
                .setResponseMarshaller(new Bytes())
                .build();

        private final List<ManagedChannel> channels;
        private final AtomicInteger turn = new AtomicInteger();

        GrpcCaller(URI server, Access access, int connections) {
            channels = Stream.generate(() -> channel(server, access))
                    .limit(connections)
                    .toList();
        }

        private static ManagedChannel channel(URI server, Access access) {
            return NettyChannelBuilder.forAddress(server.getHost(), server.getPort())
                    .usePlaintext()
                    .directExecutor()
                    .maxInboundMessageSize(MAX_ANSWER_BYTES)
                    .flowControlWindow(WINDOW_BYTES)
                    .intercept(access.onEachCall())
                    .build();
        }

        @Override
        public CompletableFuture<byte[]> call(byte[] request) {
            ManagedChannel channel = channels.get(Math.floorMod(turn.getAndIncrement(), channels.size()));
            CompletableFuture<byte[]> answer = new CompletableFuture<>();
            CallOptions options = CallOptions.DEFAULT
                    .withWaitForReady()
                    .withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
            ClientCalls.asyncUnaryCall(channel.newCall(RANGE, options), request, new StreamObserver<byte[]>() {
                @Override
                public void onNext(byte[] message) {
                    answer.complete(message);
                }

                @Override
                public void onError(Throwable failure) {
                    answer.completeExceptionally(understood(failure));
                }

                @Override
                public void onCompleted() {}
            });
            return answer;
        }

        private static Throwable understood(Throwable failure) {
            Status status = Status.fromThrowable(failure);
            return status.getCode() == Status.Code.UNIMPLEMENTED
                    ? new NotServedException("UNIMPLEMENTED, " + status.getDescription())
                    : failure;
        }

        @Override
        public void close() {
            channels.forEach(ManagedChannel::shutdownNow);
        }

        /** A message as it is on the wire. */
        private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {

            @Override
            public InputStream stream(byte[] message) {
                return new ByteArrayInputStream(message);
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

    /** etcd's JSON mapping over HTTP/1.1, a connection for each request in flight. */
    final class JsonCaller implements ServerConnections {

        private static final int OK = 200;
        private static final int NOT_FOUND = 404;
        private static final int NOT_IMPLEMENTED = 501;

        private final URI address;
        private final Map<String, String> headers;
        private final HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(DEADLINE)
                .build();

        JsonCaller(URI address, Map<String, String> headers, Access access) {
            this.address = address;
            this.headers = new HashMap<>(headers);
            this.headers.putAll(access.headers(Api.JSON));
        }

        @Override
        public CompletableFuture<byte[]> call(byte[] request) {
            HttpRequest.Builder builder = HttpRequest.newBuilder(address)
                    .timeout(DEADLINE)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(request));
            headers.forEach(builder::header);
            return http.sendAsync(builder.build(), HttpResponse.BodyHandlers.ofByteArray())
                    .thenApply(JsonCaller::body);
        }

        private static byte[] body(HttpResponse<byte[]> answer) {
            int status = answer.statusCode();
            if (status == OK) {
                return answer.body();
            }
            String description = "status " + status + ", " + new String(answer.body(), StandardCharsets.UTF_8).strip();
            throw status == NOT_FOUND || status == NOT_IMPLEMENTED
                    ? new NotServedException(description)
                    : new BenchException(description);
        }

        /** Its connections close by themselves, some time after the last use. */
        @Override
        public void close() {}
    }

    /** The server does not support the request: it is sound, but there is nothing to measure. */
    final class NotServedException extends RuntimeException {

        NotServedException(String message) {
            super(message);
        }
    }
}
