package io.understudy.mirror.etcd;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import io.understudy.mirror.lease.LeaseMode;
import java.time.Duration;
import java.util.Map;

/**
 * Options of a mirror into an etcd cluster.
 *
 * @param progressInterval minimum interval of checkpoint updates without changes in the range
 * @param marked whether marks are read from the source, too
 * @param limitsFirst whether {@code maxPrunePercent} applies to the first synchronisation of a mirror back, too
 */
public record EtcdSinkOptions(
        @Configured(
                value =
                        "Action for existing keys in the target's range at the initial sync. fail: stop. delete: delete keys"
                                + " that are not in the source. keep: keep them.",
                byDefault = "fail")
        ForeignKeys onForeignKeys,

        @Configured(
                value =
                        "Value of the target's --max-request-bytes. A larger commit is split into several transactions.",
                byDefault = "1536KiB",
                range = "16KiB..1GiB",
                bytes = true)
        int maxRequestBytes,

        @Configured(
                value = "Value of the target's --max-txn-ops. A larger commit is written as nested transactions.",
                byDefault = "128",
                range = "40..1000000")
        int maxTxnOps,

        Duration progressInterval,

        @Configured(
                value = "coalesced: consecutive source commits may be merged into one target commit. every-commit: each"
                        + " source commit becomes one target commit, which is slower.",
                byDefault = "coalesced")
        TargetHistory history,

        @Configured(
                value =
                        "drop: copy keys without leases. ttl: grant leases with the same IDs in the target and keep them"
                                + " alive while they exist in the source.",
                byDefault = "drop")
        LeaseMode leases,

        @Configured(value = "Number of concurrent snapshot transactions.", byDefault = "4", range = "1..64")
        int lanes,

        @Configured(
                value =
                        "Maximum percentage of the target's keys that a resync may delete. A resync that would delete more"
                                + " stops.",
                byDefault = "10",
                range = "0..100")
        int maxPrunePercent,

        @Configured(
                value =
                        "Action if the source history changed, because the source was restored from a backup or wiped. stop:"
                                + " report the differences and stop. resync: resync the target.",
                byDefault = "stop")
        SourceReset onSourceReset,

        boolean marked,
        boolean limitsFirst) {

    private static final Map<String, Object> FIXED =
            Map.of("progressInterval", Duration.ofSeconds(1), "marked", true, "limitsFirst", false);

    public static final EtcdSinkOptions DEFAULTS = Binder.defaults(EtcdSinkOptions.class, FIXED);

    private static final int ALL_PERCENT = 100;

    /** Minimum that leaves room for a checkpoint beside the data. */
    public static final int LEAST_REQUEST_BYTES = 16 * 1024;

    /** Minimum that nests the smallest operations fitting into a request of etcd's default size. */
    public static final int LEAST_TXN_OPS = 40;

    public EtcdSinkOptions {
        if (maxRequestBytes < LEAST_REQUEST_BYTES) {
            throw new IllegalArgumentException(
                    "maxRequestBytes is " + maxRequestBytes + "; must be at least " + LEAST_REQUEST_BYTES);
        }
        if (maxTxnOps < LEAST_TXN_OPS) {
            throw new IllegalArgumentException("maxTxnOps is " + maxTxnOps + "; must be at least " + LEAST_TXN_OPS);
        }
    }

    /** Returns the configured options. */
    public static EtcdSinkOptions from(Configuration group) {
        return group.bind(EtcdSinkOptions.class, FIXED);
    }

    /** Whether a resynchronisation may delete only a part of the target's keys. */
    public boolean limitsPrune() {
        return maxPrunePercent < ALL_PERCENT;
    }

    /** Returns how many of {@code held} keys a resynchronisation may delete. */
    public long prunable(long held) {
        return (long) (held * (maxPrunePercent / (double) ALL_PERCENT));
    }

    /** Returns the options of a mirror back: surplus keys are deleted, within the limit. */
    public EtcdSinkOptions back() {
        return Binder.with(with(ForeignKeys.DELETE), "limitsFirst", true);
    }

    /** Returns these options with another value of one enum option. */
    public EtcdSinkOptions with(Enum<?> choice) {
        return Binder.with(this, choice);
    }

    public EtcdSinkOptions withLimits(int requestBytes, int txnOps) {
        return Binder.with(Binder.with(this, "maxRequestBytes", requestBytes), "maxTxnOps", txnOps);
    }

    public EtcdSinkOptions withMarked(boolean value) {
        return Binder.with(this, "marked", value);
    }

    public EtcdSinkOptions withProgressInterval(Duration interval) {
        return Binder.with(this, interval);
    }

    public EtcdSinkOptions withMaxPrunePercent(int percent) {
        return Binder.with(this, "maxPrunePercent", percent);
    }

    /**
     * Action when the source has another history, as after a restore or wipe.
     *
     * <p>Invariant M18: another history of the source changes nothing in the target unless configured.
     */
    public enum SourceReset {
        /** Compare, report what differs, and stop. */
        STOP,
        /** Make the target equal to the source's current state. */
        RESYNC
    }

    /** Selects which states of the source watchers of the target see. */
    public enum TargetHistory {
        /** Some, in order: consecutive commits are merged, with the last write per key. */
        COALESCED,
        /** All: every source commit becomes one target commit. */
        EVERY_COMMIT
    }
}
