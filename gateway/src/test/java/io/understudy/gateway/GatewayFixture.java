package io.understudy.gateway;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.understudy.config.Binder;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.read.ReadSource;
import io.understudy.gateway.read.ReadSource.ReadIndexSource;
import io.understudy.gateway.server.Unhurried;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.Command;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A gateway in front of a test's cluster, and clients of it. */
final class GatewayFixture implements AutoCloseable {

    /** Found once: finding verifies the programs, byte by byte. */
    static final Path ETCDCTL = EtcdBinaries.find().etcdctl();

    static final EtcdVersion VERSION =
            EtcdVersion.parse(EtcdBinaries.find().version().toString());

    static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});
    static final Duration PATIENCE = Duration.ofSeconds(60);

    final Gateway gateway;
    private final HttpClient http = HttpClient.newHttpClient();
    private final ManagedChannel channel;

    GatewayFixture(GatewaySettings settings) throws IOException, InterruptedException {
        this(settings, UnaryOperator.identity());
    }

    /** A gateway with a wrapper around its source of read indexes. */
    GatewayFixture(GatewaySettings settings, UnaryOperator<ReadIndexSource> readIndexes)
            throws IOException, InterruptedException {
        this(Gateway.start(settings, source -> between(source, readIndexes), UnaryOperator.identity()));
    }

    GatewayFixture(Gateway gateway) {
        this.gateway = gateway;
        channel = channel("127.0.0.1", gateway.apiPort());
    }

    private static ReadSource between(ReadSource source, UnaryOperator<ReadIndexSource> readIndexes) {
        return source instanceof ReadSource.Cluster cluster
                ? new ReadSource.Cluster(cluster.cluster(), readIndexes.apply(cluster.readIndexes()), cluster.timers())
                : source;
    }

    static GatewaySettings settings(LocalEtcd source) {
        return GatewaySettings.of(
                        "test",
                        new HostPort("127.0.0.1", 0),
                        EtcdSettings.of(source.clientUrls().toArray(new URI[0])).withName("source"))
                .with(Unhurried.LIMITS);
    }

    static GatewaySettings withMaxSilence(GatewaySettings usual, Duration maxSilence) {
        return Binder.with(usual, "maxSilence", maxSilence);
    }

    static ManagedChannel channel(String host, int port) {
        return NettyChannelBuilder.forAddress(host, port)
                .usePlaintext()
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .build();
    }

    static KVGrpc.KVBlockingStub kv(ManagedChannel channel) {
        return KVGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
    }

    /** One connection, so one session. */
    ManagedChannel channel() {
        return channel;
    }

    KVGrpc.KVBlockingStub kv() {
        return kv(channel);
    }

    /** With metadata on each call. */
    KVGrpc.KVBlockingStub kv(String key, String value) {
        Metadata metadata = new Metadata();
        metadata.put(Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER), value);
        return kv().withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    /** Everything the gateway holds. */
    RangeResponse everything() {
        return kv().range(everythingRequest());
    }

    static RangeRequest everythingRequest() {
        return RangeRequest.newBuilder()
                .setKey(ZERO)
                .setRangeEnd(ZERO)
                .setSerializable(true)
                .build();
    }

    String etcdctl(String... arguments) {
        List<String> line = new ArrayList<>(List.of(ETCDCTL.toString(), "--endpoints=127.0.0.1:" + gateway.apiPort()));
        line.addAll(List.of(arguments));
        return Command.of(line).run(Duration.ofSeconds(30));
    }

    HttpResponse<String> page(String path) {
        try {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.apiPort() + path))
                            .timeout(Duration.ofSeconds(30))
                            .build(),
                    BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    void awaitReady() {
        await().atMost(PATIENCE).until(() -> page("/readyz").statusCode() == 200);
    }

    void awaitNotReady() {
        await().atMost(PATIENCE).until(() -> page("/readyz").statusCode() == 503);
    }

    void awaitRevision(long revision) {
        await().atMost(PATIENCE).until(() -> everything().getHeader().getRevision() >= revision);
    }

    /** Until what it holds of {@code key} is of that revision. */
    void awaitRevision(ByteString key, long revision) {
        RangeRequest request =
                RangeRequest.newBuilder().setKey(key).setSerializable(true).build();
        await().atMost(PATIENCE).until(() -> kv().range(request).getHeader().getRevision() >= revision);
    }

    @Override
    public void close() {
        channel.shutdownNow();
        gateway.close();
    }
}
