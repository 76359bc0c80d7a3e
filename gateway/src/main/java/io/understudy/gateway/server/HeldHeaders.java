package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.handler.codec.http2.Http2Headers;
import io.understudy.gateway.api.ApiException;
import java.util.Map;

/**
 * The headers that are kept for one connection's requests while they go on. A client sends a field once and refers to it by
 * one byte from then on: what it costs here has to be counted here.
 */
final class HeldHeaders {

    /** Of one field beside its text, roughly. */
    private static final int FIELD_BYTES = 64;

    private final int maxBytes;
    private long bytes;

    HeldHeaders(int maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** What it takes to keep these. */
    static int sizeOf(Http2Headers headers) {
        int size = 0;
        for (Map.Entry<CharSequence, CharSequence> field : headers) {
            size += FIELD_BYTES + field.getKey().length() + field.getValue().length();
        }
        return size;
    }

    /**
     * Keeps as many bytes more.
     *
     * @throws ApiException that is too much; nothing is kept
     */
    void take(int more) throws ApiException {
        // One request may always be had, however small the limit is.
        if (bytes > 0 && bytes + more > maxBytes) {
            throw new ApiException(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "understudy: headers of calls under way on this connection take more than limits.maxHeldHeaderBytes, which is "
                            + maxBytes);
        }
        bytes += more;
    }

    void giveBack(int less) {
        bytes -= less;
    }
}
