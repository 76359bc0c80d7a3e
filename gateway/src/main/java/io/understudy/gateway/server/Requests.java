package io.understudy.gateway.server;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.server.Exchange.RequestReader;
import io.understudy.gateway.server.GrpcMethod.CallMethod;
import io.understudy.gateway.server.GrpcMethod.UnaryMethod;
import io.understudy.gateway.server.WebHandler.WebCalls;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
        String path = HttpHeadRules.path(exchange.request().target(), calls.rawPaths());
        if (exchange.connection().isSpare() && calls.serve(path)) {
            exchange.abort();
            return new Refused();
        }
        // A preflight is answered for any path, as in etcd's access controller.
        boolean called = calls.serve(path)
                && !HttpMethod.OPTIONS
                        .asciiName()
                        .contentEquals(exchange.request().method());
        return new WebRequest(exchange, path, called ? calls : pages, maxBytes);
    }

    boolean rawPaths() {
        return calls.rawPaths();
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

    /** A call with one request and one answer. */
    static final class UnaryCall<Q extends Message> implements RequestReader {

        private static final Logger LOG = LoggerFactory.getLogger(UnaryCall.class);

        private final Http2Exchange exchange;
        private final UnaryMethod<Q> method;
        private final Deframer deframer;
        private final GrpcCall call;
        private @Nullable Caller caller;
        private byte @Nullable [] request;

        private UnaryCall(
                Http2Exchange exchange, UnaryMethod<Q> method, long maxBytes, RequestListener.Outcomes outcomes) {
            this.exchange = exchange;
            this.method = method;
            this.deframer = new Deframer(maxBytes, exchange.request().header(GrpcHeaders.ENCODING));
            this.call = new GrpcCall(exchange, outcomes, () -> {});
        }

        /** Begins a call when its headers have arrived. */
        static <Q extends Message> RequestReader begin(
                Http2Exchange exchange, UnaryMethod<Q> method, long maxBytes, RequestListener.Outcomes outcomes) {
            UnaryCall<Q> unary = new UnaryCall<>(exchange, method, maxBytes, outcomes);
            try {
                unary.caller = unary.call.begin(false);
            } catch (ApiException e) {
                unary.refuse(e);
            }
            return unary;
        }

        @Override
        public int read(ByteBuf data, boolean end) {
            int bytes = data.readableBytes();
            if (!call.over()) {
                try {
                    take(data);
                    // Until the call is over: it may wait, or be forwarded.
                    exchange.hold(deframer.held() + (request == null ? 0 : request.length));
                    if (end) {
                        answer();
                    }
                } catch (ApiException e) {
                    refuse(e);
                }
            }
            return bytes;
        }

        @Override
        public void closed() {
            call.closed();
        }

        private void take(ByteBuf data) throws ApiException {
            while (data.isReadable()) {
                byte[] message = deframer.next(data);
                if (message != null) {
                    if (request != null) {
                        throw new ApiException(Status.Code.INTERNAL, "grpc: more than one request message");
                    }
                    request = message;
                }
            }
        }

        private void answer() throws ApiException {
            if (caller == null || request == null || deframer.inMessage()) {
                throw new ApiException(Status.Code.INTERNAL, "grpc: request message is missing");
            }
            Future<Reply> reply;
            try {
                Q decoded = method.decode(request);
                request = null;
                reply = method.answerer().answer(caller, decoded);
            } catch (InvalidProtocolBufferException e) {
                throw new ApiException(Status.Code.INTERNAL, "grpc: error unmarshalling request: " + e.getMessage());
            } catch (RuntimeException e) {
                fail(e);
                return;
            }
            // Most replies are complete: avoids a listener.
            if (reply.succeeded()) {
                send(reply.result());
            } else {
                exchange.holdUntil(reply);
                reply.onComplete(this::send, this::fail);
            }
        }

        private void send(Reply reply) {
            call.answer(reply, this::fail);
        }

        private void fail(Throwable why) {
            if (why instanceof ApiException refusal) {
                refuse(refusal);
            } else {
                LOG.atError()
                        .addKeyValue("method", method.fullName())
                        .setCause(why)
                        .log("request failed");
                refuse(new ApiException(Status.Code.INTERNAL, "understudy: " + why));
            }
        }

        private void refuse(ApiException why) {
            call.fail(why.code(), why.text());
        }
    }
}
