/**
 * What is common to benchmarks of whoever brings a cluster's writes to somewhere else. In reading order: a {@link
 * io.understudy.bench.relay.RelayWork} says what is measured and what is to be reached, a {@link
 * io.understudy.bench.relay.RelayProcess} copies, {@link io.understudy.bench.relay.SourceLoad} writes, {@link
 * io.understudy.bench.relay.TargetView} looks, {@link io.understudy.bench.relay.RelayBench} puts runs in order.
 */
@NullMarked
package io.understudy.bench.relay;

import org.jspecify.annotations.NullMarked;
