package io.understudy.gateway.caller;

import io.understudy.gateway.api.ApiException;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Receives a stream of answers, on the session's event loop. */
public interface StreamTaker {

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
