package io.understudy.gateway.api;

import com.google.protobuf.MessageLite;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * An answer's bytes, given piece by piece as the client takes them, so that a large one is never whole in memory. One
 * reader, one pass.
 */
public interface AnswerBody {

    /** Of a body that doesn't know its length beforehand. */
    long UNKNOWN = -1;

    /** Bytes in all, or {@link #UNKNOWN}. */
    long length();

    /**
     * Appends the next piece: at least {@code wanted} bytes unless there are no more, and not much above it.
     *
     * @return whether there is more
     */
    boolean appendTo(ByteBuf out, int wanted);

    /** A small message in its protobuf encoding. */
    static AnswerBody of(MessageLite message) {
        return of(message.toByteArray());
    }

    /** A short text in UTF-8. */
    static AnswerBody of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** These bytes, which are not to be changed. */
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
