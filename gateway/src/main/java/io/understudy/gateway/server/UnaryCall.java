package io.understudy.gateway.server;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.vertx.core.buffer.Buffer;
import io.vertx.grpc.common.GrpcMessage;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.MessageSizeOverflowException;
import io.vertx.grpc.common.WireFormat;
import io.vertx.grpc.server.GrpcServerRequest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One call from its headers to its answer, on its event loop. Answered once; whatever comes afterwards is dropped. */
final class UnaryCall {

    private static final Logger LOG = LoggerFactory.getLogger(UnaryCall.class);

    private final String method;
    private final GrpcServerRequest<Buffer, Buffer> request;
    private final Session session;
    private final RequestListener listener;
    private final long beginNanos = System.nanoTime();
    private boolean asked;
    private boolean over;

    UnaryCall(String method, GrpcServerRequest<Buffer, Buffer> request, Session session, RequestListener listener) {
        this.method = method;
        this.request = request;
        this.session = session;
        this.listener = listener;
    }

    <Q extends Message, A extends Message> void answerWith(UnaryMethod<Q, A> unary) {
        var deadline = request.deadline();
        if (deadline != null) {
            // The server has answered by itself when it fires.
            deadline.onSuccess(fired -> over(Status.Code.DEADLINE_EXCEEDED));
        }
        request.errorHandler(error -> over(Status.Code.CANCELLED));
        request.invalidMessageHandler(invalid -> refuse(
                invalid instanceof MessageSizeOverflowException tooLarge
                        ? new ApiException(
                                Status.Code.RESOURCE_EXHAUSTED,
                                "grpc: received message larger than max (" + tooLarge.messageSize() + " bytes)")
                        : new ApiException(Status.Code.INTERNAL, "grpc: a malformed message frame")));
        request.messageHandler(message -> answer(unary, message));
        request.endHandler(end -> {
            if (!asked) {
                refuse(new ApiException(Status.Code.INTERNAL, "grpc: a unary call without a message"));
            }
        });
    }

    /** Answers with an error, unless the call is over. */
    void refuse(ApiException why) {
        if (over(why.code())) {
            request.response()
                    .status(GrpcStatus.valueOf(why.code().value()))
                    .statusMessage(why.text())
                    .end();
        }
    }

    private <Q extends Message, A extends Message> void answer(UnaryMethod<Q, A> unary, GrpcMessage message) {
        if (over || asked) {
            return;
        }
        asked = true;
        try {
            unary.answer()
                    .answer(caller(), parse(unary, message))
                    .onSuccess(answer -> {
                        Buffer encoded = Buffer.buffer(answer.toByteArray());
                        if (over(Status.Code.OK)) {
                            request.response().end(encoded);
                        }
                    })
                    .onFailure(this::failed);
        } catch (ApiException | RuntimeException e) {
            failed(e);
        }
    }

    private void failed(Throwable why) {
        if (why instanceof ApiException refusal) {
            refuse(refusal);
        } else {
            LOG.error("request failed method={}", method, why);
            refuse(new ApiException(Status.Code.INTERNAL, "understudy: " + why));
        }
    }

    private Caller caller() throws ApiException {
        return new Caller(
                Principal.ANONYMOUS,
                session,
                Freshness.ofMetadata(
                        request.headers().get(Freshness.MAX_STALENESS_KEY),
                        request.headers().get(Freshness.MIN_REVISION_KEY)),
                request.timeout() > 0
                        ? beginNanos + TimeUnit.MILLISECONDS.toNanos(request.timeout())
                        : Caller.NO_DEADLINE);
    }

    private static <Q extends Message, A extends Message> Q parse(UnaryMethod<Q, A> unary, GrpcMessage message)
            throws ApiException {
        // Nothing is inflated, so that the limit of a message's size is one of memory too. etcd's server does the same.
        if (!message.encoding().equals("identity")) {
            throw new ApiException(
                    Status.Code.UNIMPLEMENTED,
                    "grpc: Decompressor is not installed for grpc-encoding \"" + message.encoding() + "\"");
        }
        if (message.format() != WireFormat.PROTOBUF) {
            throw new ApiException(Status.Code.UNIMPLEMENTED, "grpc: messages are protobuf here");
        }
        try {
            return unary.parser().parseFrom(message.payload().getBytes());
        } catch (InvalidProtocolBufferException e) {
            throw new ApiException(Status.Code.INTERNAL, "grpc: error unmarshalling request: " + e.getMessage());
        }
    }

    /** Ends the call, once: true for who came first. */
    private boolean over(Status.Code code) {
        if (over) {
            return false;
        }
        over = true;
        listener.answered(method, code.name(), Duration.ofNanos(System.nanoTime() - beginNanos));
        return true;
    }
}
