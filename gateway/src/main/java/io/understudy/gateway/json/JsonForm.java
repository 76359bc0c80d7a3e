package io.understudy.gateway.json;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The JSON dialect of an etcd build, by its version of the grpc-gateway library. Official 3.4 and 3.5 have the first
 * generation, 3.6 and some distributions' 3.5 the second. In responses, names, encodings and omitted fields are equal.
 */
public enum JsonForm {

    /** Errors have {@code error} beside {@code code} and {@code message}; routing errors are plain text. */
    GRPC_GATEWAY_1(","),

    /** Errors are a {@code google.rpc.Status}, also those of routing. */
    GRPC_GATEWAY_2(","),

    /**
     * The second generation in half of all builds. Protobuf for Go derives from the program's hash whether there is a
     * space after each comma.
     */
    GRPC_GATEWAY_2_SPACED(", ");

    private static final Pattern SECOND_GENERATION = Pattern.compile("\\{\"code\":\\d+,( ?)\"message\":");

    private final String comma;

    JsonForm(String comma) {
        this.comma = comma;
    }

    /** Returns the dialect of an error body; empty if it is not one of etcd. */
    static Optional<JsonForm> ofRefusal(String body) {
        if (body.startsWith("{\"error\":")) {
            return Optional.of(GRPC_GATEWAY_1);
        }
        Matcher second = SECOND_GENERATION.matcher(body);
        return second.lookingAt()
                ? Optional.of(second.group(1).isEmpty() ? GRPC_GATEWAY_2 : GRPC_GATEWAY_2_SPACED)
                : Optional.empty();
    }

    /** Returns the separator of members and elements. */
    String comma() {
        return comma;
    }

    /** Whether {@code <}, {@code >} and {@code &} are escaped in strings, as HTML would need it. */
    boolean escapesHtml() {
        return this == GRPC_GATEWAY_1;
    }

    /** Whether requests are parsed by {@code jsonpb} of golang/protobuf, not by {@code protojson}. */
    boolean parsesByJsonpb() {
        return this == GRPC_GATEWAY_1;
    }

    boolean routingErrorsAreText() {
        return this == GRPC_GATEWAY_1;
    }

    /** Whether errors repeat their text as {@code error}. */
    boolean errorsRepeatText() {
        return this == GRPC_GATEWAY_1;
    }

    /** Returns the status of a cancelled request. */
    int cancelledStatus() {
        return this == GRPC_GATEWAY_1 ? 408 : 499;
    }
}
