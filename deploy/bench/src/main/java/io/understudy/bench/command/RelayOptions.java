package io.understudy.bench.command;

import java.time.Duration;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of benchmarks of mirrors. */
final class RelayOptions {

    @Mixin
    BenchCommand.RunOptions run;

    @Option(
            names = "--duration",
            defaultValue = "10s",
            paramLabel = "TIME",
            description = "Duration of the measured load (default: 10s).")
    Duration duration;

    @Option(
            names = "--warm-up",
            defaultValue = "10s",
            paramLabel = "TIME",
            description = "Warm-up load before it, not measured (default: 10s).")
    Duration warmUp;
}
