package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A commit as the window holds it. Immutable.
 *
 * @param before the replica after the commit before, or as the snapshot had it
 * @param after the replica after this one
 * @param changes what became of each key, in etcd's order: as etcd's events have it, so a deleted key has a mod revision,
 *     and nothing else, version 0 included
 */
public record HeldCommit(ReplicaState before, ReplicaState after, List<Entry> changes) {

    /** The commit's own. */
    public Revision revision() {
        return after.revision();
    }

    /** Whether nothing lies between that revision, or a later one, and this commit. */
    public boolean isNextAfter(Revision held) {
        return !before.revision().isAfter(held);
    }

    /** The key as it stood before the commit; null if it wasn't there. */
    public @Nullable Entry previous(ByteString key) {
        return before.get(key);
    }
}
