package io.understudy.gateway.json;

import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.server.HttpCalls;
import io.understudy.gateway.server.RequestListener;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers what comes to paths below {@code /v3/}. For any event loop. */
public final class JsonApi implements HttpCalls {

    private static final Logger LOG = LoggerFactory.getLogger(JsonApi.class);
    private static final String PREFIX = "/v3/";

    /** Older clients', and what they mean by it. */
    private static final String BETA_PREFIX = "/v3beta/";

    private static final String RANGE = "etcdserverpb.KV/Range";
    private static final String TXN = "etcdserverpb.KV/Txn";
    private static final String UNKNOWN = "unknown";

    private final Map<String, JsonMethod> methods = JsonMethod.byPath();
    private final MessageParser parser;
    private final Reads reads;
    private final OtherCalls others;
    private final Supplier<JsonForm> form;
    private final long maxRequestBytes;
    private final RequestListener listener;

    /**
     * An API.
     *
     * @param form asked for each request, on its event loop
     * @param maxRequestBytes of a request's message; its JSON may be larger
     */
    public JsonApi(
            Reads reads, OtherCalls others, Supplier<JsonForm> form, long maxRequestBytes, RequestListener listener) {
        this.reads = reads;
        this.others = others;
        this.form = form;
        this.maxRequestBytes = maxRequestBytes;
        this.listener = listener;
        this.parser = new MessageParser(Stream.concat(
                        methods.values().stream().map(JsonMethod::request), Stream.of(RangeRequest.getDescriptor()))
                .collect(Collectors.toSet()));
    }

    @Override
    public boolean serves(String path) {
        return path.startsWith(PREFIX) || path.startsWith(BETA_PREFIX);
    }

    @Override
    public void handle(HttpServerRequest request, Session session) {
        JsonMethod method = methods.get(path(request));
        JsonExchange exchange =
                new JsonExchange(request, form.get(), method == null ? UNKNOWN : method.fullName(), listener);
        if (method == null) {
            exchange.refuseRoute(404, "Not Found", Status.Code.NOT_FOUND);
        } else if (!request.method().name().equals("POST")) {
            exchange.refuseRoute(405, "Method Not Allowed", Status.Code.UNIMPLEMENTED);
        } else {
            // Base64 and names make a body larger than its message, if less than twice as large.
            exchange.onBody(2 * maxRequestBytes, body -> call(method, exchange, session, body));
        }
    }

    private static String path(HttpServerRequest request) {
        String path = request.path();
        return path.startsWith(BETA_PREFIX) ? PREFIX + path.substring(BETA_PREFIX.length()) : path;
    }

    private void call(JsonMethod method, JsonExchange exchange, Session session, byte[] body) {
        try {
            Caller caller = JsonCallers.of(exchange.request(), session);
            switch (method.fullName()) {
                case RANGE -> {
                    RangeRequest request =
                            parser.read(body, RangeRequest.newBuilder()).build();
                    limit(request.getSerializedSize());
                    answerRead(exchange, reads.range(caller, request));
                }
                case TXN -> {
                    TxnRequest request = TxnRequest.parseFrom(encoded(method, body));
                    answerRead(exchange, reads.txn(caller, request));
                }
                default -> answerOther(method, exchange, others.call(method.fullName(), caller, encoded(method, body)));
            }
        } catch (MalformedJson e) {
            exchange.refuse(Status.Code.INVALID_ARGUMENT, e.text(form.get()));
        } catch (ApiException e) {
            exchange.refuse(e);
        } catch (InvalidProtocolBufferException | RuntimeException e) {
            LOG.error("request failed method={}", method.fullName(), e);
            exchange.refuse(Status.Code.INTERNAL, "understudy: " + e);
        }
    }

    private byte[] encoded(JsonMethod method, byte[] body) throws MalformedJson, ApiException {
        byte[] message = parser.read(body, DynamicMessage.newBuilder(method.request()))
                .build()
                .toByteArray();
        limit(message.length);
        return message;
    }

    private void limit(long size) throws ApiException {
        if (size > maxRequestBytes) {
            throw JsonExchange.tooLarge(size, maxRequestBytes);
        }
    }

    private static <R extends OpResult> void answerRead(JsonExchange exchange, Future<Answer<R>> answer) {
        answer.onSuccess(exchange::answer).onFailure(exchange::fail);
    }

    private static void answerOther(JsonMethod method, JsonExchange exchange, Future<byte[]> answer) {
        answer.onSuccess(message -> {
                    try {
                        exchange.answer(DynamicMessage.parseFrom(method.answer(), message));
                    } catch (InvalidProtocolBufferException e) {
                        exchange.fail(e);
                    }
                })
                .onFailure(exchange::fail);
    }
}
