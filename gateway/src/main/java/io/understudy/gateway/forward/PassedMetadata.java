package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.understudy.gateway.caller.Principal;
import java.util.Set;

/**
 * Metadata from one connection to the next: all of it, tokens, {@code hasleader}, {@code client-api-version} and what
 * nobody knows included, but for what belongs to a connection and for what is addressed to the gateway.
 */
final class PassedMetadata {

    private static final Set<String> OF_THE_CONNECTION = Set.of(
            "accept-encoding",
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "date",
            "grpc-accept-encoding",
            "grpc-encoding",
            "grpc-message",
            "grpc-status",
            "grpc-timeout",
            "host",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "user-agent");

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

    private static final String TO_THE_GATEWAY = "understudy-";

    private PassedMetadata() {}

    static Metadata of(Metadata received) {
        Metadata passed = new Metadata();
        for (String name : received.keys()) {
            if (passes(name)) {
                if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                    copy(Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER), received, passed);
                } else {
                    copy(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), received, passed);
                }
            }
        }
        return passed;
    }

    /** What says who asks, where nothing else is known of a request. */
    static Metadata of(Principal principal) {
        Metadata passed = new Metadata();
        if (principal instanceof Principal.Token token) {
            passed.put(TOKEN, token.value());
        }
        return passed;
    }

    private static boolean passes(String name) {
        return !OF_THE_CONNECTION.contains(name) && !name.startsWith(TO_THE_GATEWAY) && !name.startsWith(":");
    }

    private static <T> void copy(Metadata.Key<T> key, Metadata from, Metadata to) {
        Iterable<T> values = from.getAll(key);
        if (values != null) {
            values.forEach(value -> to.put(key, value));
        }
    }
}
