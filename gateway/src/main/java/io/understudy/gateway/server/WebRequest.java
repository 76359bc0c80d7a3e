package io.understudy.gateway.server;

import io.netty.util.concurrent.EventExecutor;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.trace.Carrier;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A request of plain HTTP, all of which has arrived, over HTTP/1.1 or HTTP/2. To be used on its event loop only, and to be
 * answered once; whatever comes afterwards, or after the client has gone, is dropped.
 */
public interface WebRequest extends Carrier {

    /** Such as {@code GET}. */
    String method();

    /** Without the query, decoded. */
    String path();

    /** Parameters behind the path, decoded; in the order sent. */
    Map<String, List<String>> query();

    /** All of it; nothing of a body that is read in parts. */
    byte[] body();

    /** Passes the body to {@code reader}: in parts if it may stay open, else all of it. */
    void readBody(BodyReader reader);

    /** Lets the client send as many bytes more of a body that is read in parts. */
    void consumed(int bytes);

    Session session();

    /** Who asks, by {@code Grpc-Metadata-Token}, by {@code Authorization} or by the connection. */
    Principal principal();

    /**
     * When the client gives up, by {@link System#nanoTime}, as it says in {@code Grpc-Timeout}; {@link
     * io.understudy.gateway.caller.Caller#NO_DEADLINE} if it says nothing.
     *
     * @throws NumberFormatException what it says is no time
     */
    long deadlineNanos();

    /** The event loop of the connection. */
    Executor loop();

    /** The same one, as Netty has it. */
    EventExecutor eventLoop();

    /** When it arrived, by {@link System#nanoTime}. */
    long arrivedNanos();

    /** Runs {@code task} if the client goes before it is answered. */
    void whenGone(Runnable task);

    /**
     * Runs {@code task} once the client has taken the answer, or has gone; at once if that is so already. One task, which
     * may be run twice.
     */
    void whenOver(Runnable task);

    /** Answers. A large body that doesn't know its length is sent in chunks. */
    void answer(int status, String contentType, List<Field> fields, AnswerBody body);

    /** Answers with a stream; {@link #whenGone} tells until its end. Null if it was answered already. */
    @Nullable WebStream stream();

    default void answer(int status, String contentType, String body) {
        answer(status, contentType, List.of(), AnswerBody.of(body));
    }
}
