package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.List;

/** Finds out what a resynchronisation would do to the target, and does nothing of it. One thread. */
final class SourceComparison {

    private static final int SHOWN = 10;

    /** Keys that would be treated alike: all are counted, the first are shown. */
    private static final class Found {
        private final List<ByteString> first = new ArrayList<>();
        private long count;

        void add(ByteString key) {
            count++;
            if (first.size() < SHOWN) {
                first.add(key);
            }
        }

        @Override
        public String toString() {
            return count + (first.isEmpty() ? "" : " (such as " + Prune.shown(first) + ")");
        }
    }

    private final MirrorScope scope;
    private final ForeignKeys onForeignKeys;
    private final boolean leased;
    private final long foreignBefore;
    private final TargetCalls calls;
    private final long held;
    private final Found missing = new Found();
    private final Found surplus = new Found();

    /**
     * @param foreignBefore as in {@link PageMerge}
     * @param held how many keys the target has
     */
    SourceComparison(
            MirrorScope scope,
            ForeignKeys onForeignKeys,
            boolean leased,
            long foreignBefore,
            TargetCalls calls,
            long held) {
        this.scope = scope;
        this.onForeignKeys = onForeignKeys == ForeignKeys.KEEP ? ForeignKeys.KEEP : ForeignKeys.DELETE;
        this.leased = leased;
        this.foreignBefore = foreignBefore;
        this.calls = calls;
        this.held = held;
    }

    void page(KeyRange covered, List<KeyValue> entries) {
        PageMerge merge = new PageMerge(scope.mirrored(entries), onForeignKeys, leased, foreignBefore);
        for (KeyRange range : scope.sourceRanges(covered)) {
            KeyRange part = scope.inTarget(range);
            merge.enter(part, new TargetKeys(calls, part, entries.size()));
            for (PageMerge.Difference next = merge.next(); next != null; next = merge.next()) {
                if (next instanceof PageMerge.Difference.Missing put) {
                    missing.add(put.entry().key());
                } else if (next instanceof PageMerge.Difference.Surplus delete) {
                    surplus.add(delete.key());
                }
            }
        }
    }

    /** @param why it was compared */
    SinkException.Refused result(String why) {
        return new SinkException.Refused(why + ". Nothing was changed. Of the " + held
                + " keys that the target holds, a resynchronisation would delete " + surplus + "; it would put "
                + missing + ". If the source is what it should be, set onSourceReset to resync, and maxPrunePercent to"
                + " what may be deleted, until the mirror is synced");
    }
}
