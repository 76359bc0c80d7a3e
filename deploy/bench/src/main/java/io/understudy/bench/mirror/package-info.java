/**
 * The mirror beside etcd's {@code make-mirror}, all real and on one machine. In reading order:
 * {@link io.understudy.bench.mirror.MirrorWork} says what is measured and what is to be reached, {@code Clusters} are source and
 * target, {@code Measurements} take the figures, {@link io.understudy.bench.mirror.MirrorBench} puts them in order.
 */
@NullMarked
package io.understudy.bench.mirror;

import org.jspecify.annotations.NullMarked;
