package io.understudy.gateway.json;

import java.util.BitSet;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where the first JSON value of a body begins and ends. What follows it is ignored, as etcd does.
 *
 * <p>Errors are worded as by Go's {@code encoding/json}, which reads bodies in etcd (its {@code scanner.go}).
 *
 * @param end after its last byte
 */
record FirstValue(int begin, int end) {

    private static final int MAX_DEPTH = 10_000;
    private static final String BEGINNING_OF_VALUE = "looking for beginning of value";

    /**
     * Finds it, from a place in the body on. Null if all that follows there is blank.
     *
     * @throws MalformedJson for anything that isn't JSON up to the value's end
     */
    static @Nullable FirstValue in(byte[] body, int from) throws MalformedJson {
        return new Scan(body, from).firstValue();
    }

    private enum Expect {
        VALUE,
        VALUE_OR_END,
        NAME,
        NAME_OR_END,
        COLON,
        COMMA_OR_END
    }

    private static final class Scan {
        private final byte[] in;
        private int at;
        /** Whether an object, not an array, is open at a depth. */
        private final BitSet objects = new BitSet();

        private int depth;

        Scan(byte[] in, int from) {
            this.in = in;
            this.at = from;
        }

        @Nullable FirstValue firstValue() throws MalformedJson {
            skipSpace();
            if (at == in.length) {
                return null;
            }
            int begin = at;
            Expect expect = value();
            while (depth > 0) {
                skipSpace();
                expect = step(expect, next());
            }
            return new FirstValue(begin, at);
        }

        private Expect step(Expect expect, byte c) throws MalformedJson {
            return switch (expect) {
                case VALUE -> value();
                case VALUE_OR_END -> c == ']' ? close() : value();
                case NAME -> name(c);
                case NAME_OR_END -> c == '}' ? close() : name(c);
                case COLON -> {
                    take(c == ':', "after object key");
                    yield Expect.VALUE;
                }
                case COMMA_OR_END -> commaOrEnd(c);
            };
        }

        private Expect commaOrEnd(byte c) throws MalformedJson {
            boolean object = objects.get(depth);
            if (c == (object ? '}' : ']')) {
                return close();
            }
            take(c == ',', object ? "after object key:value pair" : "after array element");
            return object ? Expect.NAME : Expect.VALUE;
        }

        private Expect value() throws MalformedJson {
            byte c = next();
            switch (c) {
                case '{', '[' -> {
                    depth++;
                    take(depth <= MAX_DEPTH, "exceeded max depth");
                    objects.set(depth, c == '{');
                    return c == '{' ? Expect.NAME_OR_END : Expect.VALUE_OR_END;
                }
                case '"' -> string();
                case 't' -> literal("true");
                case 'f' -> literal("false");
                case 'n' -> literal("null");
                default -> {
                    take(c == '-' || isDigit(c), BEGINNING_OF_VALUE, 0);
                    number();
                }
            }
            return Expect.COMMA_OR_END;
        }

        private Expect name(byte c) throws MalformedJson {
            take(c == '"', "looking for beginning of object key string", 0);
            string();
            return Expect.COLON;
        }

        private Expect close() {
            at++;
            depth--;
            return Expect.COMMA_OR_END;
        }

        private void string() throws MalformedJson {
            at++;
            while (true) {
                byte c = next();
                take(c < 0 || c >= ' ', "in string literal");
                if (c == '"') {
                    return;
                }
                if (c == '\\') {
                    escape();
                }
            }
        }

        private void escape() throws MalformedJson {
            byte c = next();
            take("\"\\/bfnrtu".indexOf(c) >= 0, "in string escape code");
            for (int i = 0; c == 'u' && i < 4; i++) {
                take(Character.digit(next(), 16) >= 0, "in \\u hexadecimal character escape");
            }
        }

        private void number() throws MalformedJson {
            if (in[at] == '-') {
                at++;
                take(isDigit(next()), "in numeric literal", 0);
            }
            if (in[at] == '0') {
                at++;
            } else {
                digits();
            }
            if (at < in.length && in[at] == '.') {
                at++;
                take(isDigit(next()), "after decimal point in numeric literal", 0);
                digits();
            }
            if (at < in.length && (in[at] == 'e' || in[at] == 'E')) {
                at++;
                if (next() == '+' || next() == '-') {
                    at++;
                }
                take(isDigit(next()), "in exponent of numeric literal", 0);
                digits();
            }
        }

        private void digits() {
            while (at < in.length && isDigit(in[at])) {
                at++;
            }
        }

        private void literal(String word) throws MalformedJson {
            for (int i = 0; i < word.length(); i++) {
                take(next() == word.charAt(i), "in literal " + word + " (expecting '" + word.charAt(i) + "')");
            }
        }

        private void skipSpace() {
            while (at < in.length && (in[at] == ' ' || in[at] == '\t' || in[at] == '\r' || in[at] == '\n')) {
                at++;
            }
        }

        private byte next() throws MalformedJson {
            if (at >= in.length) {
                throw MalformedJson.syntax("unexpected EOF");
            }
            return in[at];
        }

        private void take(boolean fits, String context) throws MalformedJson {
            take(fits, context, 1);
        }

        private void take(boolean fits, String context, int advance) throws MalformedJson {
            if (!fits) {
                throw MalformedJson.syntax("invalid character " + quoted(in[at] & 0xff) + " " + context);
            }
            at += advance;
        }

        private static boolean isDigit(byte c) {
            return c >= '0' && c <= '9';
        }
    }

    /** A byte, taken for a character, as Go's {@code %q} has it. */
    private static String quoted(int c) {
        return switch (c) {
            case '\'' -> "'\\''";
            case '\\' -> "'\\\\'";
            case 7 -> "'\\a'";
            case '\b' -> "'\\b'";
            case '\f' -> "'\\f'";
            case '\n' -> "'\\n'";
            case '\r' -> "'\\r'";
            case '\t' -> "'\\t'";
            case 11 -> "'\\v'";
            default -> {
                if (c < ' ' || c == 0x7f) {
                    yield String.format(Locale.ROOT, "'\\x%02x'", c);
                }
                boolean shown = c < 0x7f || (c > 0xa0 && c != 0xad);
                yield shown ? "'" + (char) c + "'" : String.format(Locale.ROOT, "'\\u%04x'", c);
            }
        };
    }
}
