package io.understudy.gateway;

import io.understudy.vocabulary.MemberId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A gateway's member id, for response headers: 64 bits of the SHA-256 of its name. It is stable across restarts, and
 * differs between gateway names and from etcd's member ids, which are hashes as well.
 */
final class MemberIds {

    private MemberIds() {}

    static MemberId of(String gatewayName) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest(("understudy gateway\n" + gatewayName).getBytes(StandardCharsets.UTF_8));
            return new MemberId(ByteBuffer.wrap(digest).getLong());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }
}
