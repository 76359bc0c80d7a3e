/**
 * Benchmarks against the peers, all real and on one machine. In reading order: {@link io.understudy.bench.Work} says what
 * is read and what is to be reached, {@link io.understudy.bench.ReadPath} by which ways; {@code TestBed} runs the servers,
 * a {@code LoadGenerator} sends the requests, {@code CpuMeter} tells what they cost; {@link
 * io.understudy.bench.ReadBench} puts them in order, and {@link io.understudy.bench.ReadReport} says how it went.
 */
@NullMarked
package io.understudy.bench;

import org.jspecify.annotations.NullMarked;
