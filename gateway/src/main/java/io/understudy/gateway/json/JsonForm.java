package io.understudy.gateway.json;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How etcd's answers look as JSON. That is not the same in every build of etcd, since it depends on the version of the
 * grpc-gateway library that was linked: official 3.4 and 3.5 have its first generation, 3.6 and some distributions'
 * 3.5 its second. Names, encodings and what is left out are the same in all.
 */
public enum JsonForm {

    /** Errors have {@code error} beside {@code code} and {@code message}; routing errors are plain text. */
    GRPC_GATEWAY_1(",", " "),

    /** Errors are a {@code google.rpc.Status}, also those of routing. */
    GRPC_GATEWAY_2(",", " "),

    /**
     * The second generation in half of all builds: protobuf for Go derives from the program's hash whether there is a
     * space after each comma, and a non-breaking one in its error texts.
     */
    GRPC_GATEWAY_2_SPACED(", ", "\u00a0");

    private static final Pattern SECOND_GENERATION = Pattern.compile("\\{\"code\":\\d+,( ?)\"message\":");

    private final String comma;
    private final String errorSpace;

    JsonForm(String comma, String errorSpace) {
        this.comma = comma;
        this.errorSpace = errorSpace;
    }

    /** The form of a member that refused a request with this body; nothing if no member of etcd's writes such a one. */
    static Optional<JsonForm> ofRefusal(String body) {
        if (body.startsWith("{\"error\":")) {
            return Optional.of(GRPC_GATEWAY_1);
        }
        Matcher second = SECOND_GENERATION.matcher(body);
        return second.lookingAt()
                ? Optional.of(second.group(1).isEmpty() ? GRPC_GATEWAY_2 : GRPC_GATEWAY_2_SPACED)
                : Optional.empty();
    }

    /** Between two members of an object, or two elements of an array. */
    String comma() {
        return comma;
    }

    /** After {@code proto:} in the text of an error. */
    String errorSpace() {
        return errorSpace;
    }

    /** Whether {@code <}, {@code >} and {@code &} are escaped in strings, as HTML would need it. */
    boolean escapesHtml() {
        return this == GRPC_GATEWAY_1;
    }

    boolean routingErrorsAreText() {
        return this == GRPC_GATEWAY_1;
    }

    /** Whether errors repeat their text as {@code error}. */
    boolean errorsRepeatText() {
        return this == GRPC_GATEWAY_1;
    }

    /** Of a request that its client cancelled. */
    int cancelledStatus() {
        return this == GRPC_GATEWAY_1 ? 408 : 499;
    }
}
