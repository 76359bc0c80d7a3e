/**
 * Common parts of benchmarks of programs that copy a cluster's writes. In reading order: a {@link
 * io.understudy.bench.relay.RelayBench.RelayWork} defines measurements and goals, a {@link io.understudy.bench.relay.RelayProcess}
 * copies, {@link io.understudy.bench.relay.SourceLoad} writes, {@link io.understudy.bench.relay.TargetView} reads, {@link
 * io.understudy.bench.relay.RelayBench} runs them in order.
 */
@NullMarked
package io.understudy.bench.relay;

import org.jspecify.annotations.NullMarked;
