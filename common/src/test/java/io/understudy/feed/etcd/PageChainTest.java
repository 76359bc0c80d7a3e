package io.understudy.feed.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages and streams of one snapshot, from a voting member that responds when the test decides, and a gateway. */
@Timeout(240)
final class PageChainTest {

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final ResponseHeader HEADER =
            ResponseHeader.newBuilder().setClusterId(7).setRevision(3_000).build();
    private static final List<KeyValue> KEYS = IntStream.range(0, 2_000)
            .mapToObj(number -> KeyValue.newBuilder()
                    .setKey(ByteString.copyFromUtf8("k%05d".formatted(number)))
                    .setValue(ByteString.copyFrom(new byte[1_000]))
                    .setModRevision(number + 1)
                    .build())
            .toList();

    /** A page that a voting member has not answered. */
    private record Pending(RangeRequest request, StreamObserver<RangeResponse> to) {

        void answer(int most) {
            to.onNext(page(request, most));
            to.onCompleted();
        }
    }

    private final BlockingQueue<Pending> pending = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aGatewayThatReturnsWhileAPageIsUnderWayLeavesNoGap(boolean isAnswered) throws Exception {
        URI voter = server(1, "3.7.3", null);
        URI gateway = server(2, "3.7.3+understudy", "7");
        EtcdCluster cluster = cluster(voter, gateway);
        Endpoint returning = cluster.endpointsFor(Duty.SNAPSHOT).get(0);
        // The sixth pause is 30 s.
        for (int i = 0; i < 6; i++) {
            cluster.reportFailure(returning, Duty.SNAPSHOT, "stream failed");
        }
        try (PageChain pages = chain(cluster)) {
            pages.advance();
            next().answer(20);
            Pending first = next();
            Pending second = next();
            cluster.reportSuccess(returning, Duty.SNAPSHOT);
            second.answer(Integer.MAX_VALUE);
            long last = inside(second.request())
                    .get(inside(second.request()).size() - 1)
                    .getModRevision();
            await().atMost(PATIENCE).until(() -> {
                KeyValue newest = pages.newest();
                return newest != null && newest.getModRevision() == last;
            });
            if (isAnswered) {
                // As if its end had been guessed too far.
                first.answer(20);
            } else {
                first.to().onError(Status.UNAVAILABLE.asRuntimeException());
            }

            assertThat(taken(pages)).isEqualTo(KEYS);
        }
    }

    @Test
    void aGatewayWithAnUnreadableClusterIdIsReadByPages() throws Exception {
        EtcdCluster cluster = cluster(server(2, "3.7.3+understudy", "zz"));
        try (PageChain pages = chain(cluster)) {
            assertThat(taken(pages)).isEqualTo(KEYS);
        }
    }

    private static List<KeyValue> taken(PageChain pages) throws InterruptedException {
        List<KeyValue> taken = new ArrayList<>();
        while (!pages.isTaken()) {
            PageChain.Outcome outcome = pages.take(PATIENCE);
            assertThat(outcome).isNotNull();
            if (outcome instanceof PageChain.Outcome.Answer answer) {
                taken.addAll(answer.response().getKvsList());
            }
        }
        return taken;
    }

    private Pending next() throws InterruptedException {
        Pending next = pending.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private static PageChain chain(EtcdCluster cluster) {
        return new PageChain(
                cluster,
                new ClusterId(7),
                List.of(KeyRange.prefix(ByteString.copyFromUtf8("k"))),
                new Revision(3_000),
                Binder.with(EtcdFeedOptions.DEFAULTS.withPageBytes(64 << 10), "requestTimeout", PATIENCE));
    }

    private EtcdCluster cluster(URI... urls) {
        EtcdCluster cluster = EtcdCluster.connect(
                Binder.with(
                        Binder.with(
                                EtcdSettings.of(urls).withDiscovery(MemberDiscovery.CONFIGURED),
                                "probeInterval",
                                PATIENCE),
                        "requestTimeout",
                        PATIENCE),
                new SimpleMeterRegistry());
        opened.add(0, cluster);
        await().atMost(PATIENCE).until(() -> cluster.view().members().size() == urls.length);
        return cluster;
    }

    /** @param clusterId metadata of a gateway; null for a voting member; its pages wait for the test */
    private URI server(long member, String version, @Nullable String clusterId) throws IOException {
        Metadata headers = new Metadata();
        if (clusterId != null) {
            headers.put(Metadata.Key.of(EtcdMessages.CLUSTER_ID_KEY, Metadata.ASCII_STRING_MARSHALLER), clusterId);
        }
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .intercept(MetadataUtils.newAttachMetadataServerInterceptor(headers))
                .addService(ServerServiceDefinition.builder("etcdserverpb.KV")
                        .addMethod(KVGrpc.getRangeMethod(), ServerCalls.asyncUnaryCall((request, to) -> {
                            Pending page = new Pending(request, to);
                            if (clusterId == null) {
                                pending.add(page);
                            } else {
                                page.answer((int) request.getLimit());
                            }
                        }))
                        .addMethod(PageStream.RANGE_STREAM, ServerCalls.asyncServerStreamingCall((request, to) -> {
                            inside(request)
                                    .forEach(key -> to.onNext(
                                            message(RangeResponse.newBuilder().addKvs(key))));
                            to.onNext(message(RangeResponse.newBuilder().setHeader(HEADER)));
                            to.onCompleted();
                        }))
                        .build())
                .addService(new MaintenanceGrpc.MaintenanceImplBase() {
                    @Override
                    public void status(StatusRequest request, StreamObserver<StatusResponse> to) {
                        to.onNext(StatusResponse.newBuilder()
                                .setHeader(HEADER.toBuilder().setMemberId(member))
                                .setVersion(version)
                                .setLeader(1)
                                .build());
                        to.onCompleted();
                    }
                })
                .build()
                .start();
        opened.add(server::shutdownNow);
        return URI.create("http://127.0.0.1:" + server.getPort());
    }

    private static ResponseOp message(RangeResponse.Builder part) {
        return ResponseOp.newBuilder().setResponseRange(part).build();
    }

    private static RangeResponse page(RangeRequest request, int most) {
        List<KeyValue> all = inside(request);
        return RangeResponse.newBuilder()
                .setHeader(HEADER)
                .addAllKvs(all.subList(0, Math.min(all.size(), most)))
                .setMore(all.size() > most)
                .setCount(all.size())
                .build();
    }

    private static List<KeyValue> inside(RangeRequest request) {
        KeyRange range = KeyRange.ofEtcd(request.getKey(), request.getRangeEnd());
        return KEYS.stream().filter(key -> range.contains(key.getKey())).toList();
    }
}
