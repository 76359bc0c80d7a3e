package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Copies one snapshot in lanes. Into an empty target its entries are put as they come; else each page is compared with
 * what the target holds, and only the difference is written. Surplus keys of the target are deleted when all pages are
 * known, and entries with leases are written last.
 */
final class SnapshotCopy implements AutoCloseable {
    private final MirrorScope scope;
    private final ForeignKeys onForeignKeys;
    private final long foreignBefore;
    private final boolean intoEmpty;
    private final @Nullable Prune prune;
    private final TargetLeases leases;
    private final LeasedEntries leased = new LeasedEntries();
    private final Lanes<SyncWriter> lanes;
    private final LongAdder deleted = new LongAdder();

    /**
     * @param foreignBefore target keys of a create revision before this were there before the first synchronisation
     * @param intoEmpty whether the target is known to hold nothing
     * @param prune null to delete what is surplus at once, however much
     */
    SnapshotCopy(
            MirrorScope scope,
            ForeignKeys onForeignKeys,
            long foreignBefore,
            boolean intoEmpty,
            @Nullable Prune prune,
            TargetLeases leases,
            Lanes<SyncWriter> lanes) {
        this.scope = scope;
        this.onForeignKeys = onForeignKeys;
        this.foreignBefore = foreignBefore;
        this.intoEmpty = intoEmpty;
        this.prune = prune;
        this.leases = leases;
        this.lanes = lanes;
    }

    /** Passes a page to a lane; waits while the lanes are busy. */
    void page(KeyRange covered, List<KeyValue> entries) {
        lanes.hand(lane -> {
            List<KeyValue> mirrored = scope.mirrored(entries);
            Batch batch = new Batch(lane);
            // What waits for all pages is known to this run only: another one needs its pages again.
            boolean isWhole = true;
            for (KeyValue entry : mirrored) {
                if (isWrittenLast(entry)) {
                    leased.saw(entry);
                    isWhole = false;
                }
            }
            if (intoEmpty) {
                mirrored.forEach(entry -> put(entry, batch));
            } else {
                isWhole &= merge(covered, mirrored, lane, batch);
            }
            if (isWhole) {
                batch.complete(covered);
            } else {
                batch.flush();
            }
        });
    }

    /** Returns when the target equals the snapshot. */
    void complete() {
        lanes.drain();
        if (prune != null) {
            List<ByteString> surplus = prune.keys();
            lanes.hand(lane -> {
                Batch batch = new Batch(lane);
                surplus.forEach(key -> batch.add(Operations.delete(key)));
                batch.flush();
            });
            lanes.drain();
        }
        lanes.hand(lane -> leased.inOrder()
                .forEach(entry ->
                        lane.write(List.of(Operations.put(entry, leases.forPut(entry.key(), entry.lease()))), null)));
        lanes.drain();
    }

    /** Returns all entries with leases, without values. */
    List<KeyValue> leased() {
        return leased.seen();
    }

    /** Returns the number of keys deleted at once, without a limit. */
    long deleted() {
        return deleted.sum();
    }

    /** Stops the lanes. */
    @Override
    public void close() {
        lanes.close();
    }

    /** @return whether nothing was put off */
    private boolean merge(KeyRange covered, List<KeyValue> mirrored, SyncWriter lane, Batch batch) {
        boolean isWhole = true;
        PageMerge merge = new PageMerge(mirrored, onForeignKeys, leases.areKept(), foreignBefore);
        List<KeyValue> recreated = new ArrayList<>();
        for (KeyRange range : scope.sourceRanges(covered)) {
            KeyRange part = scope.inTarget(range);
            merge.enter(part, new TargetKeys(lane.calls(), part, mirrored.size()));
            for (PageMerge.Difference next = merge.next(); next != null; next = merge.next()) {
                if (next instanceof PageMerge.Difference.Missing missing) {
                    if (missing.recreated()) {
                        batch.add(Operations.delete(missing.entry().key()));
                        recreated.add(missing.entry());
                    } else {
                        put(missing.entry(), batch);
                    }
                } else if (next instanceof PageMerge.Difference.Surplus surplus) {
                    isWhole &= delete(surplus, batch);
                }
            }
        }
        if (!recreated.isEmpty()) {
            // etcd takes each key once per transaction.
            batch.flush();
            recreated.forEach(entry -> put(entry, batch));
        }
        return isWhole;
    }

    private boolean isWrittenLast(KeyValue entry) {
        return leases.areKept() && entry.lease() != 0;
    }

    private void put(KeyValue entry, Batch batch) {
        if (isWrittenLast(entry)) {
            leased.add(entry);
        } else {
            batch.add(Operations.put(entry));
        }
    }

    /** @return whether it was not put off */
    private boolean delete(PageMerge.Difference.Surplus surplus, Batch batch) {
        if (prune != null) {
            prune.add(surplus.key());
            return false;
        }
        batch.add(Operations.delete(surplus.key()));
        deleted.increment();
        return true;
    }
}
