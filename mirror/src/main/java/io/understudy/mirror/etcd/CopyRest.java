package io.understudy.mirror.etcd;

import io.understudy.mirror.checkpoint.LaneProgress;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.UnfinishedSnapshot;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of a snapshot that the target does not hold yet. Thread-safe.
 *
 * <p>Invariant M41: a resumed snapshot ends with the source's state at its revision, and reads again only what the
 * target may lack.
 */
final class CopyRest {

    private final @Nullable UnfinishedSnapshot begun;
    private List<KeyRange> rest;

    /** @param pin null if no later feed can continue the snapshot */
    CopyRest(@Nullable Position pin, List<KeyRange> rest) {
        this.begun = pin == null ? null : new UnfinishedSnapshot(pin, rest);
        this.rest = rest;
    }

    /** The target equals the snapshot in {@code range}. */
    synchronized void copied(KeyRange range) {
        rest = without(rest, range);
    }

    /**
     * Returns the rest for a later feed; null if none can continue the snapshot.
     *
     * @param range additional copied range; null for none
     */
    synchronized @Nullable UnfinishedSnapshot after(@Nullable KeyRange range) {
        if (begun == null) {
            return null;
        }
        List<KeyRange> left = new ArrayList<>(range == null ? rest : without(rest, range));
        while (left.size() > 1 && !LaneProgress.fits(left)) {
            // More than is left may be compared again.
            KeyRange first = left.remove(0);
            left.set(0, new KeyRange(first.from(), left.get(0).to()));
        }
        return LaneProgress.fits(left) ? new UnfinishedSnapshot(begun.pin(), left) : begun;
    }

    private static List<KeyRange> without(List<KeyRange> ranges, KeyRange copied) {
        return ranges.stream().flatMap(range -> range.without(copied).stream()).toList();
    }
}
