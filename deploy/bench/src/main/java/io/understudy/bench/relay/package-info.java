/**
 * The common parts of benchmarks of relays, which copy a cluster's writes to another place.
 *
 * <p>Reading order: a {@link io.understudy.bench.relay.RelayWork} defines what is measured and its target, a {@link
 * io.understudy.bench.relay.RelayProcess} copies, {@link io.understudy.bench.relay.SourceLoad} writes, {@link
 * io.understudy.bench.relay.TargetView} reads, {@link io.understudy.bench.relay.RelayBench} orders the runs, {@link
 * io.understudy.bench.relay.RelayReport} has the results.
 */
@NullMarked
package io.understudy.bench.relay;

import org.jspecify.annotations.NullMarked;
