package io.understudy.bench.command;

import io.understudy.bench.Schedule;
import java.time.Duration;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of benchmarks of the gateway. */
final class ScheduleOptions {

    @Mixin
    BenchCommand.RunOptions run;

    @Option(
            names = "--duration",
            defaultValue = "8s",
            paramLabel = "TIME",
            description = "Approximate duration of a run (default: 8s).")
    private Duration duration;

    @Option(
            names = "--warm-up",
            defaultValue = "4s",
            paramLabel = "TIME",
            description =
                    "Warm-up load before each run, not measured (default: 4s). Before the first run of a path, it "
                            + "repeats until the CPU cost stops falling.")
    private Duration warmUp;

    @Option(
            names = "--idle",
            defaultValue = "5s",
            paramLabel = "TIME",
            description = "Duration of the idle CPU measurement before each benchmark (default: 5s).")
    private Duration idle;

    @Option(
            names = "--round-trip",
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

    /** @throws IllegalArgumentException a value is not allowed; the message names it */
    Schedule schedule() {
        return new Schedule(run.runs, duration, warmUp, idle, roundTrip, authenticated);
    }

    /** Options of benchmarks of mirrors. */
    static final class RelayOptions {

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
}
