package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.trace.TracingSettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Spans of calls that a gateway and another behind it export, and calls without a collector.
 *
 * <p>Tests invariants O2, O3.
 */
@Timeout(120)
final class TracingIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final ForwardSettings FORWARD = ForwardSettings.DEFAULTS.with(Writes.FORWARD);
    private static final String CALLER = "00f067aa0ba902b7";
    private static final ByteString KEY = ByteString.copyFromUtf8("secret-key");
    private static final RangeRequest GET =
            RangeRequest.newBuilder().setKey(KEY).setSerializable(true).build();

    private static Collector collector;
    private static GatewayFixture parent;
    private static GatewayFixture gateway;

    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void open() throws Exception {
        SOURCE.cluster().etcdctl("put", "secret-key", "secret-value");
        collector = new Collector();
        TracingSettings decidedByCallers =
                TracingSettings.to(collector.endpoint()).withSamplesPerMillion(0);
        parent = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(FORWARD).with(decidedByCallers));
        parent.awaitReady();
        URI above = URI.create("http://127.0.0.1:" + parent.gateway.apiPort());
        gateway = new GatewayFixture(GatewaySettings.of(
                        "edge",
                        new HostPort("127.0.0.1", 0),
                        EtcdSettings.of(above).withName("parent"))
                .with(FORWARD)
                .with(decidedByCallers));
        gateway.awaitReady();
    }

    @AfterAll
    static void close() {
        gateway.close();
        parent.close();
        collector.close();
    }

    @Test
    void aReadIsASpanBelowItsCallers() {
        String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        RangeResponse response = gateway.kv("traceparent", sampled(trace)).range(GET);

        Collector.Taken span = only(trace);
        assertThat(span.parent()).isEqualTo(CALLER);
        assertThat(span.instance()).isEqualTo("edge");
        assertThat(span.span().getName()).isEqualTo("etcdserverpb.KV/Range");
        assertThat(span.span().getKind()).isEqualTo(SpanKind.SPAN_KIND_SERVER);
        assertThat(span.span().getEndTimeUnixNano()).isGreaterThan(span.span().getStartTimeUnixNano());
        assertThat(span.attributes())
                .containsAllEntriesOf(Map.of(
                        "rpc.system", "grpc",
                        "rpc.service", "etcdserverpb.KV",
                        "rpc.method", "Range",
                        "rpc.grpc.status_code", "0",
                        "understudy.consistency", "serializable",
                        "understudy.origin", "replica",
                        "understudy.revision",
                                Long.toString(response.getHeader().getRevision())))
                .hasSizeBetween(7, 8);
        assertThat(collector.requests().get(0).getResourceSpans(0).getResource().getAttributesList())
                .anySatisfy(each -> {
                    assertThat(each.getKey()).isEqualTo("service.name");
                    assertThat(each.getValue().getStringValue()).isEqualTo("understudy-gateway");
                });
    }

    @Test
    void aTransactionThatReadsAndOneThatFailsAreSpansToo() {
        String read = "10000000000000000000000000000001";
        TxnRequest txn = TxnRequest.newBuilder()
                .addSuccess(
                        RequestOp.newBuilder().setRequestRange(GET.toBuilder().setSerializable(false)))
                .build();
        assertThat(gateway.kv("traceparent", sampled(read)).txn(txn).getSucceeded())
                .isTrue();
        assertThat(only(read).attributes())
                .containsEntry("rpc.method", "Txn")
                .containsEntry("understudy.consistency", "linearizable")
                .containsEntry("understudy.origin", "replica");

        String refused = "10000000000000000000000000000002";
        assertThatExceptionOfType(StatusRuntimeException.class).isThrownBy(() -> {
            var unused = gateway.kv("traceparent", sampled(refused))
                    .range(GET.toBuilder().setRevision(1_000_000).build());
        });
        assertThat(only(refused).attributes())
                .containsEntry("rpc.grpc.status_code", "11")
                .doesNotContainKey("understudy.origin");
        assertThat(only(refused).span().getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_UNSET);
    }

    @Test
    void jsonAndRestAreTracedAlike() throws Exception {
        String json = "20000000000000000000000000000001";
        String rest = "20000000000000000000000000000002";
        send(HttpRequest.newBuilder(uri(gateway.gateway.apiPort(), "/v3/kv/range"))
                .header("traceparent", sampled(json))
                .POST(BodyPublishers.ofString("{\"key\":\"c2VjcmV0LWtleQ==\",\"serializable\":true}")));
        send(HttpRequest.newBuilder(uri(gateway.gateway.restPort(), "/v1/kv/secret-key?consistency=serializable"))
                .header("traceparent", sampled(rest)));

        assertThat(only(json).span().getName()).isEqualTo("etcdserverpb.KV/Range");
        assertThat(only(json).attributes())
                .containsEntry("rpc.grpc.status_code", "0")
                .containsEntry("understudy.origin", "replica");
        assertThat(only(rest).span().getName()).isEqualTo("GET /v1/kv/{key}");
        assertThat(only(rest).attributes())
                .containsEntry("http.route", "/v1/kv/{key}")
                .containsEntry("http.response.status_code", "200")
                .containsEntry("understudy.origin", "replica");
    }

    @Test
    void forwardedWritesAreTracedBelowTheGatewaysSpan() {
        String trace = "30000000000000000000000000000001";
        var unused = gateway.kv("traceparent", sampled(trace))
                .put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("written"))
                        .build());

        await().atMost(PATIENCE).until(() -> collector.spans(trace).size() == 2);
        Collector.Taken here = of("edge", collector.spans(trace));
        Collector.Taken above = of("test", collector.spans(trace));
        assertThat(here.parent()).isEqualTo(CALLER);
        assertThat(here.span().getName()).isEqualTo("etcdserverpb.KV/Put");
        assertThat(above.span().getName()).isEqualTo("etcdserverpb.KV/Put");
        assertThat(above.parent()).isEqualTo(here.id());
    }

    /** A span of an earlier call would be exported before that of the last one. */
    @Test
    void unsampledCallsAreNotExported() {
        String unsampled = "40000000000000000000000000000001";
        String last = "40000000000000000000000000000002";
        int before = collector.spans().size();
        assertThat(gateway.kv("traceparent", "00-" + unsampled + "-" + CALLER + "-00")
                        .range(GET)
                        .getCount())
                .isOne();
        assertThat(gateway.kv("traceparent", "no such thing").range(GET).getCount())
                .isOne();
        assertThat(gateway.kv().range(GET).getCount()).isOne();
        assertThat(gateway.kv("traceparent", sampled(last)).range(GET).getCount())
                .isOne();

        assertThat(only(last)).isNotNull();
        assertThat(collector.spans(unsampled)).isEmpty();
        assertThat(collector.spans()).hasSize(before + 1);
    }

    @Test
    void callsWithoutASamplingDecisionUseTheConfiguredRate() throws Exception {
        try (Collector all = new Collector();
                GatewayFixture sampling = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster())
                        .with(TracingSettings.to(all.endpoint()).withSamplesPerMillion(1_000_000)))) {
            sampling.awaitReady();
            assertThat(sampling.kv().range(GET).getCount()).isOne();
            await().atMost(PATIENCE).until(() -> all.spans().stream()
                    .anyMatch(span -> span.span().getName().equals("etcdserverpb.KV/Range")));
            assertThat(all.spans().get(0).span().getParentSpanId().isEmpty()).isTrue();
        }
    }

    @Test
    void noSpanHoldsAKeyOrAValueOrAToken() {
        String trace = "50000000000000000000000000000001";
        assertThat(gateway.kv("traceparent", sampled(trace))
                        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(token("secret-token")))
                        .range(GET)
                        .getCount())
                .isOne();
        assertThat(only(trace)).isNotNull();
        assertThat(collector.requests())
                .allSatisfy(request -> assertThat(new String(request.toByteArray(), StandardCharsets.ISO_8859_1))
                        .doesNotContain("secret"));
    }

    @Test
    void withoutACollectorReadsAreServedAndLostSpansCounted() throws Exception {
        Collector down = new Collector();
        down.status = 503;
        try (down;
                GatewayFixture alone = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster())
                        .with(TracingSettings.to(down.endpoint()).withSamplesPerMillion(1_000_000)))) {
            alone.awaitReady();
            assertThat(alone.kv().range(GET).getCount()).isOne();
            await().atMost(PATIENCE).until(() -> spans(alone, "failed") > 0);
            assertThat(spans(alone, "exported")).isZero();

            down.status = 200;
            assertThat(alone.kv().range(GET).getCount()).isOne();
            await().atMost(PATIENCE).until(() -> spans(alone, "exported") > 0);

            down.close();
            double before = spans(alone, "failed");
            assertThat(alone.kv().range(GET).getCount()).isOne();
            await().atMost(PATIENCE).until(() -> spans(alone, "failed") > before);
        }
    }

    @Test
    void pendingSpansAreExportedAtShutdown() throws Exception {
        String trace = "60000000000000000000000000000001";
        try (Collector last = new Collector()) {
            GatewayFixture closing = new GatewayFixture(
                    GatewayFixture.settings(SOURCE.cluster()).with(TracingSettings.to(last.endpoint())));
            closing.awaitReady();
            assertThat(closing.kv("traceparent", sampled(trace)).range(GET).getCount())
                    .isOne();
            closing.close();
            assertThat(last.spans(trace)).hasSize(1);
        }
    }

    private static double spans(GatewayFixture of, String outcome) {
        return of.page("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("understudy_gateway_tracing_spans_total{")
                        && line.contains("outcome=\"" + outcome + "\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private static Metadata token(String value) {
        Metadata metadata = new Metadata();
        metadata.put(Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER), value);
        return metadata;
    }

    private static String sampled(String trace) {
        return "00-" + trace + "-" + CALLER + "-01";
    }

    private static Collector.Taken only(String trace) {
        await().atMost(PATIENCE).until(() -> !collector.spans(trace).isEmpty());
        List<Collector.Taken> spans = collector.spans(trace);
        assertThat(spans).hasSize(1);
        return spans.get(0);
    }

    private static Collector.Taken of(String instance, List<Collector.Taken> spans) {
        return spans.stream()
                .filter(span -> span.instance().equals(instance))
                .findFirst()
                .orElseThrow();
    }

    private static URI uri(int port, String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    private void send(HttpRequest.Builder request) throws Exception {
        assertThat(http.send(request.timeout(PATIENCE).build(), BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(200);
    }
}
