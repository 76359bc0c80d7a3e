package io.understudy.mirror.verify;

import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

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
