package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leases of keys in the target. Writing threads call it before they write. It may wait for the source or the target,
 * and throw a {@link io.understudy.mirror.sink.SinkException}.
 */
public interface TargetLeases {

    /** Copies keys without leases. */
    TargetLeases DROPPED = new TargetLeases() {
        @Override
        public boolean areKept() {
            return false;
        }

        @Override
        public long forPut(ByteString key, long sourceLease) {
            return 0;
        }
    };

    /** Whether keys keep leases: such puts are neither merged nor reordered. */
    boolean areKept();

    /**
     * Returns the existing target lease to put a key with.
     *
     * @param sourceLease lease at the source, 0 for none
     * @return 0 for none
     */
    long forPut(ByteString key, long sourceLease);

    /** Records that a key is deleted next. */
    default void deleted(ByteString key) {}

    /**
     * Makes the leased keys equal to the source's at a position, in creation order.
     *
     * @param keys all leased keys under their target names, without values; null to read them from the source
     * @param writer applies operations in one transaction; not called if the target is equal
     * @return whether they are equal; false if the source has compacted that revision
     */
    default boolean restore(Position at, @Nullable List<KeyValue> keys, Consumer<List<RequestOp>> writer) {
        return true;
    }
}
