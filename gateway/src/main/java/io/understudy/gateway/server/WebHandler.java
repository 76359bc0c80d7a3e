package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.ApiException;
import java.util.List;

/** Answers requests of plain HTTP. */
@FunctionalInterface
public interface WebHandler {

    /**
     * Answers, now or later. Runs on the event loop of the request's connection and must not block it. What it throws
     * is answered with status 500.
     */
    void handle(WebRequest request);

    /** Fields of every answer. By default, pages of any origin may call, as in etcd ({@code embed/serve.go}). */
    default List<Field> fields() {
        return WebRequest.CORS;
    }

    /** Calls over plain HTTP, beyond pages. */
    interface WebCalls extends WebHandler {

        /** Whether this serves requests to the path. Thread-safe. */
        boolean serve(String path);

        /** Whether it decodes paths itself, and reports broken escapes. */
        default boolean rawPaths() {
            return false;
        }

        /** Whether the answer is a stream of messages. */
        boolean lasts(WebRequest request);

        /** Whether requests to this path are streams, to be read as they arrive. */
        boolean streamsRequests(String path);

        /** Rejects a request; its body may be missing. */
        void refuse(WebRequest request, ApiException why);

        /** Rejects a request with a body of more than {@code most} bytes, which is missing. */
        void refuseTooLarge(WebRequest request, long most);
    }

    /** Receives the body of a request that may stay open. On its event loop. */
    interface BodyReader {

        /**
         * Reads the next part; {@link WebRequest#consumed} returns it to the client's window, {@link WebRequest#keep} counts
         * what is held of it.
         *
         * @param data not to be kept
         * @param end whether it is the last
         */
        void read(ByteBuf data, boolean end);

        /** Ends the call: the connection's requests keep too much. */
        void refuse(ApiException why);
    }
}
