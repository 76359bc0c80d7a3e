package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.scope.MirrorScope;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * From where to where the primary role of a mirror moves.
 *
 * @param scope of the mirror from {@code from} to {@code to}
 * @param keepsLeases whether keys have the same leases on both sides
 * @param lock of the command that moves it; the requests to both clusters require it
 */
record Direction(
        String mirror,
        MirrorScope scope,
        TakeOverCalls from,
        TakeOverCalls to,
        Closing closingFrom,
        Closing closingTo,
        Comparer comparer,
        boolean keepsLeases,
        Lock lock) {

    /** Compares the two clusters, while clients write. */
    interface Comparer {

        /** Both revisions at which the clusters were equal. */
        record Equal(long from, long to, long keys) {}

        /**
         * Compares all keys, values and leases.
         *
         * @throws TakeOverException they differ, or cannot be compared
         */
        Equal all();

        /**
         * Compares what changed on either side since {@code before}, at the checkpoint of the second cluster.
         *
         * @throws TakeOverException likewise
         */
        Equal changed(Equal before);

        /**
         * Returns keys that clients of the first cluster changed and the other one lacks. They changed in {@code (after, until]}
         * and differ from their state at {@code until}.
         *
         * @throws TakeOverException not known
         */
        Lost lostBetween(long after, long until);

        /**
         * The keys that clients of the first cluster changed after a checkpoint of it, likewise. Unknown if its history is
         * another one, as after it was restored, or cannot be recognised.
         */
        Lost lostAfter(Checkpoint reached);

        /** Gives each key that the clusters do not have equally; clients may write at the second one meanwhile. */
        void differing(Consumer<ByteString> each);

        /**
         * Returns keys that the second cluster lost after its revision, not by the mirror. They expired with their
         * leases, or clients deleted them.
         *
         * @throws TakeOverException not known
         */
        List<ByteString> missingSince(long revision);

        /** Names keys; {@code unknown} is why there may be more, null if there are none. */
        record Lost(List<ByteString> keys, @Nullable String unknown) {
            static final Lost NOTHING = new Lost(List.of(), null);
        }
    }

    /** Of an undo, which compares nothing. */
    Direction reversed() {
        return new Direction(mirror, scope.reversed(), to, from, closingTo, closingFrom, comparer, keepsLeases, lock);
    }

    Records recordsFrom() {
        return new Records(from, mirror);
    }

    Records recordsTo() {
        return new Records(to, mirror);
    }
}
