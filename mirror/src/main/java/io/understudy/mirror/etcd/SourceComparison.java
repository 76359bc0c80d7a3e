package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.etcd.SnapshotCopy.Prune;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares the target with the source's current history, without changing anything. One thread. */
final class SourceComparison {

    private static final int SHOWN = 10;

    /** Keys with the same treatment: all are counted, the first are shown. */
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
    private final SyncWriter writer;
    private final long held;
    private final Revision mirrored;
    private final Found missing = new Found();
    private final Found surplus = new Found();
    private @Nullable KeyValue contradiction;

    /**
     * @param foreignBefore as in {@link PageMerge}
     * @param writer would write the entries; writes nothing
     * @param held number of keys in the target
     * @param mirrored revision of the mirrored history up to which the target was complete
     */
    SourceComparison(
            MirrorScope scope,
            ForeignKeys onForeignKeys,
            boolean leased,
            long foreignBefore,
            TargetCalls calls,
            SyncWriter writer,
            long held,
            Revision mirrored) {
        this.scope = scope;
        this.onForeignKeys = onForeignKeys == ForeignKeys.KEEP ? ForeignKeys.KEEP : ForeignKeys.DELETE;
        this.leased = leased;
        this.foreignBefore = foreignBefore;
        this.calls = calls;
        this.writer = writer;
        this.held = held;
        this.mirrored = mirrored;
    }

    /** @throws SinkException.Refused also for an entry that the target rejects for its size */
    void page(KeyRange covered, List<KeyValue> entries) {
        PageMerge merge = new PageMerge(scope.mirrored(entries), onForeignKeys, leased, foreignBefore);
        for (KeyRange range : scope.sourceRanges(covered)) {
            KeyRange part = scope.inTarget(range);
            merge.enter(part, new TargetKeys(calls, part));
            for (PageMerge.Difference next = merge.next(); next != null; next = merge.next()) {
                if (next instanceof PageMerge.Difference.Missing put) {
                    missing.add(put.entry().key());
                    writer.requireFits(
                            EtcdMessages.put(put.entry().key(), put.entry().value()));
                    if (contradiction == null && contradicts(put.entry())) {
                        contradiction = put.entry();
                    }
                } else if (next instanceof PageMerge.Difference.Surplus delete) {
                    surplus.add(delete.key());
                }
            }
        }
    }

    /**
     * Returns why the source's history is not the mirrored one; null if nothing indicates that. Entries not written
     * since the target was complete are there, unless the source never wrote them in that history, or another client
     * wrote to the target.
     */
    @Nullable String contradiction() {
        return contradiction == null
                ? null
                : "source key \"" + TextFormat.escapeBytes(contradiction.key()) + "\" at revision "
                        + contradiction.modRevision() + " differs from the target, which is complete up to revision "
                        + mirrored
                        + ": the source was restored from a backup, or another client wrote to"
                        + " the target";
    }

    /** @param why it was compared */
    SinkException.Refused result(String why) {
        return new SinkException.Refused(why + ". Nothing was changed. Of " + Counted.of(held, "key")
                + " in the target, a resync would delete " + surplus + "; it would put "
                + missing + ". If the source is correct, set onSourceReset to resync, and maxPrunePercent to"
                + " allow these deletions, until the mirror is synced");
    }

    /**
     * Whether the values differ; leases may have been treated otherwise before. A missing key with a kept lease proves
     * nothing: it expires while no mirror runs.
     */
    private boolean contradicts(KeyValue entry) {
        if (entry.modRevision().isAfter(mirrored)) {
            return false;
        }
        RangeResponse there =
                calls.range(RangeRequest.newBuilder().setKey(entry.key()).build());
        boolean mayHaveExpired = leased && entry.lease() != 0;
        return there.getKvsCount() == 0
                ? !mayHaveExpired
                : !there.getKvs(0).getValue().equals(entry.value());
    }
}
