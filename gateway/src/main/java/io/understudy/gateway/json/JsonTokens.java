package io.understudy.gateway.json;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tokens of one valid JSON value. Checks only what JSON's grammar leaves open: UTF-8 and escapes in strings.
 */
final class JsonTokens {

    private static final BigInteger MOST_UNSIGNED = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final Pattern NUMBER =
            Pattern.compile("(-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![-+._a-zA-Z0-9])");

    private final byte[] in;
    private final int begin;
    private final int end;
    private int at;

    JsonTokens(byte[] body, FirstValue value) {
        this.in = body;
        this.begin = value.begin();
        this.end = value.end();
        this.at = begin;
    }

    /** Returns the position of the next token. */
    int position() {
        return at;
    }

    /** Returns the next token's first byte. */
    byte peek() {
        return in[at];
    }

    /** Enters an object or an array. */
    void open() {
        at++;
    }

    /** Moves to the next member or element; returns false after moving past the end. */
    boolean more(char close) {
        skipSpace();
        if (in[at] == ',') {
            at++;
            skipSpace();
        }
        if (in[at] != close) {
            return true;
        }
        at++;
        return false;
    }

    /** Reads a member's name; its value is next. */
    String name() throws MalformedJson {
        String name = text();
        skipSpace();
        at++;
        skipSpace();
        return name;
    }

    /** Skips a value. */
    void skip() throws MalformedJson {
        int depth = 0;
        do {
            switch (in[at]) {
                case '{', '[' -> {
                    depth++;
                    at++;
                }
                case '}', ']' -> {
                    depth--;
                    at++;
                }
                case ',', ':' -> at++;
                case '"' -> {
                    String unused = text();
                }
                default -> at = endOfWord(at);
            }
            if (depth > 0) {
                skipSpace();
            }
        } while (depth > 0);
    }

    boolean bool() throws UnfitValue {
        if (in[at] != 't' && in[at] != 'f') {
            throw new UnfitValue();
        }
        boolean value = in[at] == 't';
        at = endOfWord(at);
        return value;
    }

    String string() throws MalformedJson, UnfitValue {
        if (in[at] != '"') {
            throw new UnfitValue();
        }
        return text();
    }

    /** Reads an integer, as a number in any notation or a string with one. */
    long integer(long least, long most) throws MalformedJson, UnfitValue {
        String number = number();
        try {
            long value = number.length() < 19 && isPlain(number)
                    ? Long.parseLong(number)
                    : WholeNumber.of(number).longValueExact();
            if (value < least || value > most) {
                throw new UnfitValue();
            }
            return value;
        } catch (ArithmeticException e) {
            throw new UnfitValue();
        }
    }

    long unsigned() throws MalformedJson, UnfitValue {
        BigInteger value = WholeNumber.of(number());
        if (value.signum() < 0 || value.compareTo(MOST_UNSIGNED) > 0) {
            throw new UnfitValue();
        }
        return value.longValue();
    }

    private String number() throws MalformedJson, UnfitValue {
        if (in[at] == '"') {
            String text = text();
            Matcher number = NUMBER.matcher(text);
            // What follows the number is ignored, except for space at the end.
            if (!number.lookingAt() || !text.stripTrailing().equals(text)) {
                throw new UnfitValue();
            }
            return number.group(1);
        }
        if (!startsNumber(in[at])) {
            throw new UnfitValue();
        }
        int from = at;
        at = endOfWord(at);
        return new String(in, from, at - from, StandardCharsets.ISO_8859_1);
    }

    private static boolean startsNumber(byte c) {
        return c == '-' || (c >= '0' && c <= '9');
    }

    private static boolean isPlain(String number) {
        return number.chars().allMatch(c -> c == '-' || (c >= '0' && c <= '9'));
    }

    private String text() throws MalformedJson {
        int from = at;
        int i = from + 1;
        while (in[i] != '"' && in[i] != '\\' && in[i] >= 0) {
            i++;
        }
        if (in[i] == '"') {
            at = i + 1;
            return new String(in, from + 1, i - from - 1, StandardCharsets.ISO_8859_1);
        }
        return escapedText(from);
    }

    private String escapedText(int token) throws MalformedJson {
        StringBuilder text = new StringBuilder();
        int i = token + 1;
        while (in[i] != '"') {
            if (in[i] == '\\') {
                i = escape(token, i, text);
            } else {
                int run = i;
                while (in[i] != '"' && in[i] != '\\') {
                    i++;
                }
                try {
                    text.append(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(in, run, i - run)));
                } catch (CharacterCodingException e) {
                    throw syntax(token, "invalid UTF-8 in string");
                }
            }
        }
        at = i + 1;
        return text.toString();
    }

    private int escape(int token, int backslash, StringBuilder text) throws MalformedJson {
        char c = (char) in[backslash + 1];
        if (c != 'u') {
            int known = "bfnrt".indexOf(c);
            text.append(known < 0 ? c : "\b\f\n\r\t".charAt(known));
            return backslash + 2;
        }
        char one = hex(backslash + 2);
        int next = backslash + 6;
        if (!Character.isSurrogate(one)) {
            text.append(one);
            return next;
        }
        if (end - next < 6) {
            throw MalformedJson.proto("unexpected EOF");
        }
        boolean pair = in[next] == '\\' && in[next + 1] == 'u' && Character.isSurrogatePair(one, hex(next + 2));
        if (!pair) {
            throw syntax(token, "invalid escape code " + quoted(next, next + 6) + " in string");
        }
        text.append(one).append(hex(next + 2));
        return next + 6;
    }

    /** Reads four hex digits; other characters count as 0. */
    private char hex(int from) {
        int value = 0;
        for (int i = from; i < from + 4; i++) {
            value = value << 4 | Math.max(0, Character.digit(in[i], 16));
        }
        return (char) value;
    }

    /** Returns the error for a next token that is not allowed here. */
    MalformedJson unexpected() throws MalformedJson {
        return syntax(at, "unexpected token " + raw(at));
    }

    /** Returns the error for the token at {@code position}. */
    MalformedJson wrong(int position, String what) {
        return MalformedJson.proto("(" + place(position) + "): " + what);
    }

    private MalformedJson syntax(int position, String what) {
        return MalformedJson.proto("syntax error (" + place(position) + "): " + what);
    }

    /** Returns the source text of the token at {@code position}. For an object or an array: its beginning. */
    String raw(int position) throws MalformedJson {
        int last = position + 1;
        if (in[position] == '"') {
            at = position;
            String unused = text();
            last = at;
        } else if (in[position] != '{' && in[position] != '[') {
            last = endOfWord(position);
        }
        return new String(in, position, last - position, StandardCharsets.UTF_8);
    }

    /** Counted from the value's beginning, in characters. */
    private String place(int position) {
        int line = 1;
        int column = 1;
        for (int i = begin; i < position; i++) {
            if (in[i] == '\n') {
                line++;
                column = 1;
            } else if ((in[i] & 0xc0) != 0x80) {
                column++;
            }
        }
        return "line " + line + ":" + column;
    }

    private int endOfWord(int from) {
        int i = from;
        while (i < end && (Character.isLetterOrDigit(in[i]) || in[i] == '-' || in[i] == '+' || in[i] == '.')) {
            i++;
        }
        return i;
    }

    private void skipSpace() {
        while (in[at] == ' ' || in[at] == '\t' || in[at] == '\r' || in[at] == '\n') {
            at++;
        }
    }

    /** The text quoted as by Go's {@code %q}. */
    private String quoted(int from, int to) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = from; i < to; i++) {
            int c = in[i] & 0xff;
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c >= ' ' && c < 0x7f) {
                quoted.append((char) c);
            } else {
                quoted.append(String.format(Locale.ROOT, "\\x%02x", c));
            }
        }
        return quoted.append('"').toString();
    }
}
