package io.understudy.gateway.json;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/** A writer of JSON in UTF-8. Callers open and close objects and arrays; commas are added. */
public final class JsonBytes {

    private static final Base64.Encoder BASE64 = Base64.getEncoder();
    private static final byte[] HEX = ascii("0123456789abcdef");
    private static final byte[] LEAST_LONG = ascii("-9223372036854775808");

    private final byte[] comma;
    private final boolean escapesHtml;
    private byte[] bytes = new byte[512];
    private int size;
    private boolean first = true;

    public JsonBytes(JsonForm form) {
        this.comma = ascii(form.comma());
        this.escapesHtml = form.escapesHtml();
    }

    /** Encodes a member's name with quotes and colon, for reuse. */
    public static byte[] name(String name) {
        return ascii("\"" + name + "\":");
    }

    public int size() {
        return size;
    }

    public byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    /** Moves the written bytes to {@code out}. */
    public void moveTo(ByteBuf out) {
        out.writeBytes(bytes, 0, size);
        size = 0;
    }

    /** Writes a comma, except before the first member or element. */
    public JsonBytes separate() {
        if (first) {
            first = false;
        } else {
            append(comma);
        }
        return this;
    }

    public JsonBytes open(char bracket) {
        append(bracket);
        first = true;
        return this;
    }

    public JsonBytes close(char bracket) {
        append(bracket);
        first = false;
        return this;
    }

    /** Writes a member's name, encoded by {@link #name}; its value follows. */
    public JsonBytes member(byte[] name) {
        return separate().append(name);
    }

    /** Writes a 64-bit integer, in quotes. */
    JsonBytes quotedLong(long number) {
        return append('"').decimal(number).append('"');
    }

    public JsonBytes decimal(long number) {
        if (number == Long.MIN_VALUE) {
            return append(LEAST_LONG);
        }
        reserve(20);
        long rest = number;
        if (number < 0) {
            bytes[size++] = '-';
            rest = -number;
        }
        int digits = 1;
        for (long limit = 10; digits < 19 && rest >= limit; limit *= 10) {
            digits++;
        }
        for (int at = size + digits - 1; at >= size; at--) {
            bytes[at] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        size += digits;
        return this;
    }

    public JsonBytes base64(byte[] source, int from, int length) {
        byte[] encoded = BASE64.encode(ByteBuffer.wrap(source, from, length)).array();
        reserve(encoded.length + 2);
        bytes[size++] = '"';
        System.arraycopy(encoded, 0, bytes, size, encoded.length);
        size += encoded.length;
        bytes[size++] = '"';
        return this;
    }

    public JsonBytes string(String text) {
        append('"');
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        for (byte b : utf8) {
            character(b);
        }
        return append('"');
    }

    /** Writes bytes as they are. */
    JsonBytes append(byte[] source) {
        reserve(source.length);
        System.arraycopy(source, 0, bytes, size, source.length);
        size += source.length;
        return this;
    }

    private void character(byte b) {
        switch (b) {
            case '"', '\\' -> append('\\').append((char) b);
            case '\b' -> append('\\').append('b');
            case '\f' -> append('\\').append('f');
            case '\n' -> append('\\').append('n');
            case '\r' -> append('\\').append('r');
            case '\t' -> append('\\').append('t');
            default -> {
                boolean html = escapesHtml && (b == '<' || b == '>' || b == '&');
                if ((b >= 0 && b < ' ') || html) {
                    append(ascii("\\u00")).append((char) HEX[b >> 4]).append((char) HEX[b & 15]);
                } else {
                    append((char) (b & 0xff));
                }
            }
        }
    }

    private JsonBytes append(char one) {
        reserve(1);
        bytes[size++] = (byte) one;
        return this;
    }

    private void reserve(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(size + more, bytes.length * 2));
        }
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
