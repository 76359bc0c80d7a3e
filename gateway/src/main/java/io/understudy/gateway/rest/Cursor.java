package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;

/**
 * The position of the next page of a listing. It holds the revision, so that all pages are of one state.
 *
 * @param revision of every page
 * @param count of all keys listed
 * @param prefix that they begin with
 * @param from the next page's first key, or where it would be; begins with {@code prefix}
 */
record Cursor(long revision, long count, ByteString prefix, ByteString from) {

    private static final byte FORMAT = 2;

    /** Encodes it as an opaque text. */
    String encode() {
        ByteString.Output bytes = ByteString.newOutput();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            out.writeRawByte(FORMAT);
            out.writeUInt64NoTag(revision);
            out.writeUInt64NoTag(count);
            out.writeBytesNoTag(prefix);
            // Without the prefix, which may be long.
            out.writeBytesNoTag(from.substring(prefix.size()));
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("encoding failed", e);
        }
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(bytes.toByteString().toByteArray());
    }

    static Cursor decode(String text) throws ProblemDetails {
        try {
            CodedInputStream in =
                    CodedInputStream.newInstance(Base64.getUrlDecoder().decode(text));
            if (in.readRawByte() == FORMAT) {
                long revision = in.readUInt64();
                long count = in.readUInt64();
                ByteString prefix = in.readBytes();
                ByteString from = prefix.concat(in.readBytes());
                if (in.isAtEnd() && revision > 0) {
                    return new Cursor(revision, count, prefix, from);
                }
            }
        } catch (IllegalArgumentException | IOException e) {
            // Rejected below.
        }
        throw ProblemDetails.badRequest("'cursor' is invalid; use the cursor of the previous page");
    }
}
