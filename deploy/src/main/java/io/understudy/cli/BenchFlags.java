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
            description = "About how long a run lasts; 8s by default.")
    private Duration duration;

    @Option(
            names = "--warm-up",
            converter = DurationFlag.class,
            defaultValue = "4s",
            paramLabel = "TIME",
            description =
                    "How long servers are loaded at a time without counting, 4s by default; before the first run of "
                            + "each path again and again until that gets no cheaper.")
    private Duration warmUp;

    @Option(
            names = "--idle",
            converter = DurationFlag.class,
            defaultValue = "5s",
            paramLabel = "TIME",
            description =
                    "How long the servers are watched before each work, for what they use when idle; 5s by default.")
    private Duration idle;

    @Option(
            names = "--round-trip",
            converter = DurationFlag.class,
            defaultValue = "0s",
            paramLabel = "TIME",
            description = "Keep the voters that far from gateway, learner, grpc-proxy and load; none by default.")
    private Duration roundTrip;

    @Option(
            names = "--auth",
            description =
                    "Enable authentication: all clients come with the token of a user who may read and write all.")
    private boolean authenticated;

    /** @throws IllegalArgumentException a value makes no sense; the message says which */
    Schedule schedule() {
        return new Schedule(flags.runs(), duration, warmUp, idle, roundTrip, authenticated);
    }

    boolean wantJson() {
        return flags.wantJson();
    }
}
