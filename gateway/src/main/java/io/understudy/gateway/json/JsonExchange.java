package io.understudy.gateway.json;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.grpc.Status;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.server.Field;
import io.understudy.gateway.server.RequestListener;
import io.understudy.gateway.server.WebRequest;
import io.understudy.gateway.server.WebStream;
import io.understudy.gateway.trace.CallTrace;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request from its headers to its answer, on its event loop. Later answers are dropped. */
final class JsonExchange {

    private static final Logger LOG = LoggerFactory.getLogger(JsonExchange.class);
    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";

    /** grpc-gateway forwards the headers of the gRPC answer. */
    private static final Field GRPC = new Field("grpc-metadata-content-type", "application/grpc");

    /** In seconds. etcd has no such rejections. */
    private static final List<Field> RETRY = List.of(new Field("retry-after", "1"));

    private static final List<Field> ANSWER = List.of(GRPC);
    private static final AsciiString REVISION = AsciiString.cached("grpc-metadata-" + Answer.REVISION_KEY);
    private static final AsciiString STALENESS = AsciiString.cached("grpc-metadata-" + Answer.STALENESS_KEY);

    private final WebRequest request;
    private final JsonForm form;
    private final String method;
    private final RequestListener.Outcomes outcomes;
    private final CallTrace trace;
    private Runnable gone = () -> {};
    private @Nullable ScheduledFuture<?> deadline;
    private boolean over;

    JsonExchange(WebRequest request, JsonForm form, String method, RequestListener.Outcomes outcomes, CallTrace trace) {
        this.request = request;
        this.form = form;
        this.method = method;
        this.outcomes = outcomes;
        this.trace = trace;
        request.whenGone(() -> {
            boolean unused = over(Status.Code.CANCELLED);
            gone.run();
        });
    }

    /** Returns the dialect of the request and its response. */
    JsonForm form() {
        return form;
    }

    /** Fails the request at a deadline, by {@link System#nanoTime}, as if the client disconnected then. */
    void endAt(long nanos) {
        if (nanos != Caller.NO_DEADLINE) {
            deadline = request.eventLoop()
                    .schedule(
                            () -> {
                                refuse(Status.Code.DEADLINE_EXCEEDED, "context deadline exceeded");
                                gone.run();
                            },
                            Math.max(0, nanos - System.nanoTime()),
                            TimeUnit.NANOSECONDS);
        }
    }

    /** Runs {@code task} if the client disconnects before the answer. One task. */
    void whenGone(Runnable task) {
        gone = task;
    }

    /** As {@link WebRequest#holdUntil}. */
    void holdUntil(Future<?> work) {
        request.holdUntil(work);
    }

    void answer(Answer<? extends OpResult> answer) {
        if (!over) {
            trace.answered(answer);
        }
        if (over(Status.Code.OK)) {
            List<Field> fields = new ArrayList<>(3);
            fields.add(GRPC);
            fields.add(new Field(REVISION, Long.toString(answer.revision())));
            Duration staleness = answer.staleness();
            if (staleness != null) {
                fields.add(new Field(STALENESS, Long.toString(staleness.toMillis())));
            }
            request.answer(200, JSON, fields, new ResultJson(answer.result(), form));
        }
    }

    /** Answers with a stream of messages; null if it was answered already. */
    @Nullable JsonStream stream(Descriptor type) {
        WebStream out = over ? null : request.stream();
        if (out == null) {
            return null;
        }
        JsonStream stream = new JsonStream(out, form, type, code -> {
            boolean unused = over(code);
        });
        whenGone(stream::gone);
        return stream;
    }

    void answer(Message message) {
        if (over(Status.Code.OK)) {
            JsonBytes out = new JsonBytes(form);
            MessageJson.write(out, message);
            request.answer(200, JSON, ANSWER, request.held(out.toByteArray()));
        }
    }

    void fail(Throwable why) {
        if (why instanceof ApiException refusal) {
            refuse(refusal);
        } else {
            LOG.atError().addKeyValue("method", method).setCause(why).log("request failed");
            refuse(Status.Code.INTERNAL, "understudy: " + why);
        }
    }

    void refuse(ApiException why) {
        refuse(why.code(), why.text(), why.passes() ? RETRY : List.of());
    }

    void refuse(Status.Code code, String text) {
        refuse(code, text, List.of());
    }

    private void refuse(Status.Code code, String text, List<Field> others) {
        if (over(code)) {
            List<Field> fields = code == Status.Code.UNAUTHENTICATED && !form.errorsRepeatText()
                    ? List.of(new Field("www-authenticate", text))
                    : others;
            request.answer(
                    JsonErrors.httpStatus(form, code), JSON, fields, request.held(JsonErrors.body(form, code, text)));
        }
    }

    /** Rejects an unknown path or HTTP method. */
    void refuseRoute(int status, String text, Status.Code code) {
        if (!form.routingErrorsAreText()) {
            refuse(code, text);
        } else if (over(code)) {
            request.answer(
                    status, TEXT, List.of(new Field("x-content-type-options", "nosniff")), AnswerBody.of(text + "\n"));
        }
    }

    /** Whether it was answered, or the client has disconnected. */
    boolean over() {
        return over;
    }

    /** Ends the exchange; returns true for the first call. */
    private boolean over(Status.Code code) {
        if (over) {
            return false;
        }
        over = true;
        if (deadline != null) {
            deadline.cancel(false);
        }
        outcomes.answered(code.name(), System.nanoTime() - request.arrivedNanos());
        trace.end(code.value());
        return true;
    }
}
