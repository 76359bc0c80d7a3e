package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;

/** Percent-encoding (RFC 3986), of any bytes. */
final class Percent {

    private Percent() {}

    /**
     * Decodes a part of a request's target.
     *
     * @param plusIsSpace as in queries of forms
     */
    static ByteString decode(String text, boolean plusIsSpace) throws ProblemDetails {
        // The server decodes each byte of a target as one character.
        byte[] in = text.getBytes(StandardCharsets.ISO_8859_1);
        ByteString.Output out = ByteString.newOutput(in.length);
        for (int i = 0; i < in.length; i++) {
            if (in[i] == '%') {
                int high = i + 2 < in.length ? Character.digit(in[i + 1], 16) : -1;
                int low = i + 2 < in.length ? Character.digit(in[i + 2], 16) : -1;
                if (high < 0 || low < 0) {
                    throw ProblemDetails.badRequest(
                            "'" + text + "' is invalid: % must be followed by two hexadecimal digits");
                }
                out.write(high << 4 | low);
                i += 2;
            } else {
                out.write(plusIsSpace && in[i] == '+' ? ' ' : in[i]);
            }
        }
        return out.toByteString();
    }
}
