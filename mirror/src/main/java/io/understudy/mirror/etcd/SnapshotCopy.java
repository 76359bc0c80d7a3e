package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
                surplus.forEach(key -> batch.add(EtcdMessages.delete(key)));
                batch.flush();
            });
            lanes.drain();
        }
        lanes.hand(lane -> leased.inOrder()
                .forEach(entry -> lane.write(
                        List.of(EtcdMessages.put(
                                entry.key(), entry.value(), leases.forPut(entry.key(), entry.lease()))),
                        null)));
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
            merge.enter(part, new TargetKeys(lane.calls(), part));
            for (PageMerge.Difference next = merge.next(); next != null; next = merge.next()) {
                if (next instanceof PageMerge.Difference.Missing missing) {
                    if (missing.recreated()) {
                        batch.add(EtcdMessages.delete(missing.entry().key()));
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
            batch.add(EtcdMessages.put(entry.key(), entry.value()));
        }
    }

    /** @return whether it was not put off */
    private boolean delete(PageMerge.Difference.Surplus surplus, Batch batch) {
        if (prune != null) {
            prune.add(surplus.key());
            return false;
        }
        batch.add(EtcdMessages.delete(surplus.key()));
        deleted.increment();
        return true;
    }

    /** Gathers operations of different keys and has a lane write them, many at a time. */
    private static final class Batch {

        private final SyncWriter lane;
        private List<RequestOp> operations = new ArrayList<>();
        private long bytes;

        Batch(SyncWriter lane) {
            this.lane = lane;
        }

        void add(RequestOp operation) {
            long more = Operations.bytes(operation);
            if (bytes + more > lane.room()) {
                flush();
            }
            operations.add(operation);
            bytes += more;
        }

        /** Writes what waits. */
        void flush() {
            if (!operations.isEmpty()) {
                write(null);
            }
        }

        /** Writes the rest, after which the target holds that range of the snapshot. */
        void complete(KeyRange copied) {
            write(copied);
        }

        private void write(@Nullable KeyRange copied) {
            lane.write(operations, copied);
            operations = new ArrayList<>();
            bytes = 0;
        }
    }

    /**
     * Entries with leases, written after all others: lock queues follow the order of key creation. Thread-safe.
     *
     * <p>Invariant M16: a snapshot writes keys with leases last, in the order of their creation.
     */
    private static final class LeasedEntries {

        /** Maximum total size of keys and values, which are held in memory. */
        static final long MAX_BYTES = 64L << 20;

        private final List<KeyValue> entries = new ArrayList<>();
        /** Entries without values. */
        private final List<KeyValue> seen = new ArrayList<>();

        private long bytes;

        /** @throws SinkException.Refused the entries exceed the limit */
        synchronized void add(KeyValue entry) {
            bytes += entry.bytes();
            if (bytes > MAX_BYTES) {
                throw new SinkException.Refused("keys with leases exceed " + (MAX_BYTES >> 20)
                        + " MiB, the limit of a sync. Set leases to drop, or exclude these keys");
            }
            entries.add(entry);
        }

        /** Adds an entry of the snapshot that the target may hold. */
        synchronized void saw(KeyValue entry) {
            seen.add(new KeyValue(
                    entry.key(),
                    ByteString.EMPTY,
                    entry.createRevision(),
                    entry.modRevision(),
                    entry.version(),
                    entry.lease()));
        }

        /** Returns all entries of the snapshot, without values. */
        synchronized List<KeyValue> seen() {
            return List.copyOf(seen);
        }

        /** Returns all entries in the order in which the source created their keys. */
        synchronized List<KeyValue> inOrder() {
            return entries.stream()
                    .sorted(Comparator.comparing(KeyValue::createRevision)
                            .thenComparing(KeyValue::key, KeyRange.KEY_ORDER))
                    .toList();
        }
    }

    /**
     * Collects the keys that a resynchronisation would delete, and enforces the limit of deletions. Memory is bounded by
     * the allowed keys. Thread-safe.
     *
     * <p>Invariant M17: no resynchronization deletes more keys than allowed.
     */
    static final class Prune {

        private static final Logger LOG = LoggerFactory.getLogger(Synchronisation.class);

        private static final int SHOWN = 10;

        private final String mirror;
        private final long held;
        private final EtcdSinkOptions options;
        private final long allowed;
        private final List<ByteString> shown = new ArrayList<>();
        private List<ByteString> keys = new ArrayList<>();
        private long count;

        /**
         * @param held number of keys in the target
         * @param options limit the deletions
         * @param replaced deletions allowed beyond the limit: those of a commit that the snapshot replaces
         */
        Prune(String mirror, long held, EtcdSinkOptions options, long replaced) {
            this.mirror = mirror;
            this.held = held;
            this.options = options;
            this.allowed = options.prunable(held) + replaced;
        }

        /**
         * Adds the keys that the copy of a snapshot would delete. Reads the keys of both sides by page; writes nothing.
         *
         * @param at the snapshot's revision
         * @param isOwn whether a target key that the source lacks is deleted, rather than kept
         * @throws SinkException.Unavailable the source was compacted meanwhile
         */
        void addSurplus(
                MirrorScope scope,
                TargetCalls source,
                Revision at,
                TargetCalls target,
                Predicate<io.etcd.jetcd.api.KeyValue> isOwn) {
            for (KeyRange range : scope.targetRanges()) {
                TargetKeys wanted = TargetKeys.withoutValues(source, scope.atSource(range), at);
                TargetKeys there = TargetKeys.withoutValues(target, range, Revision.ZERO);
                ByteString next = null;
                while (there.hasNext()) {
                    io.etcd.jetcd.api.KeyValue found = there.next();
                    while ((next == null || KeyRange.KEY_ORDER.compare(next, found.getKey()) < 0) && wanted.hasNext()) {
                        next = scope.inTarget(wanted.next().getKey());
                    }
                    if (!found.getKey().equals(next) && isOwn.test(found)) {
                        add(found.getKey());
                    }
                }
            }
        }

        synchronized void add(ByteString key) {
            count++;
            if (shown.size() < SHOWN) {
                shown.add(key);
            }
            if (count <= allowed) {
                keys.add(key);
            } else {
                keys = List.of();
            }
        }

        /**
         * Returns all keys to delete.
         *
         * @throws SinkException.Refused more than allowed
         */
        synchronized List<ByteString> keys() {
            if (count > allowed) {
                throw new SinkException.Refused(refusal());
            }
            if (count > 0) {
                LOG.atInfo()
                        .addKeyValue("mirror", mirror)
                        .addKeyValue("keys", count)
                        .addKeyValue("examples", shown(shown))
                        .log("deleting keys that are not in the source");
            }
            return keys;
        }

        private String refusal() {
            boolean isBack = options.limitsFirst();
            return "a resync would delete " + count + " of " + Counted.of(held, "key") + " in "
                    + (isBack ? "the former primary" : "the target") + ", such as " + shown(shown)
                    + "; maxPrunePercent allows " + options.maxPrunePercent() + " percent"
                    + ". No key was deleted. Verify the "
                    + (isBack ? "new primary" : "source")
                    + ", then increase maxPrunePercent until the mirror is synced";
        }

        /** Returns the keys for errors. */
        static String shown(List<ByteString> keys) {
            return String.join(
                    ", ",
                    keys.stream()
                            .map(key -> "\"" + TextFormat.escapeBytes(key) + "\"")
                            .toList());
        }
    }
}
