package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/** Iterates over both sides together, in key order. */
final class Merge {

    private final SortedEntries source;
    private final SortedEntries target;
    private @Nullable KeyValue nextSource;
    private @Nullable KeyValue nextTarget;

    Merge(SortedEntries source, SortedEntries target) {
        this.source = source;
        this.target = target;
    }

    /** A key with what either side has of it; at least one has. */
    record Pair(
            ByteString key,
            @Nullable KeyValue source,
            @Nullable KeyValue target) {}

    /** The next key; null after the last. */
    @Nullable Pair next() throws CompactedException, IncomparableException, InterruptedException {
        if (nextSource == null) {
            nextSource = source.next();
        }
        if (nextTarget == null) {
            nextTarget = target.next();
        }
        KeyValue ofSource = nextSource;
        KeyValue ofTarget = nextTarget;
        if (ofSource == null) {
            nextTarget = null;
            return ofTarget == null ? null : new Pair(ofTarget.key(), null, ofTarget);
        }
        int order = ofTarget == null ? -1 : KeyRange.KEY_ORDER.compare(ofSource.key(), ofTarget.key());
        if (order <= 0) {
            nextSource = null;
        }
        if (order >= 0) {
            nextTarget = null;
        }
        return order < 0
                ? new Pair(ofSource.key(), ofSource, null)
                : new Pair(
                        order > 0 && ofTarget != null ? ofTarget.key() : ofSource.key(),
                        order == 0 ? ofSource : null,
                        ofTarget);
    }

    /** One side's entries under their target names, in key order. */
    interface SortedEntries {

        /** Returns the next entry; null after the last. */
        @Nullable KeyValue next() throws CompactedException, IncomparableException, InterruptedException;
    }

    /**
     * The rule by which a key is equal on both sides.
     *
     * @param leases whether having a lease counts
     * @param keptBefore the target may have keys of an earlier create revision that the source doesn't have
     */
    record Equality(boolean leases, Revision keptBefore) {

        /** Whether the key is none of the mirror's. */
        boolean isKept(Merge.Pair pair) {
            KeyValue target = pair.target();
            return pair.source() == null
                    && target != null
                    && target.createRevision().isBefore(keptBefore);
        }

        /** Returns the kind of the difference; null for none. */
        @Nullable Kind difference(Merge.Pair pair) {
            KeyValue source = pair.source();
            KeyValue target = pair.target();
            if (source == null) {
                return isKept(pair) ? null : Kind.EXTRA;
            }
            if (target == null) {
                return Kind.MISSING;
            }
            if (!source.value().equals(target.value())) {
                return Kind.VALUE;
            }
            return leases && (source.lease() == 0) != (target.lease() == 0) ? Kind.LEASE : null;
        }
    }
}
