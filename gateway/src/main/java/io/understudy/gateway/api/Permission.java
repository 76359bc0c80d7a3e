package io.understudy.gateway.api;

import com.google.protobuf.ByteString;

/** A permission that etcd requires for a request. */
public sealed interface Permission {

    /**
     * Permission to read keys.
     *
     * @param key as in the request
     * @param end as in the request: empty for one key, one zero byte for all keys from {@code key} on. It may be before
     *     the key; etcd checks the permission even so.
     */
    record Read(ByteString key, ByteString end) implements Permission {}

    /** A requirement on the user, independent of keys. */
    enum Standing implements Permission {
        /** Any client without an invalid token. */
        NONE,
        /** Any user of the source. */
        USER,
        /** A user with the role {@code root}. */
        ROOT
    }
}
