package io.understudy.gateway;

import static java.util.stream.Collectors.toMap;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;

/** Takes spans by OTLP over HTTP, as OpenTelemetry's collector does, or refuses them. */
final class Collector implements AutoCloseable {

    private final HttpServer server;
    private final Queue<ExportTraceServiceRequest> requests = new ConcurrentLinkedQueue<>();
    /** What it answers. */
    volatile int status = 200;

    Collector() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/v1/traces", this::take);
        server.start();
    }

    /**
     * A span, as far as it is of interest.
     *
     * @param instance of the process that sent it
     * @param attributes numbers and texts alike
     */
    record Taken(String instance, Span span, Map<String, String> attributes) {

        String id() {
            return HexFormat.of().formatHex(span.getSpanId().toByteArray());
        }

        String parent() {
            return HexFormat.of().formatHex(span.getParentSpanId().toByteArray());
        }

        String trace() {
            return HexFormat.of().formatHex(span.getTraceId().toByteArray());
        }
    }

    private void take(HttpExchange exchange) throws IOException {
        try (exchange) {
            ExportTraceServiceRequest request = ExportTraceServiceRequest.parseFrom(exchange.getRequestBody());
            if (status == 200) {
                requests.add(request);
            }
            exchange.sendResponseHeaders(status, -1);
        }
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces");
    }

    /** All that was sent, as it was sent. */
    List<ExportTraceServiceRequest> requests() {
        return List.copyOf(requests);
    }

    /** In the order that they ended in. */
    List<Taken> spans() {
        return requests.stream()
                .flatMap(request -> request.getResourceSpansList().stream())
                .flatMap(process -> process.getScopeSpansList().stream()
                        .flatMap(scope -> scope.getSpansList().stream())
                        .map(span -> new Taken(
                                values(process.getResource().getAttributesList())
                                        .get("service.instance.id"),
                                span,
                                values(span.getAttributesList()))))
                .toList();
    }

    /** Those of a trace. */
    List<Taken> spans(String trace) {
        return spans().stream().filter(span -> span.trace().equals(trace)).toList();
    }

    static Map<String, String> values(List<KeyValue> attributes) {
        return attributes.stream().collect(toMap(KeyValue::getKey, each -> text(each.getValue())));
    }

    private static String text(AnyValue value) {
        return value.hasIntValue() ? Long.toString(value.getIntValue()) : value.getStringValue();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
