package io.understudy.etcd;

import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.understudy.tls.TlsContext;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Describes failures in one line, for the operator. Why no connection could be made is found in the causes: gRPC's own
 * text for it is "io exception", and some lines on the inside of Netty.
 */
final class FailureText {

    private static final String ALERT = "fatal alert: ";

    /** The first line that isn't about the failure. */
    private static final String INSIDE = "\nChannel Pipeline:";

    /** Failures of TLS with a plain-text server, which closes the connection. */
    private static final List<String> NO_TLS = List.of(
            "Connection closed while performing TLS negotiation",
            "Connection closed while SSL/TLS handshake was in progress",
            "not an SSL/TLS record",
            "Unsupported or unrecognized SSL message");

    /** Failures to find the path to a trusted authority; the last is a forged signature. */
    private static final List<String> NO_PATH = List.of(
            "unable to find valid certification path",
            "Path does not chain with any of the trust anchors",
            "signature check failed");

    private FailureText() {}

    /** @param failure thrown by a stub or a future; its causes are examined */
    static String of(Throwable failure) {
        List<Throwable> chain = chain(failure);
        return connection(chain)
                .or(() -> chain.stream()
                        .map(FailureText::status)
                        .flatMap(Optional::stream)
                        .findFirst()
                        .map(status -> status.getCode() + prefixed(": ", description(status))))
                .orElseGet(() -> chain.stream()
                        .filter(each -> !isWrapping(each))
                        .findFirst()
                        .map(FailureText::described)
                        .map(FailureText::oneLine)
                        .orElse("unknown error"));
    }

    /** The description without the code. */
    static String of(Status status) {
        return connection(chain(status.asException())).orElseGet(() -> oneLine(description(status)));
    }

    /** Why a connection failed; empty for other failures. */
    private static Optional<String> connection(List<Throwable> chain) {
        return certificate(chain)
                .or(() -> alert(chain))
                .or(() -> isAny(chain, NO_TLS)
                        ? Optional.of("server does not support TLS or closed the connection during the handshake")
                        : Optional.empty())
                .or(() -> tls(chain))
                .or(() -> address(chain));
    }

    private static Optional<String> certificate(List<Throwable> chain) {
        if (chain.stream().noneMatch(CertificateException.class::isInstance)) {
            return Optional.empty();
        }
        // Those around it quote it, with its class.
        String reason = described(chain.get(chain.size() - 1));
        return Optional.of("server certificate is not trusted: "
                + (NO_PATH.stream().anyMatch(reason::contains)
                        ? "issuer not found in tls.trusted (default: system trust store)"
                        : oneLine(reason)));
    }

    private static Optional<String> alert(List<Throwable> chain) {
        return messages(chain)
                .filter(message -> message.contains(ALERT))
                .map(message -> oneLine(message.substring(message.indexOf(ALERT) + ALERT.length())))
                .findFirst()
                .map(alert -> (alert.contains("cert") || alert.contains("unknown_ca") || alert.contains("access_denied")
                                ? "server rejected the client certificate or requires one: "
                                : "server aborted the TLS handshake: ")
                        + alert);
    }

    private static Optional<String> tls(List<Throwable> chain) {
        return chain.stream()
                .filter(TlsContext::isFailure)
                .reduce((outer, inner) -> inner)
                .map(failure -> "TLS handshake failed: " + oneLine(described(failure)));
    }

    private static Optional<String> address(List<Throwable> chain) {
        for (Throwable cause : chain) {
            String message = described(cause);
            if (cause instanceof UnknownHostException) {
                // Its own text may begin with the host, and it may be all of it.
                int end = message.indexOf(':');
                return Optional.of("unknown host " + oneLine(end < 0 ? message : message.substring(0, end)));
            }
            if (cause instanceof ConnectException) {
                String lower = message.toLowerCase(Locale.ROOT);
                return Optional.of(
                        lower.contains("refused")
                                ? "connection refused"
                                : lower.contains("timed out") ? "connection timed out" : oneLine(message));
            }
        }
        return Optional.empty();
    }

    private static Optional<Status> status(Throwable failure) {
        if (failure instanceof StatusRuntimeException unchecked) {
            return Optional.of(unchecked.getStatus());
        }
        return failure instanceof StatusException checked ? Optional.of(checked.getStatus()) : Optional.empty();
    }

    /** gRPC's description, or the cause behind it. */
    private static String description(Status status) {
        List<Throwable> causes = chain(status.getCause());
        String description = status.getDescription() == null ? "" : status.getDescription();
        if (status.getCode() == Status.Code.DEADLINE_EXCEEDED && description.contains("deadline exceeded after")) {
            // The rest serves to debug gRPC, and its seconds are what was left, not what was given.
            return description.contains("waiting_for_connection")
                    ? "no connection before the deadline"
                    : "no response before the deadline";
        }
        boolean isVague = description.equals("io exception") || description.startsWith("io exception" + INSIDE);
        String cause = causes.isEmpty() ? null : causes.get(causes.size() - 1).getMessage();
        return isVague && cause != null ? cause : description;
    }

    private static boolean isAny(List<Throwable> chain, List<String> texts) {
        return messages(chain).anyMatch(message -> texts.stream().anyMatch(message::contains));
    }

    private static Stream<String> messages(List<Throwable> chain) {
        return chain.stream().map(FailureText::described);
    }

    private static boolean isWrapping(Throwable failure) {
        return failure.getCause() != null
                && (failure instanceof CompletionException || failure instanceof ExecutionException);
    }

    private static List<Throwable> chain(@Nullable Throwable failure) {
        Set<Throwable> seen = new LinkedHashSet<>();
        for (Throwable cause = failure; cause != null && seen.add(cause); cause = cause.getCause()) {
            // Each is added by looking at it.
        }
        return List.copyOf(seen);
    }

    private static String described(Throwable failure) {
        String message = failure.getMessage();
        return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
    }

    private static String prefixed(String before, String text) {
        String line = oneLine(text);
        return line.isEmpty() ? "" : before + line;
    }

    private static String oneLine(String text) {
        int inside = text.indexOf(INSIDE);
        return (inside < 0 ? text : text.substring(0, inside)).strip().replaceAll("\\s*\\R\\s*", " ");
    }
}
