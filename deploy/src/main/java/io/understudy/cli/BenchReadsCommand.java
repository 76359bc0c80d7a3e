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
            "Measure reads at the gateway, the learner, a follower and etcd's grpc-proxy, in turn.",
            "Starts three voters, a learner, grpc-proxy and a gateway on this machine, checks that all answer alike, "
                    + "measures, and stops all."
        })
final class BenchReadsCommand implements Callable<Integer> {

    @Option(
            names = "--work",
            split = ",",
            converter = WorkConverter.class,
            paramLabel = "WORK",
            description = "What to read: point, point-linearizable, prefix, json-point, json-prefix; several separated "
                    + "by commas. All by default.")
    private final List<Work> works = new ArrayList<>();

    @Mixin
    private BenchFlags flags;

    @Option(
            names = "--connections",
            defaultValue = "8",
            paramLabel = "N",
            description =
                    "Connections that gRPC requests are spread over; 8 by default. With JSON there is one for each "
                            + "request in flight.")
    private int connections;

    @Option(
            names = "--equal-load",
            defaultValue = "50%",
            paramLabel = "SHARE%|RATE",
            description =
                    "The load at which latencies are compared: a share of what the slowest path answered, 50%% by "
                            + "default, or requests per second; 0 for no comparison.")
    private String equalLoad;

    @Option(
            names = "--load-generator",
            defaultValue = "auto",
            paramLabel = "auto|h2load|own",
            description = "What sends the requests; by default h2load if it is on PATH, else our own client.")
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
