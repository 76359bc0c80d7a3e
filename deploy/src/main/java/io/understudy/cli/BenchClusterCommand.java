package io.understudy.cli;

import io.understudy.bench.cluster.ClusterBench;
import io.understudy.bench.cluster.ClusterBenchSettings;
import io.understudy.bench.cluster.ClusterWork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy bench cluster}: what writers notice while a cluster is reconfigured. */
@Command(
        name = "cluster",
        sortOptions = false,
        description = {
            "Measure the effect of cluster reconfiguration on writers.",
            "Each run starts three voting members and the members to add on this machine."
        })
final class BenchClusterCommand implements Callable<Integer> {

    @Option(
            names = "--work",
            split = ",",
            converter = WorkConverter.class,
            paramLabel = "WORK",
            description = "Comma-separated benchmarks: scale, join, failover (default: all).")
    private final List<ClusterWork> works = new ArrayList<>();

    @Mixin
    private RunFlags flags;

    @Option(
            names = "--puts",
            defaultValue = "500",
            paramLabel = "RATE",
            description = "Puts per second during the change (default: 500).")
    private int puts;

    @Option(
            names = "--megabytes",
            defaultValue = "500",
            paramLabel = "MB",
            description = "Data size of the cluster that a learner joins (default: 500).")
    private int megabytes;

    @Option(
            names = "--duration",
            converter = DurationFlag.class,
            defaultValue = "20s",
            paramLabel = "TIME",
            description =
                    "Duration of the load before each change, and of the baseline of the benchmark join (default: 20s).")
    private Duration duration;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return BenchRun.run(this::settings, ClusterBench::new, flags.wantJson(), spec.commandLine());
    }

    private ClusterBenchSettings settings() {
        return new ClusterBenchSettings(
                works.isEmpty() ? List.of(ClusterWork.values()) : works, flags.runs(), puts, megabytes, duration);
    }

    private static final class WorkConverter implements ITypeConverter<ClusterWork> {

        @Override
        public ClusterWork convert(String text) {
            return WorkName.find(text, List.of(ClusterWork.values()));
        }
    }
}
