package io.understudy.mirror.auth;

import com.google.protobuf.ByteString;

/**
 * The range of a grant. Several grants of one role for one range are all effective.
 *
 * @param end end of the range in etcd's form: empty for one key, a zero byte for all from {@code key} on
 */
record GrantedRange(ByteString key, ByteString end) {}
