package io.understudy.gateway.json;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnsafeByteOperations;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;

/** A line of a {@link JsonStream}, converted as the client reads: a message that ends with a repeated field. */
final class LongLine implements AnswerBody {

    private final JsonBytes line = new JsonBytes(JsonForm.GRPC_GATEWAY_1);
    private final Descriptor type;
    private final byte[] begin;
    private final Iterator<List<byte[]>> rest;
    private final UnaryOperator<Runnable> keep;
    private boolean begun;
    private boolean inList;

    /**
     * @param begin of the message, encoded
     * @param rest elements of its last field, each encoded in parts as a message with that field
     * @param keep see {@link AnswerBody#keep}
     */
    LongLine(Descriptor type, byte[] begin, Iterator<List<byte[]>> rest, UnaryOperator<Runnable> keep) {
        this.type = type;
        this.begin = begin;
        this.rest = rest;
        this.keep = keep;
    }

    @Override
    public long length() {
        return UNKNOWN;
    }

    @Override
    public Runnable keep(Runnable end) {
        return keep.apply(end);
    }

    @Override
    public boolean appendTo(ByteBuf out, int wanted) {
        try {
            if (!begun) {
                begun = true;
                line.open('{').member(JsonStream.RESULT).open('{');
                MessageJson.members(line, DynamicMessage.parseFrom(type, begin));
            }
            while (rest.hasNext() && line.size() < wanted) {
                element(rest.next());
            }
        } catch (InvalidProtocolBufferException e) {
            throw new UncheckedIOException("cannot parse the response as " + type.getName(), e);
        }
        boolean more = rest.hasNext();
        if (!more) {
            if (inList) {
                line.close(']');
            }
            line.close('}').close('}');
        }
        line.moveTo(out);
        if (!more) {
            out.writeByte('\n');
        }
        return more;
    }

    private void element(List<byte[]> parts) throws InvalidProtocolBufferException {
        ByteString joined = ByteString.EMPTY;
        for (byte[] part : parts) {
            joined = joined.concat(UnsafeByteOperations.unsafeWrap(part));
        }
        for (var field : DynamicMessage.parseFrom(type, joined).getAllFields().entrySet()) {
            FieldDescriptor name = field.getKey();
            if (!inList) {
                inList = true;
                line.member(JsonBytes.name(name.getName())).open('[');
            }
            MessageJson.elements(line, name, (List<?>) field.getValue());
        }
    }
}
