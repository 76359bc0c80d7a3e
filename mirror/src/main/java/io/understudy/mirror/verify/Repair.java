package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes repairs to the target, fenced like all writes of the mirror. */
public interface Repair {

    /**
     * Starts an attempt to repair some keys. Both sides are compared after this.
     *
     * @param keys as the target names them
     * @return null while nothing here writes to the target
     */
    @Nullable Attempt begin(Collection<ByteString> keys);

    /** Observes commits from its beginning to its write. */
    interface Attempt {

        /**
         * Writes operations with the checkpoint, in one or more transactions. Returns when all are written. Any thread.
         *
         * @param operations by key. Those of keys that a commit has changed since the beginning are left out
         * @return false while repairs are not possible: during a snapshot, or between the parts of a commit
         */
        boolean write(Map<ByteString, RequestOp> operations);
    }
}
