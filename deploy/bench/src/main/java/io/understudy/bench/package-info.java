/**
 * Benchmarks against the peers, all real and on one machine.
 *
 * <p>Reading order: {@code Stage} starts the servers of a {@code TestBed}, {@link io.understudy.bench.ServerPath} names
 * the paths to them, {@code CpuMeter} measures their CPU time. Reads: {@link io.understudy.bench.Work} defines the
 * reads and their targets, a {@code LoadGenerator} sends the requests, {@link io.understudy.bench.ReadBench} orders
 * them, {@link io.understudy.bench.ReadReport} has the results. Watches: {@link io.understudy.bench.WatchWork}, {@code
 * WatchClient} with its {@code WatchConnection}s, {@code WatchDrive} which puts, {@code WatchProbe}s, {@link
 * io.understudy.bench.WatchBench}, {@code WatchReport}.
 */
@NullMarked
package io.understudy.bench;

import org.jspecify.annotations.NullMarked;
