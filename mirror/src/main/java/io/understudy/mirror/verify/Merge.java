package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
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
}
