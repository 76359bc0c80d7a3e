package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.handler.codec.http2.Http2Headers;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.server.Loads.LoadMetrics.Refusal;
import java.util.Map;

/**
 * The memory of one connection's requests: either headers of open calls, or messages and bodies. A client sends a field
 * once and refers to it by one byte from then on, so its cost is counted here.
 */
final class HeldBytes {

    /** Approximate overhead of a field. */
    private static final int FIELD_BYTES = 64;

    private final int maxBytes;
    private final LoopLoad load;
    private final boolean ofTotal;
    private long bytes;

    private HeldBytes(int maxBytes, LoopLoad load, boolean ofTotal) {
        this.maxBytes = maxBytes;
        this.load = load;
        this.ofTotal = ofTotal;
    }

    /** The memory of headers. */
    static HeldBytes ofHeaders(int maxBytes, LoopLoad load) {
        return new HeldBytes(maxBytes, load, false);
    }

    /** The memory of messages and bodies, which counts towards the total of all connections. */
    static HeldBytes ofMessages(int maxBytes, LoopLoad load) {
        return new HeldBytes((int) Math.min(maxBytes, load.maxBytesPerConnection()), load, true);
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
        if (ofTotal && !load.hold(more)) {
            load.refused(Refusal.TOTAL_BYTES);
            throw ApiException.tooManyRequests(": requests exceed the memory for requests");
        }
        bytes += more;
    }

    void giveBack(int less) {
        bytes -= less;
        if (ofTotal) {
            load.release(less);
        }
    }
}
