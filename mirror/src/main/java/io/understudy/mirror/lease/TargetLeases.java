package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leases of keys in the target. Called by threads that write there, before they write; may wait for the source or the
 * target, and throw a {@link io.understudy.mirror.sink.SinkException}.
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

    /** Whether keys are put with leases: such keys are neither joined with others nor put out of order. */
    boolean areKept();

    /**
     * The lease to put a key with, which exists in the target.
     *
     * @param sourceLease the one it has at the source, 0 for none
     * @return 0 for none
     */
    long forPut(ByteString key, long sourceLease);

    /** A key is deleted next. */
    default void deleted(ByteString key) {}

    /**
     * Makes the keys with leases those of the source at a position, in the order of their creation.
     *
     * @param keys all of them, as the target names them, without values; null to read them from the source
     * @param writer does operations in one transaction; not called if the target is equal
     * @return whether they are; not if the source has compacted that revision
     */
    default boolean restore(Position at, @Nullable List<KeyValue> keys, Consumer<List<RequestOp>> writer) {
        return true;
    }
}
