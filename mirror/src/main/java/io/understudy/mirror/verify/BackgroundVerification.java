package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdMessages;
import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.mirror.verify.VerifyOptions.ForeignWrites;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Continuously compares a target with its source while the mirror runs, at a bounded rate. Each slice of keys has its
 * own pair of revisions, so that compaction never prevents the end of a pass. Before each slice, it compares keys of
 * foreign writes and known differences. A difference is reported only if a second, later read confirms it; {@link
 * ForeignWrites#REPAIR} then repairs it.
 *
 * <p>Metrics, tagged {@code mirror}: {@code understudy.mirror.verify.keys}, {@code .verify.passes}, {@code
 * .verify.differences} (those known now), {@code .foreign} (found since the start), {@code .repaired}.
 *
 * <p>One thread, but for {@link #status}.
 *
 * <p>Invariant M32: foreign writes in the target are detected and reported, and repaired if configured.
 */
public final class BackgroundVerification {

    private static final Logger LOG = LoggerFactory.getLogger(BackgroundVerification.class);

    private static final int SLICE_SECONDS = 2;
    /** Least time between two passes. */
    private static final long PASS_NANOS = TimeUnit.SECONDS.toNanos(3);
    /** Differences that end a slice, so that all are compared twice. */
    private static final int MAX_FOUND = 100;

    /** Page size of either side. One page is read ahead, and discarded at the end of a slice. */
    private static final long PAGE_BYTES = 128 << 10;

    private static final int SHOWN = 20;
    private static final int REPAIR_ATTEMPTS = 20;
    private static final int MAX_SUSPECTS = 1_000;
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Sides sides;
    private final VerifyOptions options;
    private final ForeignRevisions foreign;
    private final Repair repair;
    private final KnownDifferences known = new KnownDifferences();
    private final Counter keysCounter;
    private final Counter passesCounter;
    private final Counter foundCounter;
    private final Counter repairedCounter;
    private final int sliceKeys;
    private final Slices slices;

    private long passFrom = System.nanoTime();
    private long keysOfPass;
    private volatile long keys;
    private volatile @Nullable Instant lastPass;
    private volatile @Nullable String problem;

    /** @param sides closed by the caller */
    public BackgroundVerification(
            Sides sides, VerifyOptions options, ForeignRevisions foreign, Repair repair, MeterRegistry meters) {
        this.sides = sides.readBy(PAGE_BYTES);
        this.options = options;
        this.foreign = foreign;
        this.repair = repair;
        this.sliceKeys = Math.toIntExact(Math.min(Integer.MAX_VALUE, (long) SLICE_SECONDS * options.keysPerSecond()));
        this.slices = new Slices(sides.scope().targetRanges(), sliceKeys);
        this.keysCounter = counter(MirrorMeter.VERIFY_KEYS, meters);
        this.passesCounter = counter(MirrorMeter.VERIFY_PASSES, meters);
        this.foundCounter = counter(MirrorMeter.FOREIGN, meters);
        this.repairedCounter = counter(MirrorMeter.REPAIRED, meters);
    }

    /**
     * Compares suspect keys, then the next slice if it is due. Takes some seconds by the bounded rate. {@link #status}
     * has the failures.
     */
    public void step() throws InterruptedException {
        try {
            ConsistentPair now = ConsistentPair.now(sides);
            compareSuspects(now);
            long compared = 0;
            boolean isShort = System.nanoTime() - passFrom >= 0;
            while (isShort && compared < sliceKeys / 2) {
                ByteString from = slices.from();
                RangeComparison first = RangeComparison.at(now, slices.next(), sliceKeys, MAX_FOUND, pace());
                compare(known.between(from, first.next() == null ? slices.end() : first.next()), first);
                boolean ended = slices.compared(first.keys(), first.next()) == null;
                advance(first.keys(), ended);
                compared += first.keys();
                isShort = first.next() == null && !ended;
            }
            problem = null;
        } catch (CompactedException e) {
            problem = "source or target was compacted to its current revision during the comparison";
        } catch (IncomparableException e) {
            problem = e.getMessage();
        }
    }

    private void compareSuspects(ConsistentPair now)
            throws CompactedException, IncomparableException, InterruptedException {
        NavigableSet<ByteString> suspects = new TreeSet<>(KeyRange.KEY_ORDER);
        suspects.addAll(foreign.keys(now, MAX_SUSPECTS));
        known.first(MAX_FOUND).forEach(each -> suspects.add(each.targetKey()));
        NavigableSet<ByteString> left = suspects;
        while (!left.isEmpty()) {
            List<KeyRange> ranges = left.stream().map(KeyRange::single).toList();
            RangeComparison look =
                    RangeComparison.at(now, ranges, Long.MAX_VALUE, MAX_FOUND, RangeComparison.Pace.NONE);
            ByteString next = look.next();
            compare(next == null ? left : left.headSet(next, false), look);
            left = next == null ? Collections.emptyNavigableSet() : left.tailSet(next, true);
        }
    }

    private void compare(Collection<ByteString> compared, RangeComparison first)
            throws CompactedException, IncomparableException, InterruptedException {
        RangeComparison second = first.again();
        report(known.found(compared, differences(second)));
        if (options.onForeignWrites() == ForeignWrites.REPAIR && !second.found().isEmpty()) {
            repair(second);
        }
        keysCounter.increment((double) first.keys());
    }

    /** Returns the state of the comparison. Any thread. */
    public VerifyStatus status() {
        return new VerifyStatus(
                (long) passesCounter.count(),
                lastPass,
                keys,
                known.count(),
                known.first(SHOWN),
                (long) repairedCounter.count(),
                problem);
    }

    private void advance(long compared, boolean ended) {
        keysOfPass += compared;
        if (ended || lastPass == null) {
            keys = keysOfPass;
        }
        if (ended) {
            keysOfPass = 0;
            passFrom = System.nanoTime() + PASS_NANOS;
            passesCounter.increment();
            lastPass = Instant.now();
        }
    }

    private void report(List<Difference> fresh) {
        foundCounter.increment(fresh.size());
        for (Difference difference : fresh.subList(0, Math.min(SHOWN, fresh.size()))) {
            LOG.atWarn()
                    .addKeyValue("mirror", sides.mirror())
                    .addKeyValue("key", difference.shown())
                    .log("target differs from source");
        }
        if (fresh.size() > SHOWN) {
            LOG.atWarn()
                    .addKeyValue("mirror", sides.mirror())
                    .addKeyValue("keys", fresh.size() - SHOWN)
                    .log("further keys of the target differ from the source");
        }
    }

    private void repair(RangeComparison differing)
            throws CompactedException, IncomparableException, InterruptedException {
        RangeComparison left = differing;
        for (int i = 0; i < REPAIR_ATTEMPTS && !left.found().isEmpty(); i++) {
            Repair.Attempt attempt = repair.begin(keys(left));
            if (attempt == null) {
                break;
            }
            left = left.again();
            var operations = repairs(left);
            if (operations.isEmpty() || !attempt.write(operations)) {
                break;
            }
            left = left.again();
        }
        int repaired = differing.found().size() - left.found().size();
        repairedCounter.increment(repaired);
        List<Difference> unused = known.found(keys(differing), differences(left));
        LOG.atInfo()
                .addKeyValue("mirror", sides.mirror())
                .addKeyValue("repaired", repaired)
                .addKeyValue("left", left.found().size())
                .log("differing keys repaired");
    }

    /**
     * Returns a nested transaction for each key that can be restored. Other clients may write to the target meanwhile, so
     * each compares the mod revision of its key.
     *
     * <p>Keys with leases are left alone where leases are kept: they are restored, with leases that exist, when the
     * mirror starts.
     */
    private static Map<ByteString, RequestOp> repairs(RangeComparison look) {
        Map<ByteString, RequestOp> operations = new LinkedHashMap<>();
        for (RangeComparison.Found found : look.found()) {
            ByteString key = found.difference().targetKey();
            KeyValue source = found.source();
            KeyValue target = found.target();
            if (found.difference().kind() == Kind.LEASE
                    || (source != null
                            && source.lease() != 0
                            && look.pair().sides().leases())) {
                continue;
            }
            TxnRequest.Builder guarded = TxnRequest.newBuilder()
                    .addCompare(EtcdMessages.unmodified(
                            key, target == null ? 0 : target.modRevision().value()));
            if (source == null
                    && target != null
                    && target.createRevision().isBefore(look.pair().created())) {
                // It may have been there before the mirror, and kept when that was configured.
                guarded.addCompare(EtcdMessages.unmodified(
                        ReservedKeys.keptForeign(look.pair().sides().mirror()), 0));
            }
            guarded.addSuccess(source == null ? EtcdMessages.delete(key) : EtcdMessages.put(key, source.value()));
            operations.put(key, RequestOp.newBuilder().setRequestTxn(guarded).build());
        }
        return operations;
    }

    private RangeComparison.Pace pace() {
        long began = System.nanoTime();
        return compared -> {
            long due = began + TimeUnit.SECONDS.toNanos(1) * compared / options.keysPerSecond();
            long early = due - System.nanoTime();
            if (early > MIN_PAUSE_NANOS) {
                TimeUnit.NANOSECONDS.sleep(early);
            }
        };
    }

    private static List<ByteString> keys(RangeComparison look) {
        return look.found().stream()
                .map(found -> found.difference().targetKey())
                .toList();
    }

    private static List<Difference> differences(RangeComparison look) {
        return look.found().stream().map(RangeComparison.Found::difference).toList();
    }

    private Counter counter(MirrorMeter meter, MeterRegistry meters) {
        return meter.counter().tag("mirror", sides.mirror()).register(meters);
    }

    /** The keys that differed in their last comparison; a bounded number of them. Thread-safe. */
    private static final class KnownDifferences {

        private static final int MAX_KNOWN = 10_000;

        private final NavigableMap<ByteString, Difference> byKey = new TreeMap<>(KeyRange.KEY_ORDER);

        /**
         * Records the result of a comparison.
         *
         * @return new differences
         */
        synchronized List<Difference> found(Collection<ByteString> compared, List<Difference> differing) {
            List<Difference> fresh = differing.stream()
                    .filter(difference -> !difference.equals(byKey.get(difference.targetKey())))
                    .toList();
            compared.forEach(byKey::remove);
            for (Difference difference : differing) {
                if (byKey.size() < MAX_KNOWN) {
                    byKey.put(difference.targetKey(), difference);
                }
            }
            return fresh;
        }

        /** Known keys from one on, and before another; null for no end. */
        synchronized List<ByteString> between(ByteString from, @Nullable ByteString to) {
            return List.copyOf((to == null ? byKey.tailMap(from, true) : byKey.subMap(from, true, to, false)).keySet());
        }

        synchronized int count() {
            return byKey.size();
        }

        synchronized List<Difference> first(int count) {
            return byKey.values().stream().limit(count).toList();
        }
    }

    /**
     * State of the background comparison.
     *
     * @param passes how often all keys have been compared since the start
     * @param lastPass when the last pass ended; null before the first
     * @param keys compared in the last whole pass; before its end, so far in the first
     * @param differing keys that differed in their last comparison
     * @param differences the first of them, in key order
     * @param repaired how many were repaired since the start
     * @param problem why the last attempt failed; null if it didn't
     */
    public record VerifyStatus(
            long passes,
            @Nullable Instant lastPass,
            long keys,
            long differing,
            List<Difference> differences,
            long repaired,
            @Nullable String problem) {}
}
