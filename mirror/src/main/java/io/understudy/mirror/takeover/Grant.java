package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;

/**
 * A permission that a role has.
 *
 * @param end as etcd writes a range's end: empty for one key
 */
record Grant(String role, ByteString key, ByteString end, Permission.Type type) {

    Permission permission() {
        return Permission.newBuilder()
                .setPermType(type)
                .setKey(key)
                .setRangeEnd(end)
                .build();
    }

    Grant of(Permission.Type other) {
        return new Grant(role, key, end, other);
    }
}
