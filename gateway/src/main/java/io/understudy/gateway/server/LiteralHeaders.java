package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.EmptyHttp2Headers;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;

/**
 * Header blocks without the dynamic table (RFC 7541, 6.2.2 and 6.2.3). They are copied, not encoded, and may be mixed
 * with those of Netty's encoder. Constant parts are encoded once.
 */
final class LiteralHeaders {

    private static final int MAX_PREFIX_BYTES = 5;

    private static final byte[] HEAD = encoded(GrpcHeaders.head(List.of()));
    private static final byte[] OK = encoded(GrpcHeaders.ok());

    /** Size of the trailers of status OK. */
    static final int OK_BYTES = OK.length;

    private static final Map<AsciiString, byte[]> NAMES =
            Map.of(Reply.REVISION, name(Reply.REVISION), Reply.STALENESS, name(Reply.STALENESS));

    private LiteralHeaders() {}

    /** Returns the maximum size of {@link #head}. */
    static int maxHeadBytes(List<Field> fields) {
        int bytes = HEAD.length;
        for (int i = 0; i < fields.size(); i++) {
            Field field = fields.get(i);
            bytes += 1 + field.name().length() + field.value().length() + 2 * MAX_PREFIX_BYTES;
        }
        return bytes;
    }

    /** Writes the head of an answer. */
    static void head(ByteBuf out, List<Field> fields) {
        out.writeBytes(HEAD);
        for (int i = 0; i < fields.size(); i++) {
            Field field = fields.get(i);
            byte[] name = NAMES.get(field.name());
            out.writeBytes(name == null ? name(field.name()) : name);
            text(out, field.value());
        }
    }

    static void ok(ByteBuf out) {
        out.writeBytes(OK);
    }

    private static void text(ByteBuf out, CharSequence text) {
        integer(out, text.length());
        for (int i = 0; i < text.length(); i++) {
            out.writeByte(text.charAt(i));
        }
    }

    /** RFC 7541, 5.1, with a prefix of seven bits. */
    private static void integer(ByteBuf out, int value) {
        int most = (1 << 7) - 1;
        if (value < most) {
            out.writeByte(value);
            return;
        }
        out.writeByte(most);
        int rest = value - most;
        while (rest >= 1 << 7) {
            out.writeByte((rest & most) | (1 << 7));
            rest >>>= 7;
        }
        out.writeByte(rest);
    }

    /** Encodes a header up to its value. */
    private static byte[] name(AsciiString name) {
        byte[] header = encoded(new DefaultHttp2Headers(false).set(name, AsciiString.EMPTY_STRING));
        byte[] without = new byte[header.length - 1];
        System.arraycopy(header, 0, without, 0, without.length);
        return without;
    }

    private static byte[] encoded(Http2Headers headers) {
        DefaultHttp2HeadersEncoder encoder =
                new DefaultHttp2HeadersEncoder((name, value) -> GrpcHeaders.isSensitive(name));
        ByteBuf block = Unpooled.buffer();
        try {
            encoder.configuration().maxHeaderTableSize(0);
            // The first block carries the table size.
            encoder.encodeHeaders(1, EmptyHttp2Headers.INSTANCE, block);
            block.clear();
            encoder.encodeHeaders(1, headers, block);
        } catch (Http2Exception e) {
            throw new IllegalStateException("cannot encode headers: " + headers, e);
        }
        byte[] bytes = new byte[block.readableBytes()];
        block.readBytes(bytes);
        return bytes;
    }
}
