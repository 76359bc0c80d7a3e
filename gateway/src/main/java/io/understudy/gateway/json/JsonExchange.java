package io.understudy.gateway.json;

import com.google.protobuf.Message;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.server.RequestListener;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request from its headers to its answer, on its event loop. Answered once; whatever comes afterwards is dropped. */
final class JsonExchange {

    private static final Logger LOG = LoggerFactory.getLogger(JsonExchange.class);
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";

    /** What an answer is sent in, when it has more. */
    private static final int PIECE_BYTES = 64 << 10;

    private final HttpServerRequest request;
    private final JsonForm form;
    private final String method;
    private final RequestListener listener;
    private final long beginNanos = System.nanoTime();
    private boolean over;

    JsonExchange(HttpServerRequest request, JsonForm form, String method, RequestListener listener) {
        this.request = request;
        this.form = form;
        this.method = method;
        this.listener = listener;
        request.response().exceptionHandler(gone -> {
            boolean unused = over(Status.Code.CANCELLED);
        });
    }

    HttpServerRequest request() {
        return request;
    }

    /** Collects the body, and refuses it when it gets larger than {@code most} bytes. */
    void onBody(long most, Consumer<byte[]> then) {
        Buffer body = Buffer.buffer();
        request.handler(part -> {
            if (body.length() + part.length() <= most) {
                body.appendBuffer(part);
            } else if (!over) {
                request.response().putHeader("connection", "close");
                refuse(tooLarge((long) body.length() + part.length(), most));
            }
        });
        request.endHandler(end -> {
            if (!over) {
                then.accept(body.getBytes());
            }
        });
        request.exceptionHandler(gone -> {
            boolean unused = over(Status.Code.CANCELLED);
        });
    }

    static ApiException tooLarge(long size, long most) {
        return new ApiException(
                Status.Code.RESOURCE_EXHAUSTED,
                "grpc: received message larger than max (" + size + " vs. " + most + ")");
    }

    void answer(Answer<? extends OpResult> answer) {
        if (over(Status.Code.OK)) {
            HttpServerResponse response = succeeding();
            response.putHeader("Grpc-Metadata-Understudy-Revision", Long.toString(answer.revision()));
            Duration staleness = answer.staleness();
            if (staleness != null) {
                response.putHeader("Grpc-Metadata-Understudy-Staleness-Ms", Long.toString(staleness.toMillis()));
            }
            send(response, new ResultJson(answer.result(), form));
        }
    }

    void answer(Message message) {
        if (over(Status.Code.OK)) {
            JsonBytes out = new JsonBytes(form);
            MessageJson.write(out, message);
            succeeding().end(Buffer.buffer(out.toByteArray()));
        }
    }

    void fail(Throwable why) {
        if (why instanceof ApiException refusal) {
            refuse(refusal);
        } else {
            LOG.error("request failed method={}", method, why);
            refuse(Status.Code.INTERNAL, "understudy: " + why);
        }
    }

    void refuse(ApiException why) {
        refuse(why.code(), why.text());
    }

    void refuse(Status.Code code, String text) {
        if (over(code)) {
            HttpServerResponse response = request.response()
                    .setStatusCode(JsonErrors.httpStatus(form, code))
                    .putHeader("Content-Type", JSON);
            if (code == Status.Code.UNAUTHENTICATED && !form.errorsSayError()) {
                response.putHeader("WWW-Authenticate", text);
            }
            end(response, JsonErrors.body(form, code, text));
        }
    }

    /** There is no such path, or not with this method. */
    void refuseRoute(int status, String text, Status.Code code) {
        if (!form.routingErrorsAreText()) {
            refuse(code, text);
        } else if (over(code)) {
            end(
                    request.response()
                            .setStatusCode(status)
                            .putHeader("Content-Type", TEXT)
                            .putHeader("X-Content-Type-Options", "nosniff"),
                    JsonBytes.ascii(text + "\n"));
        }
    }

    private HttpServerResponse succeeding() {
        return request.response()
                .putHeader("Content-Type", JSON)
                // grpc-gateway passes on what the gRPC server's answer is headed with.
                .putHeader("Grpc-Metadata-Content-Type", "application/grpc");
    }

    private static void end(HttpServerResponse response, byte[] body) {
        response.end(Buffer.buffer(body));
    }

    private static void send(HttpServerResponse response, AnswerBody body) {
        ByteBuf piece = Unpooled.buffer();
        if (body.appendTo(piece, PIECE_BYTES)) {
            response.setChunked(true);
            response.write(BufferInternal.buffer(piece));
            pump(response, body);
        } else {
            response.end(BufferInternal.buffer(piece));
        }
    }

    /** Goes on as the client takes it. */
    private static void pump(HttpServerResponse response, AnswerBody body) {
        while (!response.closed()) {
            if (response.writeQueueFull()) {
                response.drainHandler(drained -> pump(response, body));
                return;
            }
            ByteBuf piece = Unpooled.buffer(PIECE_BYTES + (PIECE_BYTES >> 2));
            if (!body.appendTo(piece, PIECE_BYTES)) {
                response.end(BufferInternal.buffer(piece));
                return;
            }
            response.write(BufferInternal.buffer(piece));
        }
    }

    /** Ends the exchange, once: true for who came first. */
    private boolean over(Status.Code code) {
        if (over) {
            return false;
        }
        over = true;
        listener.answered(method, code.name(), Duration.ofNanos(System.nanoTime() - beginNanos));
        return true;
    }
}
