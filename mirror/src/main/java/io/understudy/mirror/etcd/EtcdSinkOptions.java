package io.understudy.mirror.etcd;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * How a mirror writes to an etcd cluster.
 *
 * @param maxRequestBytes the target's {@code --max-request-bytes}: a larger commit is written in parts
 * @param maxTxnOps the target's {@code --max-txn-ops}: a longer commit is nested
 * @param progressInterval how often at most the checkpoint is moved when nothing in the range has changed
 */
public record EtcdSinkOptions(
        ForeignKeys onForeignKeys, int maxRequestBytes, int maxTxnOps, Duration progressInterval) {

    /** What etcd's own defaults are, and the configuration's. */
    public static final EtcdSinkOptions DEFAULTS =
            new EtcdSinkOptions(ForeignKeys.FAIL, 1_572_864, 128, Duration.ofSeconds(10));

    /** Less leaves no room for a checkpoint beside the data. */
    public static final int LEAST_REQUEST_BYTES = 16 * 1024;

    /** Less can't nest the smallest operations that fit into a request of etcd's default size. */
    public static final int LEAST_TXN_OPS = 40;

    private static final Setting<ForeignKeys> ON_FOREIGN_KEYS = Setting.choice(
                    "onForeignKeys",
                    ForeignKeys.class,
                    "What to do with keys that the target's range holds before its first synchronisation: fail, or"
                            + " delete or keep those that the source doesn't have.")
            .defaultsTo(DEFAULTS.onForeignKeys());
    private static final Setting<Long> MAX_REQUEST_BYTES = Setting.bytes(
                    "maxRequestBytes", "The target's --max-request-bytes; a larger commit is written in parts.")
            .defaultsTo((long) DEFAULTS.maxRequestBytes())
            .between((long) LEAST_REQUEST_BYTES, 1L << 30);
    private static final Setting<Integer> MAX_TXN_OPS = Setting.integer(
                    "maxTxnOps", "The target's --max-txn-ops; a longer commit is nested.")
            .defaultsTo(DEFAULTS.maxTxnOps())
            .between(LEAST_TXN_OPS, 1_000_000);

    /** The rows of all that can be configured, relative to the target's group. */
    public static final List<Setting<?>> ROWS = List.of(ON_FOREIGN_KEYS, MAX_REQUEST_BYTES, MAX_TXN_OPS);

    public EtcdSinkOptions {
        if (maxRequestBytes < LEAST_REQUEST_BYTES) {
            throw new IllegalArgumentException(
                    "maxRequestBytes is " + maxRequestBytes + "; allowed is " + LEAST_REQUEST_BYTES + " or more");
        }
        if (maxTxnOps < LEAST_TXN_OPS) {
            throw new IllegalArgumentException(
                    "maxTxnOps is " + maxTxnOps + "; allowed is " + LEAST_TXN_OPS + " or more");
        }
    }

    /** What {@link #ROWS} say. */
    public static EtcdSinkOptions from(Configuration group) {
        return new EtcdSinkOptions(
                group.get(ON_FOREIGN_KEYS),
                Math.toIntExact(group.get(MAX_REQUEST_BYTES)),
                group.get(MAX_TXN_OPS),
                DEFAULTS.progressInterval());
    }
}
