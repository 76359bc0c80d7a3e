package io.understudy.gateway.caller;

import io.understudy.gateway.api.ApiException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A call with a stream of answers. Receives flow control of its {@link StreamTaker} on the session's event loop. */
public interface StreamedCall {

    /** The receiver is ready for more. */
    void takesMore();

    /** The receiver has disconnected. */
    void gone();

    /** Receives a stream of answers, on the session's event loop. */
    interface StreamTaker {

        /** Whether it is ready for more; otherwise {@link StreamedCall#takesMore} follows and messages are buffered. */
        boolean takes();

        /** Receives the next answer as an encoded message. */
        void take(byte[] answer);

        /**
         * As {@link #take(byte[])}, for a message that is too large to be encoded as a whole.
         *
         * @param begin of the message, encoded
         * @param rest the elements of its last field, a repeated one, each encoded in parts as a message with that field
         * @param keep as {@link io.understudy.gateway.api.AnswerBody#keep}
         */
        void take(byte[] begin, Iterator<List<byte[]>> rest, UnaryOperator<Runnable> keep);

        /** Ends the stream; {@code why} is null on success. */
        void end(@Nullable ApiException why);
    }

    /** Encoded requests of a client that streams them, in their order. On the session's event loop. */
    final class StreamedRequests {

        /** Approximate overhead of a queued request, which may be empty. */
        public static final int OVERHEAD_BYTES = 64;

        private final Queue<byte[]> arrived = new ArrayDeque<>();
        private final Runnable taken;
        private Runnable changed = () -> {};
        private boolean complete;
        private int bytes;

        /** @param taken run when all requests that had arrived were taken */
        public StreamedRequests(Runnable taken) {
            this.taken = taken;
        }

        /** Adds requests; {@code last} if none follow. */
        public void add(List<byte[]> requests, boolean last) {
            arrived.addAll(requests);
            requests.forEach(request -> bytes += request.length + OVERHEAD_BYTES);
            complete |= last;
            changed.run();
        }

        /** Runs {@code task} on each change. */
        public void onChange(Runnable task) {
            changed = task;
        }

        /** Takes the next request; null if none has arrived. */
        public byte @Nullable [] poll() {
            byte[] next = arrived.poll();
            if (next != null) {
                bytes -= next.length + OVERHEAD_BYTES;
                if (arrived.isEmpty()) {
                    taken.run();
                }
            }
            return next;
        }

        /** Returns the approximate memory of those waiting. */
        public int bytes() {
            return bytes;
        }

        /** Whether none is waiting. */
        public boolean isEmpty() {
            return arrived.isEmpty();
        }

        /** Whether all requests were taken and none follow. */
        public boolean isOver() {
            return complete && arrived.isEmpty();
        }
    }
}
