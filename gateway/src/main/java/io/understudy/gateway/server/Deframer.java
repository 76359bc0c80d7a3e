package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads gRPC's length-prefixed messages from parts of a body. */
final class Deframer {

    private static final int HEADER_BYTES = 5;

    /** Initial buffer of a message, which grows with its data: the claimed length isn't trusted. */
    private static final int FIRST_BYTES = 16 << 10;

    private final long maxBytes;
    private final @Nullable CharSequence encoding;
    private final byte[] header = new byte[HEADER_BYTES];
    private int headerBytes;
    private byte @Nullable [] message;
    private int messageBytes;
    private int claimedBytes;

    /** {@code encoding} is the value of the request's {@code grpc-encoding}. */
    Deframer(long maxBytes, @Nullable CharSequence encoding) {
        this.maxBytes = maxBytes;
        this.encoding = encoding;
    }

    /**
     * Reads bytes up to the end of a message, or all.
     *
     * @return the message if it is complete, else null; then no bytes are left
     * @throws ApiException for an invalid or too large message, which ends the stream
     */
    byte @Nullable [] next(ByteBuf data) throws ApiException {
        if (message == null) {
            int taken = Math.min(HEADER_BYTES - headerBytes, data.readableBytes());
            data.readBytes(header, headerBytes, taken);
            headerBytes += taken;
            if (headerBytes < HEADER_BYTES) {
                return null;
            }
            claimedBytes = length();
            message = new byte[Math.min(claimedBytes, Math.max(FIRST_BYTES, data.readableBytes()))];
        }
        int taken = Math.min(claimedBytes - messageBytes, data.readableBytes());
        if (messageBytes + taken > message.length) {
            int doubled = (int) Math.min(claimedBytes, 2L * message.length);
            message = Arrays.copyOf(message, Math.max(doubled, messageBytes + taken));
        }
        data.readBytes(message, messageBytes, taken);
        messageBytes += taken;
        if (messageBytes < claimedBytes) {
            return null;
        }
        byte[] complete = message;
        message = null;
        messageBytes = 0;
        headerBytes = 0;
        return complete;
    }

    /** Whether a message has begun and not ended. */
    boolean inMessage() {
        return headerBytes > 0;
    }

    /** Bytes held of an incomplete message. */
    int held() {
        return message == null ? 0 : message.length;
    }

    private int length() throws ApiException {
        if (header[0] == 1) {
            throw compressed();
        }
        if (header[0] != 0) {
            throw new ApiException(
                    Status.Code.INTERNAL, "grpc: received unexpected payload format " + (header[0] & 0xff));
        }
        long length =
                (header[1] & 0xffL) << 24 | (header[2] & 0xff) << 16 | (header[3] & 0xff) << 8 | (header[4] & 0xff);
        if (length > maxBytes) {
            throw new ApiException(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "grpc: received message larger than max (" + length + " vs. " + maxBytes + ")");
        }
        return (int) length;
    }

    /** Compression is not supported, so that the message limit bounds memory, as in etcd's server. */
    private ApiException compressed() {
        return encoding == null || encoding.isEmpty() || "identity".contentEquals(encoding)
                ? new ApiException(Status.Code.INTERNAL, "grpc: compressed flag set with identity or empty encoding")
                : new ApiException(
                        Status.Code.UNIMPLEMENTED,
                        "grpc: Decompressor is not installed for grpc-encoding \"" + encoding + "\"");
    }

    /** Writes a message with its prefix. */
    static ByteBuf framed(ByteBuf into, byte[] message) {
        return into.writeByte(0).writeInt(message.length).writeBytes(message);
    }

    /** A message behind gRPC's prefix of it. */
    static final class Framed implements AnswerBody {

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
}
