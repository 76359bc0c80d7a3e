package io.understudy.mirror.etcd;

import java.time.Duration;

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

    /** Less can't nest what fits into a request. */
    public static final int LEAST_TXN_OPS = 16;

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
}
