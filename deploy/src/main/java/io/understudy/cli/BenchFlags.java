package io.understudy.cli;

import io.understudy.bench.Schedule;
import java.time.Duration;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What benchmarks of the gateway can be told. */
final class BenchFlags {

    @Mixin
    private RunFlags flags;

    @Option(
            names = "--duration",
            converter = DurationFlag.class,
            defaultValue = "8s",
            paramLabel = "TIME",
            description = "Approximate duration of a run (default: 8s).")
    private Duration duration;

    @Option(
            names = "--warm-up",
            converter = DurationFlag.class,
            defaultValue = "4s",
            paramLabel = "TIME",
            description =
                    "Warm-up load before each run, not measured (default: 4s). Before the first run of a path, it "
                            + "repeats until the CPU cost stops falling.")
    private Duration warmUp;

    @Option(
            names = "--idle",
            converter = DurationFlag.class,
            defaultValue = "5s",
            paramLabel = "TIME",
            description = "Duration of the idle CPU measurement before each benchmark (default: 5s).")
    private Duration idle;

    @Option(
            names = "--round-trip",
            converter = DurationFlag.class,
            defaultValue = "0s",
            paramLabel = "TIME",
            description =
                    "Simulated round-trip time between the voting members and gateway, learner, grpc-proxy and load"
                            + " (default: none).")
    private Duration roundTrip;

    @Option(
            names = "--auth",
            description =
                    "Enable authentication. All clients use the token of a user with read and write access to all keys.")
    private boolean authenticated;

    /** @throws IllegalArgumentException a value makes no sense; the message says which */
    Schedule schedule() {
        return new Schedule(flags.runs(), duration, warmUp, idle, roundTrip, authenticated);
    }

    boolean wantJson() {
        return flags.wantJson();
    }
}
