package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Forwards all metadata except that of the connection and of the gateway. Includes tokens, {@code hasleader}, {@code
 * client-api-version} and unknown keys. Text that a header cannot carry is left out.
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

    static final Metadata.Key<String> REQUIRES_LEADER =
            Metadata.Key.of(Freshness.REQUIRES_LEADER_KEY, Metadata.ASCII_STRING_MARSHALLER);

    private static final String TO_THE_GATEWAY = "understudy-";

    private PassedMetadata() {}

    static Metadata of(Metadata received) {
        Metadata passed = new Metadata();
        for (String name : received.keys()) {
            if (passes(name)) {
                if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                    copy(Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER), received, passed, value -> true);
                } else {
                    copy(
                            Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER),
                            received,
                            passed,
                            Principal.Token::sendable);
                }
            }
        }
        return passed;
    }

    /** Returns the metadata that etcd reads, for requests without stored metadata. */
    static Metadata of(Caller caller) {
        Metadata passed = new Metadata();
        if (caller.principal() instanceof Principal.Token token && Principal.Token.sendable(token.value())) {
            passed.put(Principal.Token.KEY, token.value());
        }
        if (caller.freshness().requiresLeader()) {
            passed.put(REQUIRES_LEADER, "true");
        }
        return passed;
    }

    private static boolean passes(String name) {
        return !OF_THE_CONNECTION.contains(name) && !name.startsWith(TO_THE_GATEWAY) && !name.startsWith(":");
    }

    private static <T> void copy(Metadata.Key<T> key, Metadata from, Metadata to, Predicate<T> sendable) {
        Iterable<T> values = from.getAll(key);
        if (values != null) {
            for (T value : values) {
                if (sendable.test(value)) {
                    to.put(key, value);
                }
            }
        }
    }
}
