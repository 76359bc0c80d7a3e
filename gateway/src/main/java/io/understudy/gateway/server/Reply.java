package io.understudy.gateway.server;

import com.google.protobuf.MessageLite;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.read.Answer;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a call of one request, with its metadata.
 *
 * @param body one message; without a known length, any number of messages with gRPC's prefix
 * @param fields of the response's metadata
 * @param read its result; null if it is not of a read
 */
public record Reply(
        AnswerBody body, List<Field> fields, @Nullable Answer<?> read) {

    /** The revision of a read's answer. */
    public static final AsciiString REVISION = AsciiString.cached(Answer.REVISION_KEY);

    /** The staleness of a read's answer, in milliseconds; absent when unknown. */
    public static final AsciiString STALENESS = AsciiString.cached(Answer.STALENESS_KEY);

    public Reply(AnswerBody body, List<Field> fields) {
        this(body, fields, null);
    }

    public static Reply of(MessageLite message) {
        return new Reply(AnswerBody.of(message), List.of());
    }

    /** {@code body} is the wire form of {@code answer}'s result. */
    public static Reply of(Answer<?> answer, AnswerBody body) {
        return new Reply(body, fields(answer), answer);
    }

    /** Adds a field to the response's metadata. */
    public Reply with(Field field) {
        return new Reply(body, Stream.concat(fields.stream(), Stream.of(field)).toList(), read);
    }

    /** Returns the metadata of a read's answer, for any protocol. */
    public static List<Field> fields(Answer<?> answer) {
        Field revision = new Field(REVISION, Long.toString(answer.revision()));
        return answer.staleness() == null
                ? List.of(revision)
                : List.of(
                        revision,
                        new Field(STALENESS, Long.toString(answer.staleness().toMillis())));
    }
}
