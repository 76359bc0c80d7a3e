package io.understudy.gateway.server;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.EventExecutor;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.understudy.gateway.server.Deframer.Framed;
import io.understudy.gateway.server.Exchange.RequestReader;
import io.understudy.gateway.server.GrpcHeaders.GrpcMetadata;
import io.understudy.gateway.server.GrpcMethod.CallMethod;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call with any number of messages in both directions. Unrequested messages are withheld from the client's window.
 *
 * <p>Invariant S3b: while a client does not read the responses of a stream, its requests are not read either.
 */
public final class MessageCall extends ServerCall<byte[], byte[]> implements RequestReader {

    /** Length of the prefix of each message. */
    public static final int PREFIX_BYTES = Framed.PREFIX_BYTES;

    private static final Logger LOG = LoggerFactory.getLogger(MessageCall.class);

    /** A message that has arrived, and the bytes that it withholds from the client's window. */
    private static final class Arrived {
        private final byte[] message;
        private final int bytes;

        Arrived(byte[] message, int bytes) {
            this.message = message;
            this.bytes = bytes;
        }
    }

    private final Http2Exchange exchange;
    private final CallMethod method;
    private final Deframer deframer;
    private final GrpcCall call;
    private final Queue<Arrived> arrived = new ArrayDeque<>();
    private ServerCall.Listener<byte[]> listener = new ServerCall.Listener<>() {};
    private int wanted;
    /** Bytes of the incomplete message. */
    private int held;
    /** Bytes of complete messages that are held: those of a unary call until its end. */
    private int complete;
    /** Those of them that the listener has. */
    private int delivered;

    private boolean clientDone;
    private boolean halfCloseDelivered;
    private boolean cancelled;
    private boolean delivering;
    private boolean awaitsRoom;

    private MessageCall(Http2Exchange exchange, CallMethod method, long maxBytes, RequestListener.Outcomes outcomes) {
        this.exchange = exchange;
        this.method = method;
        this.deframer = new Deframer(maxBytes, exchange.request().header(GrpcHeaders.ENCODING));
        this.call = new GrpcCall(exchange, outcomes, this::cancel);
    }

    /** Begins a call when its headers have arrived. */
    static RequestReader begin(
            Http2Exchange exchange, CallMethod method, long maxBytes, RequestListener.Outcomes outcomes) {
        MessageCall messages = new MessageCall(exchange, method, maxBytes, outcomes);
        try {
            Caller caller = messages.call.begin(messages.lastsOpen());
            if (method.keepsMetadata()) {
                exchange.holdHeaders(HeldBytes.sizeOf(exchange.requestHeaders()));
            }
            Metadata metadata = GrpcMetadata.of(exchange.requestHeaders());
            messages.call.trace().passOn(metadata);
            messages.listener = method.starter()
                    .start(messages, metadata, caller, exchange.connection().loop());
            messages.deliver();
        } catch (ApiException e) {
            messages.call.fail(e.code(), e.text());
        } catch (RuntimeException e) {
            messages.broken(e);
        }
        return messages;
    }

    @Override
    public int read(ByteBuf data, boolean end) {
        if (call.over()) {
            return data.readableBytes();
        }
        try {
            while (data.isReadable()) {
                int before = data.readableBytes();
                byte[] message;
                try {
                    message = deframer.next(data);
                } finally {
                    held += before - data.readableBytes();
                }
                if (message != null) {
                    arrived.add(new Arrived(message, held));
                    complete += message.length + StreamedRequests.OVERHEAD_BYTES;
                    held = 0;
                }
            }
            exchange.hold(deframer.held() + complete);
            if (end) {
                if (deframer.inMessage()) {
                    throw new ApiException(Status.Code.INTERNAL, "grpc: the stream ended within a message");
                }
                clientDone = true;
            }
        } catch (ApiException e) {
            call.fail(e.code(), e.text());
            cancel();
            return data.readableBytes();
        }
        deliver();
        return 0;
    }

    /** Delivers the messages that were requested. */
    private void deliver() {
        if (delivering) {
            return;
        }
        delivering = true;
        try {
            while (wanted > 0 && !arrived.isEmpty() && !call.over()) {
                wanted--;
                Arrived next = arrived.remove();
                exchange.consumed(next.bytes);
                delivered += next.message.length + StreamedRequests.OVERHEAD_BYTES;
                listener.onMessage(next.message);
            }
            if (arrived.isEmpty()) {
                releaseHeld();
            }
            if (clientDone && arrived.isEmpty() && !halfCloseDelivered && !call.over()) {
                halfCloseDelivered = true;
                listener.onHalfClose();
            }
        } catch (RuntimeException e) {
            broken(e);
        } finally {
            delivering = false;
        }
    }

    /** Returns bytes of an incomplete message to the window, which may be smaller than it. */
    private void releaseHeld() {
        if (held > 0) {
            exchange.consumed(held);
            held = 0;
        }
    }

    private void broken(Throwable why) {
        LOG.atError().addKeyValue("method", method.fullName()).setCause(why).log("call failed");
        call.fail(Status.Code.INTERNAL, "understudy: " + why);
        cancel();
    }

    @Override
    public boolean lastsOpen() {
        return method.descriptor().getType() != MethodDescriptor.MethodType.UNARY;
    }

    @Override
    public void closed() {
        boolean early = !call.over();
        call.closed();
        if (early) {
            cancel();
        }
    }

    private void cancel() {
        if (!cancelled) {
            cancelled = true;
            // Other calls of the connection need its window.
            arrived.forEach(message -> exchange.consumed(message.bytes));
            arrived.clear();
            releaseHeld();
            listener.onCancel();
        }
    }

    @Override
    public void request(int messages) {
        wanted += messages;
        if (delivered > 0 && lastsOpen()) {
            // The listener is done with the last one.
            exchange.release(delivered);
            complete -= delivered;
            delivered = 0;
        }
        if (!arrived.isEmpty()) {
            deliver();
        }
    }

    @Override
    public void sendHeaders(Metadata headers) {
        if (!call.over()) {
            Http2Headers head = new DefaultHttp2Headers(false);
            GrpcHeaders.begin(head);
            GrpcMetadata.addTo(head, headers);
            call.head(head);
        }
    }

    @Override
    public void sendMessage(byte[] message) {
        if (call.over()) {
            return;
        }
        if (!call.headed()) {
            call.head(List.of());
        }
        exchange.body(Deframer.framed(exchange.allocator().directBuffer(message.length + 5), message), false);
        if (!exchange.writable() && !awaitsRoom) {
            awaitsRoom = true;
            exchange.whenWritable(this::room);
        }
    }

    /**
     * Sends and releases messages, or parts of one, with their prefixes ({@link #prefix}). Pushed data is held without
     * a time limit until the client reads: check {@link #pushable} first.
     */
    public void push(ByteBuf framed) {
        if (call.over()) {
            framed.release();
            return;
        }
        if (!call.headed()) {
            call.head(List.of());
        }
        exchange.push(framed);
    }

    /** As {@link #push(ByteBuf)}, for framed messages that are encoded as the client reads. */
    public void push(AnswerBody framed) {
        if (call.over()) {
            return;
        }
        if (!call.headed()) {
            call.head(List.of());
        }
        exchange.push(framed);
    }

    /** Whether less than {@code bytes} of pushed data wait for the client. Otherwise {@code onReady} follows. */
    public boolean pushable(int bytes) {
        if (call.over()) {
            return false;
        }
        if (exchange.pushable(bytes)) {
            return true;
        }
        if (!awaitsRoom) {
            awaitsRoom = true;
            exchange.whenPushable(bytes, this::room);
        }
        return false;
    }

    /** Begins a message of that length in {@code out}. */
    public static void prefix(ByteBuf out, int length) {
        out.writeByte(0).writeInt(length);
    }

    /** Returns the allocator of buffers for {@link #push}. */
    public ByteBufAllocator allocator() {
        return exchange.allocator();
    }

    /** The event loop of the client's connection. */
    public EventExecutor eventLoop() {
        return exchange.connection().eventLoop();
    }

    private void room() {
        awaitsRoom = false;
        try {
            if (!call.over()) {
                listener.onReady();
            }
        } catch (RuntimeException e) {
            broken(e);
        }
    }

    @Override
    public boolean isReady() {
        return !call.over() && exchange.writable();
    }

    /** Counts its messages as held until {@code work} ends, which has them even if the client has gone. */
    public void holdUntil(Future<?> work) {
        exchange.holdUntil(work);
    }

    /** Sends headers and one message, as the client reads, and closes the call. */
    public void answer(Reply reply) {
        call.answer(reply, this::broken);
    }

    @Override
    public void close(Status status, Metadata trailers) {
        Http2Headers fields = new DefaultHttp2Headers(false);
        GrpcMetadata.addTo(fields, trailers);
        boolean first = !call.over();
        call.end(status.getCode(), status.getDescription(), fields);
        if (first) {
            listener.onComplete();
        }
    }

    @Override
    public boolean isCancelled() {
        return cancelled;
    }

    @Override
    public MethodDescriptor<byte[], byte[]> getMethodDescriptor() {
        return method.descriptor();
    }
}
