package io.understudy.gateway;

import io.understudy.vocabulary.MemberId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A gateway's member id, for response headers: 64 bits of a SHA-256 of its name. So it is the same after a restart without
 * anything kept on disk, differs between gateways of different names, and, etcd's members being numbered by a hash as
 * well, differs from theirs.
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
