package io.understudy.gateway.api;

import com.google.protobuf.ByteString;

/** What etcd asks of a user before it serves a request. */
public sealed interface Permission {

    /**
     * To read keys.
     *
     * @param key as the request has it
     * @param end as the request has it: empty for the one key, one zero byte for all from it on; may be before the key, for
     *     which etcd asks too though there is nothing to be read
     */
    record Read(ByteString key, ByteString end) implements Permission {}

    /** Who somebody is, whatever he may read. */
    enum Standing implements Permission {
        /** Anybody, but for who comes with a token that is none. */
        ANYBODY,
        /** Whoever the source knows. */
        USER,
        /** A user with the role {@code root}. */
        ROOT
    }
}
