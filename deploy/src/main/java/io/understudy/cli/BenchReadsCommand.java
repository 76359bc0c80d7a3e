package io.understudy.cli;

import io.understudy.bench.EqualLoad;
import io.understudy.bench.Generator;
import io.understudy.bench.ReadBenchSettings;
import io.understudy.bench.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

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

    private enum Output {
        TABLE,
        JSON
    }

    @Option(
            names = "--work",
            split = ",",
            converter = WorkName.class,
            paramLabel = "WORK",
            description = "What to read: point, point-linearizable, prefix, json-point, json-prefix; several separated "
                    + "by commas. All by default.")
    private final List<Work> works = new ArrayList<>();

    @Option(names = "--runs", defaultValue = "3", paramLabel = "N", description = "Runs of each path; 3 by default.")
    private int runs;

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
                    "How long requests are sent before each run, 4s by default; before the first run of each path "
                            + "again and again until they get no cheaper.")
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
            paramLabel = "SHARE%%|RATE",
            description =
                    "The load at which latencies are compared: a share of what the slowest path answered, 50%% by "
                            + "default, or requests per second; 0 for no comparison.")
    private String equalLoad;

    @Option(
            names = "--round-trip",
            converter = DurationFlag.class,
            defaultValue = "0s",
            paramLabel = "TIME",
            description = "Keep the voters that far from gateway, learner, grpc-proxy and load; none by default.")
    private Duration roundTrip;

    @Option(
            names = "--load-generator",
            defaultValue = "auto",
            paramLabel = "auto|h2load|own",
            description = "What sends the requests; by default h2load if it is on PATH, else our own client.")
    private Generator generator;

    @Option(
            names = "--output",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "Form of the results; progress goes to standard error.")
    private Output output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return BenchRun.run(
                settings(),
                output == Output.JSON,
                spec.commandLine().getOut(),
                spec.commandLine().getErr());
    }

    private ReadBenchSettings settings() {
        try {
            return new ReadBenchSettings(
                    works.isEmpty() ? List.of(Work.values()) : works,
                    runs,
                    duration,
                    warmUp,
                    idle,
                    connections,
                    EqualLoad.parse(equalLoad),
                    roundTrip,
                    generator);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /** A work by the name that it has in the report. */
    private static final class WorkName implements ITypeConverter<Work> {

        @Override
        public Work convert(String text) {
            for (Work work : Work.values()) {
                if (work.toString().equals(text)) {
                    return work;
                }
            }
            throw new TypeConversionException("'" + text + "' is none of " + List.of(Work.values()));
        }
    }
}
