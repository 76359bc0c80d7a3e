/**
 * Mirrors into another etcd cluster: each write carries the checkpoint. The target rejects a write if another writer
 * has changed the checkpoint.
 *
 * <p>{@link io.understudy.mirror.etcd.EtcdSink} decides what to write, {@code FencedWriter} writes it exactly once,
 * {@code TargetCalls} reaches the cluster.
 */
@NullMarked
package io.understudy.mirror.etcd;

import org.jspecify.annotations.NullMarked;
