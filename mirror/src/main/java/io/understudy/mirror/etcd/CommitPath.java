package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.checkpoint.Marks;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Determines the clusters that a commit has passed. A mirror's transaction puts its mark into the source; any other
 * commit was made there.
 *
 * <p>One thread.
 *
 * <p>Invariant M21: each commit carries the path of its clusters and is not written to one of them again; an invalid
 * mark stops the mirror.
 */
final class CommitPath {

    private @Nullable ClusterId source;
    private List<ClusterId> own = List.of();

    /**
     * Returns the path of a commit, with the mark of the target.
     *
     * @return ends with {@code cluster}
     * @throws SinkException.Refused the mark is invalid: copying it might form a loop
     */
    List<ClusterId> of(Commit commit, ClusterId cluster) {
        List<ClusterId> passed = null;
        for (Change change : commit.changes()) {
            if (change instanceof Change.Put put && ReservedKeys.isMark(put.key())) {
                List<ClusterId> next = decoded(put.key(), put.keyValue().value(), commit, cluster);
                if (passed != null && !passed.equals(next)) {
                    throw new SinkException.Refused("commit at revision " + commit.revision() + " of source cluster "
                            + cluster + " has marks of different paths, " + passed + " and " + next + " (at "
                            + shown(put.key()) + "); a mirror writes one mark per transaction");
                }
                passed = next;
            }
        }
        if (passed == null) {
            return ending(cluster);
        }
        List<ClusterId> path = new ArrayList<>(passed);
        path.add(cluster);
        return path;
    }

    /** Returns a shared list for all commits made at the source. */
    private List<ClusterId> ending(ClusterId cluster) {
        if (!cluster.equals(source)) {
            source = cluster;
            own = List.of(cluster);
        }
        return own;
    }

    private static List<ClusterId> decoded(ByteString key, ByteString value, Commit commit, ClusterId cluster) {
        try {
            return Marks.decode(
                    shown(key) + " of source cluster " + cluster + ", put at revision " + commit.revision(), value);
        } catch (CorruptCheckpointException e) {
            throw new SinkException.Refused(
                    "invalid mark of another mirror, so a loop cannot be detected: " + e.getMessage(), e);
        }
    }

    private static String shown(ByteString key) {
        return "key \"" + TextFormat.escapeBytes(key) + "\"";
    }
}
