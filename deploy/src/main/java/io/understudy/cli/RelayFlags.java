package io.understudy.cli;

import java.time.Duration;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What benchmarks of relays can be told; each has a rate of its own that suits where its relays go. */
final class RelayFlags {

    @Mixin
    private RunFlags flags;

    @Option(
            names = "--duration",
            converter = DurationFlag.class,
            defaultValue = "10s",
            paramLabel = "TIME",
            description = "Duration of the measured load (default: 10s).")
    private Duration duration;

    @Option(
            names = "--warm-up",
            converter = DurationFlag.class,
            defaultValue = "10s",
            paramLabel = "TIME",
            description = "Warm-up load before it, not measured (default: 10s).")
    private Duration warmUp;

    int runs() {
        return flags.runs();
    }

    Duration duration() {
        return duration;
    }

    Duration warmUp() {
        return warmUp;
    }

    boolean wantJson() {
        return flags.wantJson();
    }
}
