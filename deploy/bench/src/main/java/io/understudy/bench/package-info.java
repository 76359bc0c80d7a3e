/**
 * Benchmarks against real peers on one machine; each result is an {@link io.understudy.bench.Experiment}. In reading order:
 * {@code Stage} starts the servers of a {@code TestBed}, {@link io.understudy.bench.ServerPath} names the ways to them, {@code
 * CpuMeter} measures their processor time. Reads: {@link io.understudy.bench.Work} defines requests and goals, a {@code
 * LoadGenerator} sends them, {@link io.understudy.bench.ReadBench} runs them in order. Watches: {@link
 * io.understudy.bench.WatchWork}, {@code WatchClient} with its {@code WatchConnection}s, {@code WatchDrive} which puts, {@code
 * WatchProbe}s, {@link io.understudy.bench.WatchBench}.
 */
@NullMarked
package io.understudy.bench;

import org.jspecify.annotations.NullMarked;
