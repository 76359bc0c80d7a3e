/**
 * Mirrors into another etcd cluster: every write carries the checkpoint, and the target rejects it if another writer
 * has written the checkpoint meanwhile.
 *
 * <p>{@link io.understudy.mirror.etcd.EtcdSink} decides what to write, {@code FencedWriter} writes it exactly once,
 * {@code TargetCalls} reaches the cluster.
 */
@NullMarked
package io.understudy.mirror.etcd;

import org.jspecify.annotations.NullMarked;
