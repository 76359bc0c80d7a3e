package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.StringValue;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.understudy.config.Binder;
import io.understudy.gateway.forward.EtcdMethod.Bytes;
import io.understudy.local.junit.EtcdExtension;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the answers to probes of etcd and of a gateway in front of it. */
final class HealthLikeEtcdIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final int HEADS = Integer.getInteger("understudy.heads", 200);
    private static final long SEED = Long.getLong("understudy.seed", System.nanoTime());

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static GatewayFixture fixture;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()));
        fixture.awaitReady();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /livez",
        "GET, /readyz",
        "GET, /readyz?exclude=nothing&exclude=more",
        "GET, '/readyz?exclude=a,b'",
        "GET, /readyz?exclude=",
        "GET, /readyz/nothing",
        "GET, /readyz/",
        "GET, /livez/",
        "GET, /health",
        "GET, /health?serializable=true",
        "GET, /health?exclude=NOSPACE",
        "GET, /health/",
        "GET, /nothing",
        "POST, /nothing",
        "HEAD, /livez",
        "HEAD, /readyz",
        "HEAD, /health",
        "HEAD, /version",
        "POST, /livez",
        "POST, /readyz",
        "POST, /readyz/nothing",
        "POST, /health",
        "POST, /version",
        "DELETE, /readyz",
        "OPTIONS, /readyz",
        "OPTIONS, /nothing",
        "OPTIONS, /v3/kv/range",
    })
    void answersEqualThoseOfEtcd(String method, String path) throws Exception {
        URI etcd = SOURCE.cluster().clientUrls().get(0);
        HttpResponse<String> theirs = send(method, etcd.resolve(path));
        HttpResponse<String> ours = send(
                method,
                URI.create("http://127.0.0.1:" + fixture.gateway.apiPort()).resolve(path));
        assertThat(ours.statusCode()).isEqualTo(theirs.statusCode());
        assertThat(ours.body()).isEqualTo(theirs.body());
        for (String field : List.of(
                "allow",
                "content-length",
                "access-control-allow-headers",
                "access-control-allow-methods",
                "access-control-allow-origin")) {
            assertThat(ours.headers().firstValue(field))
                    .as(field)
                    .isEqualTo(theirs.headers().firstValue(field));
        }
    }

    @ParameterizedTest
    @CsvSource({"Check, ''", "Check, etcdserverpb.KV", "List, ''", "Watch, ''", "Watch, etcdserverpb.Health"})
    void grpcHealthEqualsThatOfEtcd(String method, String service) throws Exception {
        URI etcd = SOURCE.cluster().clientUrls().get(0);
        String theirs;
        ManagedChannel direct = GatewayFixture.channel(etcd.getHost(), etcd.getPort());
        try {
            theirs = health(direct, method, service).take();
        } finally {
            direct.shutdownNow();
        }
        assertThat(health(fixture.channel(), method, service).take()).isEqualTo(theirs);
    }

    @Test
    void grpcHealthFollowsReadinessAndEndsWhenTheGatewayCloses() throws Exception {
        BlockingQueue<String> seen;
        try (GatewayFixture starting = new GatewayFixture(
                Binder.with(GatewayFixture.settings(SOURCE.cluster()), "closeTimeout", Duration.ofMinutes(2)))) {
            seen = health(starting.channel(), "Watch", "");
            await().atMost(PATIENCE).until(() -> seen.contains("0801"));
            starting.gateway.close();
            await().atMost(PATIENCE).until(() -> seen.contains("UNAVAILABLE etcdserver: server stopped"));
        }
    }

    /** Returns the messages in hexadecimal form, and the error at the end. */
    private static BlockingQueue<String> health(ManagedChannel channel, String method, String service) {
        ClientCall<byte[], byte[]> call = channel.newCall(
                Bytes.method(
                        "grpc.health.v1.Health/" + method,
                        method.equals("Watch") ? MethodType.SERVER_STREAMING : MethodType.UNARY),
                CallOptions.DEFAULT);
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(byte[] message) {
                        seen.add(HexFormat.of().formatHex(message));
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        seen.add(status.getCode() + " " + status.getDescription());
                    }
                },
                new Metadata());
        call.request(100);
        call.sendMessage(StringValue.of(service).toByteArray());
        call.halfClose();
        return seen;
    }

    @ParameterizedTest
    @CsvSource({"HEAD", "GET", "POST"})
    void metricsAreServedForAnyMethod(String method) throws Exception {
        URI etcd = SOURCE.cluster().clientUrls().get(0);
        assertThat(send(method, etcd.resolve("/metrics")).statusCode()).isEqualTo(200);
        HttpResponse<String> ours =
                send(method, URI.create("http://127.0.0.1:" + fixture.gateway.apiPort() + "/metrics"));
        assertThat(ours.statusCode()).isEqualTo(200);
        assertThat(ours.body().isEmpty()).isEqualTo(method.equals("HEAD"));
    }

    @Test
    void requestHeadsAreAcceptedAndRejectedAsByEtcd() throws IOException {
        int etcd = SOURCE.cluster().clientUrls().get(0).getPort();
        int gateway = fixture.gateway.apiPort();
        List<String> different = new ArrayList<>();
        for (HttpHeads.Head head : HttpHeads.generate(new Random(SEED), HEADS)) {
            int theirs = HttpHeads.status(etcd, head.text());
            int ours = HttpHeads.status(gateway, head.text());
            boolean bothReject = theirs >= 400 && ours >= 400;
            // etcd built with Go before 1.23 takes it for none.
            boolean lengthIsEmpty = head.text().contains("Content-Length:\r\n") && ours == 400;
            if (!alike(theirs, ours) && !lengthIsEmpty && (head.isPlain() || !bothReject)) {
                different.add("etcd " + theirs + ", gateway " + ours + ": " + head.text());
            }
        }
        assertThat(different).as("seed %d", SEED).isEmpty();
        for (String head : HttpHeads.stricter()) {
            assertThat(HttpHeads.status(etcd, head)).as(head).isEqualTo(200);
            assertThat(HttpHeads.status(gateway, head)).as(head).isEqualTo(400);
        }
    }

    /**
     * etcd's multiplexer closes connections that do not begin with a request line of HTTP/1. Its router redirects, with 301
     * or, since Go 1.26, 307.
     */
    private static boolean alike(int theirs, int ours) {
        return switch (theirs) {
            case HttpHeads.NONE -> ours == HttpHeads.NONE || ours >= 400;
            case 301, 307 -> ours == 404 || ours == 400;
            default -> ours == theirs;
        };
    }

    private static HttpResponse<String> send(String method, URI url) throws IOException, InterruptedException {
        return HTTP.send(
                HttpRequest.newBuilder(url)
                        .method(method, BodyPublishers.noBody())
                        .timeout(Duration.ofSeconds(30))
                        .build(),
                BodyHandlers.ofString());
    }
}
