package io.understudy.gateway.json;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Bytes in a request. */
final class Base64Text {

    private Base64Text() {}

    /**
     * Decodes either alphabet, with padding or, when the length says that there is none, without; line breaks don't count.
     *
     * @throws UnfitValue if it isn't base64
     */
    static byte[] decode(String text) throws UnfitValue {
        boolean padded = text.length() % 4 == 0;
        boolean url = text.indexOf('-') >= 0 || text.indexOf('_') >= 0;
        String clean = text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0 ? text.replaceAll("[\r\n]", "") : text;
        if (padded ? clean.length() % 4 != 0 : clean.indexOf('=') >= 0) {
            throw new UnfitValue();
        }
        try {
            return (url ? Base64.getUrlDecoder() : Base64.getDecoder())
                    .decode(clean.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IllegalArgumentException e) {
            throw new UnfitValue();
        }
    }
}
