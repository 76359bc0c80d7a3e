package io.understudy.gateway.json;

import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.understudy.gateway.json.JsonMethod.Shape;
import io.understudy.gateway.json.MessageReader.MalformedJson;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.server.Places;
import io.understudy.gateway.server.RequestListener;
import io.understudy.gateway.server.WebHandler.WebCalls;
import io.understudy.gateway.server.WebRequest;
import io.understudy.gateway.trace.CallTrace;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Serves the paths below {@code /v3/}. Thread-safe.
 *
 * <p>Invariant J1: a JSON request, well-formed or malformed, gets the bytes and status that etcd returns.
 */
public final class JsonApi implements WebCalls {

    private static final String PREFIX = "/v3/";

    /** The prefix of older clients, for the same methods. */
    private static final String BETA_PREFIX = "/v3beta/";

    private static final String RANGE = "etcdserverpb.KV/Range";
    private static final String TXN = "etcdserverpb.KV/Txn";
    private static final String UNKNOWN = "unknown";

    /** Size of a body that is parsed on its event loop. Small parts make parsing slow: a microsecond for each byte. */
    private static final int MOST_ON_LOOP = 64 << 10;

    /** Larger bodies held at a time. */
    private static final int MOST_LARGE = 256;

    private static final int PARSING_THREADS = 2;

    private final Map<String, JsonMethod> methods = JsonMethod.byPath();
    private final MessageReader parser;
    private final WorkerExecutor parsing;
    private final Places places = new Places(MOST_LARGE);
    private final Reads reads;
    private final OtherCalls others;
    private final StreamCalls streams;
    private final Supplier<JsonForm> form;
    private final long maxRequestBytes;
    private final RequestListener.Outcomes unknown;
    private final Map<String, RequestListener.Outcomes> outcomes;

    /**
     * @param form read for each request, on its event loop
     * @param maxRequestBytes of a request's message; its JSON may be larger
     */
    public JsonApi(
            Vertx vertx,
            Reads reads,
            OtherCalls others,
            StreamCalls streams,
            Supplier<JsonForm> form,
            long maxRequestBytes,
            RequestListener listener) {
        this.parsing = vertx.createSharedWorkerExecutor("understudy-json", PARSING_THREADS, 1, TimeUnit.HOURS);
        this.reads = reads;
        this.others = others;
        this.streams = streams;
        this.form = form;
        this.maxRequestBytes = maxRequestBytes;
        this.unknown = listener.of(UNKNOWN);
        this.outcomes = methods.values().stream()
                .map(JsonMethod::fullName)
                .distinct()
                .collect(Collectors.toMap(Function.identity(), listener::of));
        this.parser = new MessageReader(Stream.concat(
                        methods.values().stream().map(JsonMethod::request), Stream.of(RangeRequest.getDescriptor()))
                .collect(Collectors.toSet()));
    }

    @Override
    public boolean serve(String path) {
        return path.startsWith(PREFIX) || path.startsWith(BETA_PREFIX);
    }

    @Override
    public void handle(WebRequest request) {
        JsonMethod method = methods.get(path(request.path()));
        JsonExchange exchange = exchange(method, request);
        if (method == null) {
            exchange.refuseRoute(404, "Not Found", Status.Code.NOT_FOUND);
        } else if (!request.method().equals("POST")) {
            exchange.refuseRoute(405, "Method Not Allowed", Status.Code.UNIMPLEMENTED);
        } else if (method.shape() == Shape.UNARY) {
            call(method, exchange, request);
        } else {
            stream(method, exchange, request);
        }
    }

    @Override
    public boolean lasts(WebRequest request) {
        JsonMethod method = methods.get(path(request.path()));
        return method != null && method.shape() != Shape.UNARY;
    }

    @Override
    public boolean streamsRequests(String path) {
        JsonMethod method = methods.get(path(path));
        return method != null && method.shape() == Shape.BOTH;
    }

    @Override
    public void refuse(WebRequest request, ApiException why) {
        exchange(methods.get(path(request.path())), request).refuse(why);
    }

    @Override
    public void refuseTooLarge(WebRequest request, long most) {
        refuse(request, tooLarge("more than " + most));
    }

    private JsonExchange exchange(@Nullable JsonMethod method, WebRequest request) {
        String name = method == null ? UNKNOWN : method.fullName();
        RequestListener.Outcomes listener = outcomes.getOrDefault(name, unknown);
        CallTrace trace = method != null && method.shape() == Shape.UNARY ? listener.begins(request) : CallTrace.NONE;
        return new JsonExchange(request, form.get(), name, listener, trace);
    }

    private static String path(String path) {
        return path.startsWith(BETA_PREFIX) ? PREFIX + path.substring(BETA_PREFIX.length()) : path;
    }

    private void call(JsonMethod method, JsonExchange exchange, WebRequest http) {
        byte[] body = http.body();
        try {
            Caller caller = http.caller(exchange::over);
            exchange.endAt(caller.deadlineNanos());
            parse(
                    http,
                    body.length,
                    () -> read(method, exchange, caller, body),
                    answering -> {
                        if (!exchange.over()) {
                            answering.run();
                        }
                    },
                    why -> fail(exchange, why));
        } catch (ApiException e) {
            exchange.refuse(e);
        }
    }

    /**
     * Parses a part of a body, on its event loop if it is small, and continues there.
     *
     * @param failed also receives what {@code next} throws
     */
    <T> void parse(WebRequest http, int bytes, Callable<T> parsed, Consumer<T> next, Consumer<Throwable> failed) {
        if (bytes <= MOST_ON_LOOP) {
            try {
                next.accept(parsed.call());
            } catch (Exception e) {
                failed.accept(e);
            }
            return;
        }
        String client = http.client();
        if (!places.take(client)) {
            failed.accept(ApiException.tooManyRequests(": too many JSON requests above " + MOST_ON_LOOP + " bytes"));
            return;
        }
        parsing.executeBlocking(parsed, false).onComplete(done -> {
            places.giveBack(client);
            try {
                if (done.failed()) {
                    failed.accept(done.cause());
                } else {
                    next.accept(done.result());
                }
            } catch (RuntimeException e) {
                failed.accept(e);
            }
        });
    }

    private void fail(JsonExchange exchange, Throwable why) {
        if (why instanceof MalformedJson malformed) {
            exchange.refuse(Status.Code.INVALID_ARGUMENT, malformed.text());
        } else {
            exchange.fail(why);
        }
    }

    /** Reads a request on any thread; the result answers it on its event loop. */
    private Runnable read(JsonMethod method, JsonExchange exchange, Caller caller, byte[] body)
            throws MalformedJson, ApiException, InvalidProtocolBufferException {
        if (method.fullName().equals(RANGE)) {
            RangeRequest request = parser.read(body, RangeRequest.newBuilder(), exchange.form())
                    .build();
            limit(request.getSerializedSize());
            return () -> answerRead(exchange, reads.range(caller, request));
        }
        byte[] message = encoded(method, exchange, body);
        if (method.fullName().equals(TXN)) {
            TxnRequest request = TxnRequest.parseFrom(message);
            if (TxnRequests.isReadOnly(request)) {
                return () -> answerRead(exchange, reads.txn(caller, request));
            }
            TxnRequests.requireSortable(request, reads.version());
        }
        return () -> answerOther(method, exchange, others.call(method.fullName(), caller, message, exchange::whenGone));
    }

    private void stream(JsonMethod method, JsonExchange exchange, WebRequest http) {
        try {
            Caller caller = http.caller(exchange::over);
            Function<StreamedRequests, @Nullable JsonStream> beginning =
                    requests -> begin(method, exchange, caller, http, requests);
            if (method.shape() == Shape.BOTH) {
                http.readBody(new JsonRequests(http, exchange, this, method.request(), beginning));
                return;
            }
            byte[] body = http.body();
            parse(
                    http,
                    body.length,
                    () -> encoded(method, exchange, body),
                    message -> {
                        StreamedRequests requests = new StreamedRequests(() -> {});
                        requests.add(List.of(message), true);
                        JsonStream unused = beginning.apply(requests);
                    },
                    why -> fail(exchange, why));
        } catch (ApiException e) {
            exchange.refuse(e);
        }
    }

    private @Nullable JsonStream begin(
            JsonMethod method, JsonExchange exchange, Caller caller, WebRequest http, StreamedRequests requests) {
        JsonStream stream = exchange.stream(method.answer());
        if (stream != null) {
            stream.endAt(caller.deadlineNanos(), http.eventLoop());
            stream.begin(taker -> streams.begin(method.fullName(), caller, http, requests, taker));
        }
        return stream;
    }

    MessageReader parser() {
        return parser;
    }

    /** Returns the error of an invalid first value. Null if it ends the messages, as in etcd 3.6. */
    @Nullable ApiException rejected(MalformedJson broken) {
        return form.get().errorsRepeatText() ? new ApiException(Status.Code.UNKNOWN, broken.text()) : null;
    }

    long maxRequestBytes() {
        return maxRequestBytes;
    }

    static ApiException tooLarge(String sizes) {
        return new ApiException(
                Status.Code.RESOURCE_EXHAUSTED, "grpc: received message larger than max (" + sizes + ")");
    }

    private byte[] encoded(JsonMethod method, JsonExchange exchange, byte[] body) throws MalformedJson, ApiException {
        byte[] message = parser.read(body, DynamicMessage.newBuilder(method.request()), exchange.form())
                .build()
                .toByteArray();
        limit(message.length);
        return message;
    }

    private void limit(long size) throws ApiException {
        if (size > maxRequestBytes) {
            throw tooLarge(size + " vs. " + maxRequestBytes);
        }
    }

    private static <R extends OpResult> void answerRead(JsonExchange exchange, Future<Answer<R>> answer) {
        exchange.holdUntil(answer);
        answer.onSuccess(exchange::answer).onFailure(exchange::fail);
    }

    private static void answerOther(JsonMethod method, JsonExchange exchange, Future<byte[]> answer) {
        exchange.holdUntil(answer);
        answer.onSuccess(message -> {
                    try {
                        exchange.answer(DynamicMessage.parseFrom(method.answer(), message));
                    } catch (InvalidProtocolBufferException e) {
                        exchange.fail(e);
                    }
                })
                .onFailure(exchange::fail);
    }

    /**
     * Unary methods with encoded messages, except ranges and read-only transactions.
     */
    @FunctionalInterface
    public interface OtherCalls {

        /**
         * Answers a call; fails with an {@link io.understudy.gateway.api.ApiException} only. On the session's event
         * loop.
         *
         * @param fullName such as {@code etcdserverpb.Maintenance/Status}
         * @param whenGone receives the task to run, on that loop, once the client has disconnected
         */
        Future<byte[]> call(String fullName, Caller caller, byte[] request, Consumer<Runnable> whenGone);
    }

    /** Methods with a stream of answers, with encoded messages. */
    @FunctionalInterface
    public interface StreamCalls {

        /**
         * Begins a call; on the session's event loop, where it is answered too.
         *
         * @param fullName such as {@code etcdserverpb.Watch/Watch}
         * @param http that it came by
         * @param requests of the client, in their encoding; more may follow
         * @throws ApiException if it is rejected
         */
        StreamedCall begin(
                String fullName, Caller caller, WebRequest http, StreamedRequests requests, StreamTaker taker)
                throws ApiException;
    }
}
