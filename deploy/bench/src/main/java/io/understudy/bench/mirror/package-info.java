/**
 * The mirror beside etcd's {@code make-mirror}, all real and on one machine.
 *
 * <p>Reading order: {@link io.understudy.bench.mirror.MirrorWork} defines the works and their targets, {@code Clusters}
 * are source and target, {@code MirrorRuns} take the figures, {@link io.understudy.bench.mirror.MirrorBench} orders
 * them.
 */
@NullMarked
package io.understudy.bench.mirror;

import org.jspecify.annotations.NullMarked;
