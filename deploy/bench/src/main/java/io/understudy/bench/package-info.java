/**
 * Benchmarks against the peers, all real and on one machine. In reading order: {@code Stage} starts the servers of a
 * {@code TestBed}, {@link io.understudy.bench.ServerPath} names the ways to them, {@code CpuMeter} tells what they cost.
 * Reads: {@link io.understudy.bench.Work} says what is read and what is to be reached, a {@code LoadGenerator} sends the
 * requests, {@link io.understudy.bench.ReadBench} puts them in order. Watches: {@link io.understudy.bench.WatchWork}, {@code WatchClient} with its {@code WatchConnection}s, {@code
 * WatchDrive} which puts, {@code WatchProbe}s, {@link io.understudy.bench.WatchBench}. The results of all are an {@link io.understudy.bench.Experiment}.
 */
@NullMarked
package io.understudy.bench;

import org.jspecify.annotations.NullMarked;
