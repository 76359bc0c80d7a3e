package io.understudy.gateway.server;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A call with one request and one answer. */
final class UnaryCall<Q extends Message> implements RequestReader {

    private static final Logger LOG = LoggerFactory.getLogger(UnaryCall.class);

    private final Http2Exchange exchange;
    private final UnaryMethod<Q> method;
    private final Deframer deframer;
    private final GrpcCall call;
    private @Nullable Caller caller;
    private byte @Nullable [] request;

    private UnaryCall(Http2Exchange exchange, UnaryMethod<Q> method, long maxBytes, RequestListener.Outcomes outcomes) {
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
            LOG.atError().addKeyValue("method", method.fullName()).setCause(why).log("request failed");
            refuse(new ApiException(Status.Code.INTERNAL, "understudy: " + why));
        }
    }

    private void refuse(ApiException why) {
        call.fail(why.code(), why.text());
    }
}
