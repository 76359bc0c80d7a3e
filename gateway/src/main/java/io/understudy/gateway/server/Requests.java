package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.ApiException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Routes requests to their methods. Thread-safe.
 *
 * <p>Invariant A2: a method that is not served is rejected with a gRPC status.
 */
final class Requests {

    private static final String UNKNOWN = "unknown";

    private record Route(GrpcMethod method, RequestListener.Outcomes outcomes) {}

    /** A request that is rejected by its head. */
    private record Refused() implements RequestReader {
        @Override
        public int read(ByteBuf data, boolean end) {
            return data.readableBytes();
        }

        @Override
        public void closed() {}
    }

    private final Map<AsciiString, Route> routes;
    private final Set<String> services;
    private final RequestListener.Outcomes unknown;
    private final WebCalls calls;
    private final WebHandler pages;
    private final long maxBytes;
    private final int maxHeaders;

    Requests(
            List<? extends GrpcMethod> methods,
            RequestListener listener,
            WebCalls calls,
            WebHandler pages,
            ServerLimits limits) {
        this.routes = methods.stream()
                .map(method -> new Route(method, listener.of(method.fullName())))
                .collect(Collectors.toMap(
                        route -> AsciiString.of("/" + route.method().fullName()), Function.identity()));
        this.services = methods.stream()
                .map(GrpcMethod::fullName)
                .map(name -> name.substring(0, name.indexOf('/')))
                .collect(Collectors.toUnmodifiableSet());
        // One name for all unknown methods, of which there is no bound.
        this.unknown = listener.of(UNKNOWN);
        this.calls = calls;
        this.pages = pages;
        this.maxBytes = limits.maxRequestBytes();
        this.maxHeaders = limits.frames().maxHeaders();
    }

    /** Begins an HTTP/2 request. */
    RequestReader begin(Http2Exchange exchange) {
        CharSequence type = exchange.header(GrpcHeaders.CONTENT_TYPE);
        if (type != null && GrpcHeaders.meantBy(type)) {
            RequestReader reader = grpc(exchange, type);
            exchange.forgetHead();
            return reader;
        }
        int fields = exchange.requestHeaders().size();
        if (fields > maxHeaders) {
            return refuse(exchange, tooManyHeaders(fields).text());
        }
        try {
            exchange.holdHeaders(HeldBytes.sizeOf(exchange.requestHeaders()));
        } catch (ApiException e) {
            return refuse(exchange, e.text());
        }
        return web(exchange);
    }

    /** Begins a request other than gRPC. */
    RequestReader web(Exchange exchange) {
        String path = HttpHeadRules.path(exchange.request().target());
        if (exchange.connection().isSpare() && calls.serve(path)) {
            exchange.abort();
            return new Refused();
        }
        if (HttpMethod.OPTIONS.asciiName().contentEquals(exchange.request().method())) {
            // For any path, as in etcd's access controller.
            return new WebRequest(
                    exchange, path, request -> request.answer(200, "text/plain; charset=utf-8", ""), maxBytes);
        }
        return new WebRequest(exchange, path, calls.serve(path) ? calls : pages, maxBytes);
    }

    private RequestReader grpc(Http2Exchange exchange, CharSequence type) {
        int fields = exchange.requestHeaders().size();
        if (fields > maxHeaders) {
            return refuse(exchange, unknown, tooManyHeaders(fields));
        }
        AsciiString path = AsciiString.of(exchange.target());
        Route route = routes.get(path);
        if (route == null) {
            return refuse(exchange, unknown, new ApiException(Status.Code.UNIMPLEMENTED, unknown(path.toString())));
        }
        if (!GrpcHeaders.protobuf(type)) {
            return refuse(
                    exchange,
                    route.outcomes(),
                    new ApiException(
                            Status.Code.UNIMPLEMENTED, "grpc: unsupported message encoding; allowed: protobuf"));
        }
        if (route.method() instanceof UnaryMethod<?> unary) {
            return UnaryCall.begin(exchange, unary, maxBytes, route.outcomes());
        }
        return MessageCall.begin(exchange, (CallMethod) route.method(), maxBytes, route.outcomes());
    }

    /** Returns the error text of Go's gRPC, as in etcd ({@code server.go}, handleStream). */
    private String unknown(String path) {
        int slash = path.lastIndexOf('/');
        if (slash < 1) {
            return "malformed method name: \"" + path + "\"";
        }
        String service = path.substring(1, slash);
        return services.contains(service)
                ? "unknown method " + path.substring(slash + 1) + " for service " + service
                : "unknown service " + service;
    }

    private ApiException tooManyHeaders(int fields) {
        return new ApiException(
                Status.Code.RESOURCE_EXHAUSTED,
                "understudy: " + fields + " header fields; allowed: " + maxHeaders + " (limits.maxHeaders)");
    }

    private static RequestReader refuse(Http2Exchange exchange, String why) {
        byte[] text = (why + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.head(431, List.of(new Field(GrpcHeaders.CONTENT_TYPE, "text/plain; charset=utf-8")), text.length);
        exchange.body(Unpooled.wrappedBuffer(text), true);
        return new Refused();
    }

    private static RequestReader refuse(Http2Exchange exchange, RequestListener.Outcomes outcomes, ApiException why) {
        new GrpcCall(exchange, outcomes, () -> {}).fail(why.code(), why.text());
        return new Refused();
    }
}
