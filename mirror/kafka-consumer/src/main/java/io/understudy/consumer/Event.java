package io.understudy.consumer;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link MirrorConsumer} returns, in this order: {@code (StateBegin StatePart* StateEnd | Commit | Progress)*}. A
 * state may begin again before it ended.
 */
public sealed interface Event<K, V> {

    /**
     * The state follows from scratch: discard every key and the stored position.
     *
     * @param reason why, for logs
     */
    record StateBegin<K, V>(String reason) implements Event<K, V> {}

    /** A change of the state being read. Keys may repeat; the last change of a key counts. */
    record StatePart<K, V>(Change<K, V> change) implements Event<K, V> {}

    /** What was read since {@link StateBegin} is the state at the position's revision. Store the position with it. */
    record StateEnd<K, V>(Position position) implements Event<K, V> {}

    /**
     * All changes of one commit, in the order of etcd.
     *
     * @param revision of the commit
     * @param position to store with the effects of the changes
     */
    record Commit<K, V>(long revision, List<Change<K, V>> changes, Position position) implements Event<K, V> {}

    /**
     * No further changes up to the position's revision.
     *
     * @param asOf time at which the source had nothing newer, by the mirror's clock; null if unknown
     */
    record Progress<K, V>(Position position, @Nullable Instant asOf) implements Event<K, V> {}
}
