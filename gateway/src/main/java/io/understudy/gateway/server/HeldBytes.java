package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.server.Loads.LoadMetrics.Refusal;
import java.util.Map;

/**
 * The memory of one connection's requests: either headers of open calls, or messages and bodies, also of unread answers.
 * Part of the total of all connections. A client sends a field once and refers to it by one byte from then on, so its cost
 * is counted here.
 */
final class HeldBytes {

    /** Approximate overhead of a field. */
    private static final int FIELD_BYTES = 64;

    /** Headers of a connection that are not part of the total, so that health pages are served when it is exhausted. */
    private static final int FREE_HEADER_BYTES = 8 << 10;

    private final int maxBytes;
    private final int freeBytes;
    private final LoopLoad load;
    private int bytes;

    private HeldBytes(int maxBytes, int freeBytes, LoopLoad load) {
        this.maxBytes = (int) Math.min(maxBytes, load.maxBytesPerConnection());
        this.freeBytes = freeBytes;
        this.load = load;
    }

    /** The memory of headers. */
    static HeldBytes ofHeaders(int maxBytes, LoopLoad load) {
        return new HeldBytes(maxBytes, FREE_HEADER_BYTES, load);
    }

    /** The memory of messages and bodies. */
    static HeldBytes ofMessages(int maxBytes, LoopLoad load) {
        return new HeldBytes(maxBytes, 0, load);
    }

    /** Returns the approximate memory of headers. */
    static int sizeOf(Iterable<Map.Entry<CharSequence, CharSequence>> headers) {
        int size = 0;
        for (Map.Entry<CharSequence, CharSequence> field : headers) {
            size += FIELD_BYTES + field.getKey().length() + field.getValue().length();
        }
        return size;
    }

    /** Returns the approximate memory of a message of HTTP/1: a head or a part of a body. */
    static int sizeOfMessage(Object message) {
        return message instanceof HttpRequest head
                ? FIELD_BYTES + head.uri().length() + sizeOf(head.headers()::iteratorCharSequence)
                : FIELD_BYTES + ((HttpContent) message).content().readableBytes();
    }

    /**
     * Adds held bytes.
     *
     * @throws ApiException if the limit is exceeded; nothing is added
     */
    void take(int more) throws ApiException {
        // One request is always admitted, however small the limit is.
        if (bytes > 0 && bytes + more > maxBytes) {
            load.refused(Refusal.BYTES);
            throw new ApiException(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "understudy: calls of this connection exceed " + maxBytes + " bytes (limits.maxHeldBytes)");
        }
        int counted = counted(bytes + more) - counted(bytes);
        if (counted > 0 && !load.hold(counted)) {
            load.refused(Refusal.TOTAL_BYTES);
            throw ApiException.tooManyRequests(": requests exceed the memory for requests");
        }
        bytes += more;
    }

    void giveBack(int less) {
        load.release(counted(bytes) - counted(bytes - less));
        bytes -= less;
    }

    /** Returns a body of these bytes, which count while they wait for a client that reads slowly. */
    AnswerBody body(byte[] answer) {
        AnswerBody plain = AnswerBody.of(answer);
        return new AnswerBody() {
            @Override
            public long length() {
                return plain.length();
            }

            @Override
            public Runnable keep(Runnable end) {
                try {
                    take(answer.length);
                } catch (ApiException e) {
                    end.run();
                    return () -> {};
                }
                return () -> giveBack(answer.length);
            }

            @Override
            public boolean appendTo(ByteBuf out, int wanted) {
                return plain.appendTo(out, wanted);
            }
        };
    }

    private int counted(int held) {
        return Math.max(0, held - freeBytes);
    }
}
