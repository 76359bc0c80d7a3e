package io.understudy.gateway.api;

import com.google.protobuf.MessageLite;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of a response, produced as the client reads them. A large response is never completely in memory. One
 * reader, one pass.
 */
public interface AnswerBody {

    /** The length is not known in advance. */
    long UNKNOWN = -1;

    /** Returns the total length, or {@link #UNKNOWN}. */
    default long length() {
        return UNKNOWN;
    }

    /**
     * Appends the next piece: at least {@code wanted} bytes unless fewer remain, and not many more.
     *
     * @return whether there is more
     */
    boolean appendTo(ByteBuf out, int wanted);

    /**
     * Counts what it keeps in memory, since its client reads slowly.
     *
     * @param end run on any thread if such bodies keep too much: the response is to be ended
     * @return ends the count
     */
    default Runnable keep(Runnable end) {
        return () -> {};
    }

    /** A small message in its protobuf encoding. */
    static AnswerBody of(MessageLite message) {
        return of(message.toByteArray());
    }

    /** A short text in UTF-8. */
    static AnswerBody of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** These bytes, which must not be modified. */
    static AnswerBody of(byte[] bytes) {
        return new AnswerBody() {
            @Override
            public long length() {
                return bytes.length;
            }

            @Override
            public boolean appendTo(ByteBuf out, int wanted) {
                out.writeBytes(bytes);
                return false;
            }
        };
    }
}
