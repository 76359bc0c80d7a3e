package io.understudy.gateway.caller;

import io.understudy.gateway.api.ApiException;
import org.jspecify.annotations.Nullable;

/** Receives a stream of answers, on the session's event loop. */
public interface StreamTaker {

    /** Whether it is ready for more; otherwise {@link StreamedCall#takesMore} follows and messages are buffered. */
    boolean takes();

    /** Receives the next answer as an encoded message. */
    void take(byte[] answer);

    /** Ends the stream; {@code why} is null on success. */
    void end(@Nullable ApiException why);
}
