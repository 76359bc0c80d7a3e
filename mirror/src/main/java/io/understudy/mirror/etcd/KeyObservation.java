package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records which of some keys a commit changes while both sides are compared. Thread-safe.
 *
 * <p>etcd keeps no mod revision of a deleted key. A transaction alone cannot verify that a key was absent all the time.
 */
public final class KeyObservation {

    private final Set<ByteString> unchanged = ConcurrentHashMap.newKeySet();

    /** @param keys as the target names them */
    KeyObservation(Collection<ByteString> keys) {
        unchanged.addAll(keys);
    }

    /** A commit does these operations. */
    void changed(List<RequestOp> operations) {
        for (RequestOp operation : operations) {
            unchanged.remove(Operations.key(operation));
        }
    }

    /** Counts every key as changed. */
    void end() {
        unchanged.clear();
    }

    /** Whether {@code key} is observed, and no commit has changed it. */
    boolean isUnchanged(ByteString key) {
        return unchanged.contains(key);
    }
}
