package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Which keys a mirror's topics contain.
 *
 * <p>As text, {@code +} and a prefix that is included, or {@code -} and one that isn't, separated by commas; bytes that
 * are not printable ASCII, commas and percent signs are {@code %} and two hexadecimal digits. Every key is {@code +}.
 *
 * @param include prefixes, disjoint and in key order; empty for all keys
 * @param exclude prefixes inside of what is included
 */
public record TopicScope(List<ByteString> include, List<ByteString> exclude) {

    public TopicScope {
        include = include.isEmpty() ? List.of(ByteString.EMPTY) : List.copyOf(include);
        exclude = List.copyOf(exclude);
    }

    /** Every key. */
    public static TopicScope all() {
        return new TopicScope(List.of(), List.of());
    }

    /** Whether the topics contain each key of the range that exists. */
    boolean covers(KeyRange range) {
        if (exclude.stream().map(KeyRange::prefix).anyMatch(range::intersects)) {
            return false;
        }
        ByteString covered = range.from();
        for (ByteString prefix : include) {
            KeyRange part = KeyRange.prefix(prefix);
            if (part.contains(covered)) {
                ByteString end = part.to();
                if (end == null || part.covers(new KeyRange(covered, range.to()))) {
                    return true;
                }
                covered = end;
            }
        }
        return false;
    }

    static TopicScope parse(String text) {
        List<ByteString> include = new ArrayList<>();
        List<ByteString> exclude = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            if (part.startsWith("+")) {
                include.add(prefix(part));
            } else if (part.startsWith("-")) {
                exclude.add(prefix(part));
            } else {
                throw new IllegalArgumentException("invalid scope: \"" + text + "\"");
            }
        }
        return new TopicScope(include, exclude);
    }

    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(",");
        include.forEach(prefix -> text.add(shown('+', prefix)));
        exclude.forEach(prefix -> text.add(shown('-', prefix)));
        return text.toString();
    }

    private static String shown(char sign, ByteString prefix) {
        StringBuilder text = new StringBuilder().append(sign);
        for (byte each : prefix) {
            if (each > ' ' && each < 0x7f && each != ',' && each != '%') {
                text.append((char) each);
            } else {
                text.append(String.format(Locale.ROOT, "%%%02x", each));
            }
        }
        return text.toString();
    }

    private static ByteString prefix(String part) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] text = part.getBytes(StandardCharsets.US_ASCII);
        for (int i = 1; i < text.length; i++) {
            if (text[i] == '%') {
                bytes.write(Integer.parseInt(part, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(text[i]);
            }
        }
        return ByteString.copyFrom(bytes.toByteArray());
    }

    /** Description for messages. */
    static String shown(KeyRange range) {
        @Nullable ByteString to = range.to();
        if (range.isAll()) {
            return "all keys";
        }
        return "keys from " + shown(' ', range.from()).strip()
                + (to == null ? " on" : " to " + shown(' ', to).strip());
    }
}
