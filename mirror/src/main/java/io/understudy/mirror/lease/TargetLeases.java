package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Leases of keys in the target. Writing threads call it before they write. It may wait for the source or the target,
 * and throw a {@link io.understudy.mirror.sink.SinkException}.
 */
public interface TargetLeases extends AutoCloseable {

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

    /**
     * Keeps the target's leases alive for a sink that has taken over the mirror, until {@link #detach}.
     *
     * @param epoch holds until another writer takes over, once the sink writes
     * @param complete up to where the target holds what the source had
     * @return whether every key that should have a lease is known to have it
     */
    default boolean attach(Supplier<Compare> epoch, Supplier<Revision> complete) {
        return true;
    }

    /** Sets the cluster that owns the leases. */
    default void of(ClusterId source) {}

    /** Records whether every key with a source lease is attached to it. */
    default void setWhole(boolean whole) {}

    /** Forgets which keys are attached, before a snapshot. */
    default void snapshotFollows() {}

    /** Reads a lease at the source before its keys are put, unless it is known; 0 for none. */
    default void expect(long lease) {}

    /** Does the same for keys of a snapshot. */
    default void expectInSnapshot(long lease) {}

    /** Fails if a lease of the target expired: a new sink restores its keys. */
    default void requireNoneLost() {}

    /** Ends the sink's use of the leases, which remain and are kept alive. */
    default void detach() {}

    @Override
    default void close() {}
}
