package io.understudy.mirror.auth;

import com.google.protobuf.ByteString;

/**
 * What a grant is for. Of several grants of one role for the same, each counts.
 *
 * @param end as etcd writes a range's end: empty for one key, a zero byte for all from {@code key} on
 */
record GrantedRange(ByteString key, ByteString end) {}
