package io.understudy.cluster.snapshot;

import io.understudy.cluster.machine.MemberSpec;
import java.util.List;

/**
 * A new cluster.
 *
 * @param members its first, all of them voters
 * @param token what tells it from others with the same members, such as the one the snapshot is from
 * @param bump by how much revisions are moved ahead, so that no client of the old cluster has seen them; 0 for none
 * @param hasDigest whether the snapshot ends with a digest; a copied database does not
 */
public record Founding(List<MemberSpec> members, String token, long bump, boolean hasDigest) {

    public Founding {
        members = List.copyOf(members);
    }

    /** In the form of etcd's command line. */
    public String initialCluster() {
        return MemberSpec.initialCluster(members);
    }
}
