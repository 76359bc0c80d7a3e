package io.understudy.cluster.snapshot;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.vocabulary.ClusterId;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A new cluster.
 *
 * @param members its first, all of them voters
 * @param token distinguishes it from others with the same members, such as the cluster of the snapshot
 * @param bump by how much revisions are moved ahead, so that no client of the old cluster has seen them; 0 for none
 * @param hasDigest whether the snapshot ends with a digest; a copied database does not
 */
public record Founding(List<MemberSpec> members, String token, long bump, boolean hasDigest) {

    public Founding {
        members = List.copyOf(members);
    }

    /** Returns the ID that etcd derives from peer URLs and token ({@code computeMemberID} in {@code membership}). */
    public ClusterId cluster() {
        byte[] ids = members.stream()
                .map(this::id)
                .sorted(Long::compareUnsigned)
                .collect(() -> ByteBuffer.allocate(Long.BYTES * members.size()), ByteBuffer::putLong, ByteBuffer::put)
                .array();
        return new ClusterId(start(ids));
    }

    private long id(MemberSpec member) {
        String urls = member.peerUrls().stream().map(URI::toString).sorted().collect(Collectors.joining());
        return start((urls + token).getBytes(StandardCharsets.UTF_8));
    }

    private static long start(byte[] hashed) {
        try {
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-1").digest(hashed))
                    .getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the members in the form of etcd's command line. */
    public String initialCluster() {
        return MemberSpec.initialCluster(members);
    }
}
