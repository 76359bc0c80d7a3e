package io.understudy.gateway.caller;

import io.understudy.gateway.api.ApiException;
import org.jspecify.annotations.Nullable;

/** Who takes a stream of answers, on the session's event loop. */
public interface StreamTaker {

    /** Whether to go on now; if not, {@link StreamedCall#takesMore} tells when. What is given regardless is kept. */
    boolean takes();

    /** The next answer, as an encoded message. */
    void take(byte[] answer);

    /** Nothing follows. {@code why} is null if nothing went wrong. */
    void end(@Nullable ApiException why);
}
