package io.understudy.cli;

import io.understudy.bench.WatchBench;
import io.understudy.bench.WatchBenchSettings;
import io.understudy.bench.WatchWork;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy bench watch}: what watchers cost at the gateway and at its peers. */
@Command(
        name = "watch",
        sortOptions = false,
        description = {
            "Benchmark watchers at the leader, the gateway and etcd's grpc-proxy.",
            "Starts three voting members, a learner, grpc-proxy and a gateway on this machine and stops them "
                    + "afterwards. Checks that every watcher received every event exactly once."
        })
final class BenchWatchCommand implements Callable<Integer> {

    @Option(
            names = "--work",
            split = ",",
            converter = WorkConverter.class,
            paramLabel = "WORK",
            description = "Comma-separated benchmarks: idle, shared-100, each-100, shared-1000, each-1000, keys-10000, "
                    + "full-shared-1000, full-each-1000 (default: all).")
    private final List<WatchWork> works = new ArrayList<>();

    @Mixin
    private BenchFlags flags;

    @Option(
            names = "--puts",
            defaultValue = "100",
            paramLabel = "RATE",
            description = "Puts per second in benchmarks with a steady rate (default: 100).")
    private int puts;

    @Option(
            names = "--in-flight",
            split = ",",
            defaultValue = "16,64,256",
            paramLabel = "N",
            description =
                    "Puts in flight in the full-… benchmarks: sent but not yet delivered to every watcher (default: "
                            + "16,64,256). The fastest value is reported.")
    private final List<Integer> inFlight = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return BenchRun.run(this::settings, WatchBench::new, flags.wantJson(), spec.commandLine());
    }

    private WatchBenchSettings settings() {
        return new WatchBenchSettings(
                works.isEmpty() ? List.of(WatchWork.values()) : works, flags.schedule(), puts, inFlight);
    }

    private static final class WorkConverter implements ITypeConverter<WatchWork> {

        @Override
        public WatchWork convert(String text) {
            return WorkName.find(text, List.of(WatchWork.values()));
        }
    }
}
