package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.handler.codec.http2.Http2Headers;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.server.LoadMetrics.Refusal;
import java.util.Map;

/**
 * The memory of one connection's requests: headers of open calls, and incomplete messages. A client sends a field once
 * and refers to it by one byte from then on, so its cost is counted here.
 */
final class HeldBytes {

    /** Approximate overhead of a field. */
    private static final int FIELD_BYTES = 64;

    private final int maxBytes;
    private final LoopLoad load;
    private long bytes;

    HeldBytes(int maxBytes, LoopLoad load) {
        this.maxBytes = maxBytes;
        this.load = load;
    }

    /** Returns the approximate memory of headers. */
    static int sizeOf(Http2Headers headers) {
        int size = 0;
        for (Map.Entry<CharSequence, CharSequence> field : headers) {
            size += FIELD_BYTES + field.getKey().length() + field.getValue().length();
        }
        return size;
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
        bytes += more;
    }

    void giveBack(int less) {
        bytes -= less;
    }
}
