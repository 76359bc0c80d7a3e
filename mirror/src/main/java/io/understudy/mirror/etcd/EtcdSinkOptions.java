package io.understudy.mirror.etcd;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.understudy.mirror.lease.LeaseMode;
import java.time.Duration;
import java.util.List;

/**
 * How a mirror writes to an etcd cluster.
 *
 * @param maxRequestBytes the target's {@code --max-request-bytes}: a larger commit is written in parts
 * @param maxTxnOps the target's {@code --max-txn-ops}: a longer commit is nested
 * @param progressInterval how often at most the checkpoint is moved when nothing in the range has changed
 * @param lanes how many transactions of a snapshot are on their way at a time
 * @param maxPrunePercent of the target's keys, which one resynchronisation may delete
 * @param limitsFirst whether the first synchronisation, too, may delete no more: so it is where a failback mirrors back
 */
public record EtcdSinkOptions(
        ForeignKeys onForeignKeys,
        int maxRequestBytes,
        int maxTxnOps,
        Duration progressInterval,
        TargetHistory history,
        LeaseMode leases,
        int lanes,
        int maxPrunePercent,
        SourceReset onSourceReset,
        boolean limitsFirst) {

    /** What etcd's own defaults are, and the configuration's. */
    public static final EtcdSinkOptions DEFAULTS = new EtcdSinkOptions(
            ForeignKeys.FAIL,
            1_572_864,
            128,
            Duration.ofSeconds(1),
            TargetHistory.COALESCED,
            LeaseMode.DROP,
            4,
            10,
            SourceReset.STOP,
            false);

    private static final int ALL_PERCENT = 100;

    /** Less leaves no room for a checkpoint beside the data. */
    public static final int LEAST_REQUEST_BYTES = 16 * 1024;

    /** Less can't nest the smallest operations that fit into a request of etcd's default size. */
    public static final int LEAST_TXN_OPS = 40;

    private static final Setting<ForeignKeys> ON_FOREIGN_KEYS = Setting.choice(
                    "onForeignKeys",
                    ForeignKeys.class,
                    "Action for existing keys in the target's range at the initial sync. fail: stop. delete: delete keys"
                            + " that are not in the source. keep: keep them.")
            .defaultsTo(DEFAULTS.onForeignKeys());
    private static final Setting<Long> MAX_REQUEST_BYTES = Setting.bytes(
                    "maxRequestBytes",
                    "Value of the target's --max-request-bytes. A larger commit is split into several transactions.")
            .defaultsTo((long) DEFAULTS.maxRequestBytes())
            .between((long) LEAST_REQUEST_BYTES, 1L << 30);
    private static final Setting<Integer> MAX_TXN_OPS = Setting.integer(
                    "maxTxnOps",
                    "Value of the target's --max-txn-ops. A larger commit is written as nested transactions.")
            .defaultsTo(DEFAULTS.maxTxnOps())
            .between(LEAST_TXN_OPS, 1_000_000);
    private static final Setting<TargetHistory> HISTORY = Setting.choice(
                    "history",
                    TargetHistory.class,
                    "coalesced: consecutive source commits may be merged into one target commit. every-commit: each source"
                            + " commit becomes one target commit, which is slower.")
            .defaultsTo(DEFAULTS.history());
    /** What becomes of leases. */
    public static final Setting<LeaseMode> LEASES = Setting.choice(
                    "leases",
                    LeaseMode.class,
                    "drop: copy keys without leases. ttl: grant leases with the same IDs in the target and keep them"
                            + " alive while they exist in the source.")
            .defaultsTo(DEFAULTS.leases());

    private static final Setting<Integer> LANES = Setting.integer(
                    "lanes", "Number of concurrent snapshot transactions.")
            .defaultsTo(DEFAULTS.lanes())
            .between(1, 64);
    private static final Setting<Integer> MAX_PRUNE_PERCENT = Setting.integer(
                    "maxPrunePercent",
                    "Maximum percentage of the target's keys that a resync may delete. A resync that would delete more stops.")
            .defaultsTo(DEFAULTS.maxPrunePercent())
            .between(0, ALL_PERCENT);
    private static final Setting<SourceReset> ON_SOURCE_RESET = Setting.choice(
                    "onSourceReset",
                    SourceReset.class,
                    "Action if the source history changed, because the source was restored from a backup or wiped. stop: report"
                            + " the differences and stop. resync: resync the target.")
            .defaultsTo(DEFAULTS.onSourceReset());

    /** The rows of all that can be configured, relative to the target's group. */
    public static final List<Setting<?>> ROWS = List.of(
            ON_FOREIGN_KEYS,
            MAX_REQUEST_BYTES,
            MAX_TXN_OPS,
            HISTORY,
            LEASES,
            LANES,
            MAX_PRUNE_PERCENT,
            ON_SOURCE_RESET);

    public EtcdSinkOptions {
        if (maxRequestBytes < LEAST_REQUEST_BYTES) {
            throw new IllegalArgumentException(
                    "maxRequestBytes is " + maxRequestBytes + "; must be at least " + LEAST_REQUEST_BYTES);
        }
        if (maxTxnOps < LEAST_TXN_OPS) {
            throw new IllegalArgumentException("maxTxnOps is " + maxTxnOps + "; must be at least " + LEAST_TXN_OPS);
        }
    }

    /** What {@link #ROWS} say. */
    public static EtcdSinkOptions from(Configuration group) {
        return new EtcdSinkOptions(
                group.get(ON_FOREIGN_KEYS),
                Math.toIntExact(group.get(MAX_REQUEST_BYTES)),
                group.get(MAX_TXN_OPS),
                DEFAULTS.progressInterval(),
                group.get(HISTORY),
                group.get(LEASES),
                group.get(LANES),
                group.get(MAX_PRUNE_PERCENT),
                group.get(ON_SOURCE_RESET),
                DEFAULTS.limitsFirst());
    }

    /** Whether a resynchronisation may delete some of the target's keys only. */
    public boolean limitsPrune() {
        return maxPrunePercent < ALL_PERCENT;
    }

    /** How many a resynchronisation may delete of so many keys that the target holds. */
    public long prunable(long held) {
        return (long) (held * (maxPrunePercent / (double) ALL_PERCENT));
    }

    /** For a mirror back into a cluster that is full of keys: those that aren't there any more are deleted, within the limit. */
    public EtcdSinkOptions back() {
        return new EtcdSinkOptions(
                ForeignKeys.DELETE,
                maxRequestBytes,
                maxTxnOps,
                progressInterval,
                history,
                leases,
                lanes,
                maxPrunePercent,
                onSourceReset,
                true);
    }

    public EtcdSinkOptions with(ForeignKeys policy) {
        return new EtcdSinkOptions(
                policy,
                maxRequestBytes,
                maxTxnOps,
                progressInterval,
                history,
                leases,
                lanes,
                maxPrunePercent,
                onSourceReset,
                limitsFirst);
    }

    public EtcdSinkOptions with(TargetHistory newHistory) {
        return new EtcdSinkOptions(
                onForeignKeys,
                maxRequestBytes,
                maxTxnOps,
                progressInterval,
                newHistory,
                leases,
                lanes,
                maxPrunePercent,
                onSourceReset,
                limitsFirst);
    }

    public EtcdSinkOptions with(LeaseMode mode) {
        return new EtcdSinkOptions(
                onForeignKeys,
                maxRequestBytes,
                maxTxnOps,
                progressInterval,
                history,
                mode,
                lanes,
                maxPrunePercent,
                onSourceReset,
                limitsFirst);
    }

    public EtcdSinkOptions with(SourceReset policy) {
        return new EtcdSinkOptions(
                onForeignKeys,
                maxRequestBytes,
                maxTxnOps,
                progressInterval,
                history,
                leases,
                lanes,
                maxPrunePercent,
                policy,
                limitsFirst);
    }

    public EtcdSinkOptions withLimits(int requestBytes, int txnOps) {
        return new EtcdSinkOptions(
                onForeignKeys,
                requestBytes,
                txnOps,
                progressInterval,
                history,
                leases,
                lanes,
                maxPrunePercent,
                onSourceReset,
                limitsFirst);
    }

    public EtcdSinkOptions withProgressInterval(Duration interval) {
        return new EtcdSinkOptions(
                onForeignKeys,
                maxRequestBytes,
                maxTxnOps,
                interval,
                history,
                leases,
                lanes,
                maxPrunePercent,
                onSourceReset,
                limitsFirst);
    }

    public EtcdSinkOptions withMaxPrunePercent(int percent) {
        return new EtcdSinkOptions(
                onForeignKeys,
                maxRequestBytes,
                maxTxnOps,
                progressInterval,
                history,
                leases,
                lanes,
                percent,
                onSourceReset,
                limitsFirst);
    }
}
