package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a connection's header blocks, and repeated ones only once. A client with its headers in the dynamic table
 * sends the same few bytes each time, which mean the same until the table changes (RFC 7541, 2.3). So requests share
 * headers, which must not be changed. Netty only sets {@code content-length} to the same number.
 *
 * <p>Only the last block is cached, from its second time on: most idle connections never repeat one.
 */
final class RepeatedHeaders implements Http2HeadersDecoder {

    /** A longer one is decoded each time. */
    private static final int MAX_BLOCK_BYTES = 512;

    /** Maximum number of fields in a cached block: a field may be one byte. */
    private static final int MAX_FIELDS = 64;

    /** The least first byte of a field in the table. */
    private static final int INDEXED = 0x80;
    /** The least first byte, below {@link #INDEXED}, of a change of the table. */
    private static final int CHANGES_TABLE = 0x20;
    /** The bits of a literal's first byte with its name's index in the table. None if the name follows. */
    private static final int LITERAL_NAME = 0x0f;

    private static final int TEXT_LENGTH = 0x7f;

    private final DefaultHttp2HeadersDecoder decoder;
    private int lastHash;
    private ByteBuf block = Unpooled.EMPTY_BUFFER;
    private @Nullable Http2Headers meaning;

    RepeatedHeaders(DefaultHttp2HeadersDecoder decoder) {
        this.decoder = decoder;
    }

    @Override
    public Http2Headers decodeHeaders(int streamId, ByteBuf encoded) throws Http2Exception {
        Http2Headers known = meaning;
        if (known != null && ByteBufUtil.equals(block, encoded)) {
            encoded.skipBytes(encoded.readableBytes());
            return known;
        }
        if (encoded.readableBytes() > MAX_BLOCK_BYTES || !leavesTable(encoded)) {
            forget();
            return decoder.decodeHeaders(streamId, encoded);
        }
        int begin = encoded.readerIndex();
        int end = encoded.writerIndex();
        int hash = ByteBufUtil.hashCode(encoded);
        Http2Headers headers = decoder.decodeHeaders(streamId, encoded);
        if (hash == lastHash && headers.size() <= MAX_FIELDS) {
            block = Unpooled.wrappedBuffer(ByteBufUtil.getBytes(encoded, begin, end - begin));
            meaning = headers;
        }
        lastHash = hash;
        return headers;
    }

    private void forget() {
        lastHash = 0;
        block = Unpooled.EMPTY_BUFFER;
        meaning = null;
    }

    /** Whether a well-formed block does not change the table (RFC 7541, section 6). */
    private static boolean leavesTable(ByteBuf encoded) {
        int at = encoded.readerIndex();
        int end = encoded.writerIndex();
        while (at >= 0 && at < end) {
            int first = encoded.getUnsignedByte(at);
            if (first >= INDEXED) {
                at = afterNumber(encoded, at, INDEXED - 1);
            } else if (first < CHANGES_TABLE) {
                boolean nameFollows = (first & LITERAL_NAME) == 0;
                at = afterNumber(encoded, at, LITERAL_NAME);
                at = nameFollows ? afterText(encoded, at) : at;
                at = afterText(encoded, at);
            } else {
                return false;
            }
        }
        return at == end;
    }

    /** Returns the end of a number that begins in the low bits {@code prefix}. Negative if it is incomplete. */
    private static int afterNumber(ByteBuf encoded, int at, int prefix) {
        int end = encoded.writerIndex();
        int next = at;
        boolean continues = (encoded.getUnsignedByte(next++) & prefix) == prefix;
        while (continues && next < end) {
            continues = encoded.getByte(next++) < 0;
        }
        return continues ? -1 : next;
    }

    /** End of a length-prefixed text; negative if it is incomplete or too long. */
    private static int afterText(ByteBuf encoded, int at) {
        int end = encoded.writerIndex();
        if (at < 0 || at >= end) {
            return -1;
        }
        int length = encoded.getUnsignedByte(at) & TEXT_LENGTH;
        int begin = at + 1;
        if (length == TEXT_LENGTH) {
            int more = begin < end ? encoded.getByte(begin++) : -1;
            if (more < 0) {
                return -1;
            }
            length += more;
        }
        return length <= end - begin ? begin + length : -1;
    }

    /** Netty's: the server's settings precede all headers and do not change the table. */
    @Override
    public Configuration configuration() {
        return decoder.configuration();
    }
}
