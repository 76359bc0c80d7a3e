package io.understudy.gateway.server;

import io.understudy.gateway.api.AnswerBody;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The body that an exchange has yet to write, counted while it waits for the client. On the connection's loop. */
final class WaitingBody {

    private final Executor loop;
    private @Nullable AnswerBody body;
    private @Nullable Runnable release;

    WaitingBody(Executor loop) {
        this.loop = loop;
    }

    /** Counts {@code next} instead of the last one; {@code end} runs on the loop if it is to be ended. */
    @SuppressWarnings("ReferenceEquality") // It has no other identity.
    void become(@Nullable AnswerBody next, Runnable end) {
        if (body != next) {
            if (release != null) {
                release.run();
            }
            body = next;
            release = next == null
                    ? null
                    : next.keep(() -> loop.execute(() -> {
                        if (body == next) {
                            end.run();
                        }
                    }));
        }
    }
}
