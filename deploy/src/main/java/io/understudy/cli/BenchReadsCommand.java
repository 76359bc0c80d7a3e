package io.understudy.cli;

import io.understudy.bench.EqualLoad;
import io.understudy.bench.Generator;
import io.understudy.bench.ReadBench;
import io.understudy.bench.ReadBenchSettings;
import io.understudy.bench.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy bench reads}: what reads cost by way of the gateway and of its peers. */
@Command(
        name = "reads",
        sortOptions = false,
        description = {
            "Benchmark reads at the gateway, the learner, a follower and etcd's grpc-proxy.",
            "Starts three voting members, a learner, grpc-proxy and a gateway on this machine and stops them "
                    + "afterwards. Checks first that all return the same response."
        })
final class BenchReadsCommand implements Callable<Integer> {

    @Option(
            names = "--work",
            split = ",",
            converter = WorkConverter.class,
            paramLabel = "WORK",
            description = "Comma-separated benchmarks: point, point-linearizable, prefix, json-point, json-prefix "
                    + "(default: all).")
    private final List<Work> works = new ArrayList<>();

    @Mixin
    private BenchFlags flags;

    @Option(
            names = "--connections",
            defaultValue = "8",
            paramLabel = "N",
            description = "Number of gRPC connections (default: 8). JSON uses one connection per request in flight.")
    private int connections;

    @Option(
            names = "--equal-load",
            defaultValue = "50%",
            paramLabel = "SHARE%|RATE",
            description =
                    "Load for comparing latencies: a share of the slowest path's throughput, or a number of requests per second "
                            + "(default: 50%%). 0 disables the comparison.")
    private String equalLoad;

    @Option(
            names = "--load-generator",
            defaultValue = "auto",
            paramLabel = "auto|h2load|own",
            description = "Load generator. auto uses h2load if it is on PATH, else the built-in client.")
    private Generator generator;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return BenchRun.run(this::settings, ReadBench::new, flags.wantJson(), spec.commandLine());
    }

    private ReadBenchSettings settings() {
        return new ReadBenchSettings(
                works.isEmpty() ? List.of(Work.values()) : works,
                flags.schedule(),
                connections,
                EqualLoad.parse(equalLoad),
                generator);
    }

    private static final class WorkConverter implements ITypeConverter<Work> {

        @Override
        public Work convert(String text) {
            return WorkName.find(text, List.of(Work.values()));
        }
    }
}
