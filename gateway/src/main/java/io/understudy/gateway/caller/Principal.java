package io.understudy.gateway.caller;

import io.grpc.Metadata;

/** Who asks, as far as the request and its connection tell; nobody has checked it yet. */
public sealed interface Principal {

    /** Nobody in particular. */
    Principal ANONYMOUS = new Anonymous();

    /** A token of etcd's authentication, simple or JWT. A secret: never to be logged. */
    record Token(String value) implements Principal {

        /** The metadata that carries it to the source. */
        public static final Metadata.Key<String> KEY = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

        @Override
        public String toString() {
            return "token";
        }
    }

    /** The common name of a client certificate that the connection's handshake has verified. */
    record Certificate(String commonName) implements Principal {

        /** Of a name that can't be read: no user's, since users' names are not empty. */
        public static final Certificate NOBODYS = new Certificate("");
    }

    /** Neither token nor certificate. */
    record Anonymous() implements Principal {}
}
