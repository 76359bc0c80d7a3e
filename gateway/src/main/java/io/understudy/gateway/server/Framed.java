package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;

/** A message behind gRPC's prefix of it. */
final class Framed implements AnswerBody {

    static final int PREFIX_BYTES = 5;

    private final AnswerBody message;
    private final int length;
    private boolean begun;

    Framed(AnswerBody message, int length) {
        this.message = message;
        this.length = length;
    }

    @Override
    public long length() {
        return PREFIX_BYTES + (long) length;
    }

    @Override
    public Runnable keep(Runnable end) {
        return message.keep(end);
    }

    @Override
    public boolean appendTo(ByteBuf out, int wanted) {
        if (!begun) {
            begun = true;
            out.writeByte(0).writeInt(length);
            return message.appendTo(out, wanted - PREFIX_BYTES);
        }
        return message.appendTo(out, wanted);
    }
}
