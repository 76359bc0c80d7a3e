package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import io.understudy.gateway.caller.Caller.Freshness;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The parameters of a request: only known names, each at most once. */
final class Query {

    /** The parameters that select the freshness or the revision of a response. */
    static final Set<String> OF_READS = Set.of("consistency", "max_staleness", "min_revision", "revision");

    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s|m|)");

    private final Map<String, ByteString> given;

    private Query(Map<String, ByteString> given) {
        this.given = given;
    }

    /**
     * Reads it.
     *
     * @param text as it came, null for none
     */
    static Query parse(@Nullable String text, Set<String> allowed) throws ProblemDetails {
        Map<String, ByteString> given = new HashMap<>();
        if (text != null && !text.isEmpty()) {
            for (String pair : text.split("&", -1)) {
                int equals = pair.indexOf('=');
                String name = equals < 0 ? pair : pair.substring(0, equals);
                if (!allowed.contains(name)) {
                    throw ProblemDetails.badRequest("unknown parameter '" + name + "'; allowed: "
                            + String.join(", ", allowed.stream().sorted().toList()));
                }
                if (given.put(name, Percent.decode(equals < 0 ? "" : pair.substring(equals + 1), true)) != null) {
                    throw ProblemDetails.badRequest("'" + name + "' is specified more than once");
                }
            }
        }
        return new Query(given);
    }

    boolean has(String name) {
        return given.containsKey(name);
    }

    ByteString bytes(String name) {
        return given.getOrDefault(name, ByteString.EMPTY);
    }

    /** Returns a whole number; {@code otherwise} if the parameter is missing. */
    long number(String name, long otherwise, long least, long most) throws ProblemDetails {
        if (!has(name)) {
            return otherwise;
        }
        return number(name, bytes(name).toStringUtf8(), least, most);
    }

    /** Parses a whole number; {@code name} is for the error. */
    static long number(String name, String text, long least, long most) throws ProblemDetails {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Rejected below.
        }
        throw ProblemDetails.badRequest(
                "'" + name + "' is '" + text + "'; allowed: an integer from " + least + " to " + most);
    }

    /** Returns one of the allowed words; {@code otherwise} if the parameter is missing. */
    String word(String name, String otherwise, Set<String> allowed) throws ProblemDetails {
        String word = has(name) ? bytes(name).toStringUtf8() : otherwise;
        if (has(name) && !allowed.contains(word)) {
            throw ProblemDetails.badRequest("'" + name + "' is '" + word + "'; allowed: "
                    + String.join(", ", allowed.stream().sorted().toList()));
        }
        return word;
    }

    /** The requested revision; 0 for the current one. */
    long revision() throws ProblemDetails {
        return number("revision", 0, 1, Long.MAX_VALUE);
    }

    /** The consistency of a read. */
    record Manner(boolean serializable, Freshness freshness) {}

    /** The consistency and its bounds; linearizable by default as in etcd. */
    Manner manner() throws ProblemDetails {
        Duration staleness = has("max_staleness") ? duration("max_staleness") : null;
        long revision = number("min_revision", 0, 1, Long.MAX_VALUE);
        Freshness bounds = new Freshness(staleness, revision);
        String word = has("consistency")
                ? bytes("consistency").toStringUtf8()
                : staleness != null ? "bounded" : revision > 0 ? "at-least" : "linearizable";
        switch (word) {
            case "linearizable" -> {
                return new Manner(false, bounds);
            }
            case "serializable" ->
                refuse(
                        staleness != null || revision > 0,
                        "consistency=serializable does not allow max_staleness or min_revision");
            case "bounded" -> refuse(staleness == null, "consistency=bounded requires max_staleness");
            case "at-least" -> refuse(revision == 0, "consistency=at-least requires min_revision");
            default ->
                throw ProblemDetails.badRequest(
                        "'consistency' is '" + word + "'; allowed: serializable, bounded, at-least, linearizable");
        }
        return new Manner(true, bounds);
    }

    private static void refuse(boolean wrong, String why) throws ProblemDetails {
        if (wrong) {
            throw ProblemDetails.badRequest(why);
        }
    }

    private Duration duration(String name) throws ProblemDetails {
        String text = bytes(name).toStringUtf8();
        Matcher parts = DURATION.matcher(text);
        if (!parts.matches()) {
            throw ProblemDetails.badRequest(
                    "'" + name + "' is '" + text + "'; allowed: a duration such as 500ms, 5s or 1m, or milliseconds");
        }
        long amount = Long.parseLong(parts.group(1));
        return switch (parts.group(2)) {
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            default -> Duration.ofMillis(amount);
        };
    }

    /** Percent-encoding (RFC 3986), of any bytes. */
    static final class Percent {

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
}
