package io.understudy.gateway.caller;

import io.grpc.Metadata;

/** The unverified identity of a caller, as claimed by the request and its connection. */
public sealed interface Principal {

    /** A caller without identity. */
    Principal ANONYMOUS = new Anonymous();

    /** A token of etcd's authentication, simple or JWT. A secret: never to be logged. */
    record Token(String value) implements Principal {

        /** The metadata key of the token. */
        public static final Metadata.Key<String> KEY = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

        /** Whether it is a JWT, with the name of the user and the revision of users and roles. */
        public boolean isJwt() {
            return value.chars().filter(each -> each == '.').count() == 2;
        }

        /** Whether a header can carry {@code value}. gRPC drops others, and logs their bytes. */
        public static boolean sendable(String value) {
            return value.chars().allMatch(each -> each >= ' ' && each <= '~');
        }

        @Override
        public String toString() {
            return "token";
        }
    }

    /** The common name of a client certificate that the connection's handshake has verified. */
    record Certificate(String commonName) implements Principal {

        /** An unreadable name. It matches no user, since user names are not empty. */
        public static final Certificate UNREADABLE = new Certificate("");
    }

    /** Neither token nor certificate. */
    record Anonymous() implements Principal {}
}
