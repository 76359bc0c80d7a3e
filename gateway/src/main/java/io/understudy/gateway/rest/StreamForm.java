package io.understudy.gateway.rest;

import io.grpc.Status;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The format of a stream of commits. */
enum StreamForm {

    /** Server-sent events (HTML, section 9.2): a browser's {@code EventSource} reads them. */
    EVENTS("text/event-stream", "text/event-stream|text/\\*|\\*/\\*"),

    /** One line of JSON per commit. */
    LINES("application/json", "application/json|application/\\*");

    private final String contentType;
    /** A pattern of the accepted media ranges. */
    private final String admitted;

    StreamForm(String contentType, String admitted) {
        this.contentType = contentType;
        this.admitted = admitted;
    }

    String contentType() {
        return contentType;
    }

    /** Returns the form by the values of {@code Accept}. Events if both are accepted, or none is given. */
    static StreamForm of(List<String> accept) throws ProblemDetails {
        List<String> types = accept.stream()
                .flatMap(value -> Arrays.stream(value.split(",")))
                .map(type -> type.replaceAll("\\s", "").toLowerCase(Locale.ROOT))
                .filter(type -> !type.matches(".*;q=0(\\.0*)?(;.*)?"))
                .map(type -> type.split(";", 2)[0])
                .toList();
        for (StreamForm form : values()) {
            if (accept.isEmpty() || types.stream().anyMatch(type -> type.matches(form.admitted))) {
                return form;
            }
        }
        throw new ProblemDetails(
                406,
                Status.Code.INVALID_ARGUMENT,
                "unsupported Accept header; allowed: " + EVENTS.contentType() + ", " + LINES.contentType());
    }
}
