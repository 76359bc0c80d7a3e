package io.understudy.bench.command;

import io.understudy.bench.Bench;
import io.understudy.bench.Experiment;
import io.understudy.bench.ReadBench;
import io.understudy.bench.ReadBenchSettings;
import io.understudy.bench.ReadBenchSettings.EqualLoad;
import io.understudy.bench.ReadBenchSettings.Generator;
import io.understudy.bench.WatchBench;
import io.understudy.bench.WatchBenchSettings;
import io.understudy.bench.WatchWork;
import io.understudy.bench.Work;
import io.understudy.bench.cluster.ClusterBench;
import io.understudy.bench.cluster.ClusterBenchSettings;
import io.understudy.bench.cluster.ClusterWork;
import io.understudy.bench.command.ScheduleOptions.RelayOptions;
import io.understudy.bench.kafka.KafkaBench;
import io.understudy.bench.kafka.KafkaBenchSettings;
import io.understudy.bench.kafka.KafkaWork;
import io.understudy.bench.mirror.MirrorBench;
import io.understudy.bench.mirror.MirrorBenchSettings;
import io.understudy.bench.mirror.MirrorBenchSettings.Far;
import io.understudy.bench.mirror.MirrorWork;
import io.understudy.cli.Foreground;
import io.understudy.cli.LogFile;
import io.understudy.cli.Output;
import io.understudy.cli.Understudy;
import io.understudy.feed.etcd.WatchedVoter;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.Folders;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * {@code understudy bench}: one method per benchmark.
 *
 * <p>Results go to standard output, progress to standard error. Exit status as for {@link Understudy}.
 */
@Command(
        name = "understudy bench",
        description = "Benchmark against etcd's own tools on this machine.",
        synopsisSubcommandLabel = "COMMAND")
public final class BenchCommand implements Runnable {

    private static final Duration STOP_DEADLINE = Duration.ofSeconds(30);

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Print this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Makes a benchmark; starts nothing. */
    @FunctionalInterface
    private interface Factory<S> {

        Bench create(S settings, Path folder, Progress progress);
    }

    /** Options of every benchmark. */
    static final class RunOptions {

        @Option(
                names = "--runs",
                defaultValue = "3",
                paramLabel = "N",
                description = "Runs of each benchmark (default: 3).")
        int runs;

        @Option(
                names = "--output",
                paramLabel = "table|json",
                defaultValue = "table",
                description = "Output format. Progress goes to standard error.")
        Output.Form output;
    }

    public static void main(String[] arguments) {
        System.exit(Understudy.commandLine(new BenchCommand()).execute(arguments));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is required");
    }

    @Command(
            name = "reads",
            sortOptions = false,
            description = {
                "Benchmark reads at the gateway, the learner, a follower and etcd's grpc-proxy.",
                "Starts three voting members, a learner, grpc-proxy and a gateway on this machine and stops them "
                        + "afterwards. Checks first that all return the same response."
            })
    int reads(
            @Option(
                            names = "--work",
                            split = ",",
                            paramLabel = "WORK",
                            description =
                                    "Comma-separated benchmarks: point, point-linearizable, prefix, json-point, json-prefix "
                                            + "(default: all).")
                    @Nullable List<Work> works,
            @Mixin ScheduleOptions schedule,
            @Option(
                            names = "--connections",
                            defaultValue = "8",
                            paramLabel = "N",
                            description =
                                    "Number of gRPC connections (default: 8). JSON uses one connection per request in flight.")
                    int connections,
            @Option(
                            names = "--equal-load",
                            defaultValue = "50%",
                            paramLabel = "SHARE%|RATE",
                            description =
                                    "Load for comparing latencies: a share of the slowest path's throughput, or a number of requests per second "
                                            + "(default: 50%%). 0 disables the comparison.")
                    String equalLoad,
            @Option(
                            names = "--load-generator",
                            defaultValue = "auto",
                            paramLabel = "auto|h2load|own",
                            description =
                                    "Load generator. auto uses h2load if it is on PATH, else the built-in client.")
                    Generator generator)
            throws Exception {
        return measure(
                "reads",
                schedule.run.output,
                () -> new ReadBenchSettings(
                        works == null ? List.of(Work.values()) : works,
                        schedule.schedule(),
                        connections,
                        EqualLoad.parse(equalLoad),
                        generator),
                ReadBench::new);
    }

    @Command(
            name = "watch",
            sortOptions = false,
            description = {
                "Benchmark watchers at the leader, the gateway and etcd's grpc-proxy.",
                "Starts three voting members, a learner, grpc-proxy and a gateway on this machine and stops them "
                        + "afterwards. Checks that every watcher received every event exactly once."
            })
    int watch(
            @Option(
                            names = "--work",
                            split = ",",
                            paramLabel = "WORK",
                            description =
                                    "Comma-separated benchmarks: idle, shared-100, each-100, shared-1000, each-1000, keys-10000, "
                                            + "full-shared-1000, full-each-1000 (default: all).")
                    @Nullable List<WatchWork> works,
            @Mixin ScheduleOptions schedule,
            @Option(
                            names = "--puts",
                            defaultValue = "100",
                            paramLabel = "RATE",
                            description = "Puts per second in benchmarks with a steady rate (default: 100).")
                    int puts,
            @Option(
                            names = "--in-flight",
                            split = ",",
                            defaultValue = "16,64,256",
                            paramLabel = "N",
                            description =
                                    "Puts in flight in the full-… benchmarks: sent but not yet delivered to every watcher (default: "
                                            + "16,64,256). The fastest value is reported.")
                    List<Integer> inFlight)
            throws Exception {
        return measure(
                "watch",
                schedule.run.output,
                () -> new WatchBenchSettings(
                        works == null ? List.of(WatchWork.values()) : works, schedule.schedule(), puts, inFlight),
                WatchBench::new);
    }

    @Command(
            name = "mirror",
            sortOptions = false,
            description = {
                "Benchmark the mirror against etcdctl make-mirror.",
                "Each run starts a source (three voting members, one learner), a target, and the mirror or make-mirror on this machine."
            })
    int mirror(
            @Option(
                            names = "--work",
                            split = ",",
                            paramLabel = "WORK",
                            description =
                                    "Comma-separated benchmarks: first-sync, backlog, live, paced, verify, restart, resync"
                                            + " (default: all).")
                    @Nullable List<MirrorWork> works,
            @Mixin RelayOptions relay,
            @Option(
                            names = "--keys",
                            defaultValue = "100000",
                            paramLabel = "N",
                            description = "Keys that the mirror copies first (default: 100000).")
                    int keys,
            @Option(
                            names = "--make-mirror-keys",
                            defaultValue = "20000",
                            paramLabel = "N",
                            description = "Keys in make-mirror's first synchronization (default: 20000).")
                    int peerKeys,
            @Option(
                            names = "--backlog",
                            defaultValue = "20000",
                            paramLabel = "N",
                            description = "Commits made while the mirror is stopped (default: 20000).")
                    int backlog,
            @Option(
                            names = "--puts",
                            defaultValue = "200",
                            paramLabel = "RATE",
                            description = "Puts per second in benchmarks with a steady rate (default: 200).")
                    int puts,
            @Option(
                            names = "--writers",
                            defaultValue = "64",
                            paramLabel = "N",
                            description = "Concurrent writers in benchmarks without a steady rate (default: 64).")
                    int writers,
            @Option(
                            names = "--round-trip",
                            defaultValue = "0s",
                            paramLabel = "TIME",
                            description =
                                    "Simulated round-trip time between the mirror or make-mirror and the cluster of --far (default: none).")
                    Duration roundTrip,
            @Option(
                            names = "--cut",
                            defaultValue = "0s",
                            paramLabel = "TIME",
                            description =
                                    "Duration of network partitions of the cluster of --far (default: none). The first starts one"
                                            + " second into each measurement, then one every minute.")
                    Duration cut,
            @Option(
                            names = "--far",
                            defaultValue = "source",
                            paramLabel = "source|target",
                            description = "Cluster affected by --round-trip and --cut (default: source).")
                    Far far,
            @Option(
                            names = "--watch",
                            defaultValue = "follower",
                            paramLabel = "follower|leader",
                            description = "Role of the source member that the mirror watches (default: follower).")
                    WatchedVoter watch)
            throws Exception {
        return measure(
                "mirror",
                relay.run.output,
                () -> new MirrorBenchSettings(
                        works == null ? List.of(MirrorWork.values()) : works,
                        relay.run.runs,
                        keys,
                        peerKeys,
                        backlog,
                        relay.duration,
                        relay.warmUp,
                        puts,
                        writers,
                        roundTrip,
                        cut,
                        far,
                        watch),
                MirrorBench::of);
    }

    @Command(
            name = "kafka",
            sortOptions = false,
            description = {
                "Benchmark mirroring to Kafka, and from Kafka to another cluster, against a plain watch and Kafka's"
                        + " ProducerPerformance.",
                "Each run starts a source (three voting members, one learner), a broker, a target and mirrors on this"
                        + " machine."
            })
    int kafka(
            @Option(
                            names = "--work",
                            split = ",",
                            paramLabel = "WORK",
                            description = "Comma-separated benchmarks: history, single, paced (default: all).")
                    @Nullable List<KafkaWork> works,
            @Mixin RelayOptions relay,
            @Option(
                            names = "--changes",
                            defaultValue = "512000",
                            paramLabel = "N",
                            description =
                                    "Changes written by the benchmark history, in large commits (default: 512000).")
                    int changes,
            @Option(
                            names = "--commits",
                            defaultValue = "20000",
                            paramLabel = "N",
                            description =
                                    "Commits written by the benchmark single, of one change each (default: 20000).")
                    int commits,
            @Option(
                            names = "--puts",
                            defaultValue = "500",
                            paramLabel = "RATE",
                            description = "Puts per second in benchmarks with a steady rate (default: 500).")
                    int puts,
            @Option(
                            names = "--partitions",
                            defaultValue = "1",
                            paramLabel = "N",
                            description = "Partitions of the change topic (default: 1).")
                    int partitions)
            throws Exception {
        return measure(
                "kafka",
                relay.run.output,
                () -> new KafkaBenchSettings(
                        works == null ? List.of(KafkaWork.values()) : works,
                        relay.run.runs,
                        changes,
                        commits,
                        relay.duration,
                        relay.warmUp,
                        puts,
                        partitions),
                KafkaBench::of);
    }

    @Command(
            name = "cluster",
            sortOptions = false,
            description = {
                "Measure the effect of cluster reconfiguration on writers.",
                "Each run starts three voting members and the members to add on this machine."
            })
    int cluster(
            @Option(
                            names = "--work",
                            split = ",",
                            paramLabel = "WORK",
                            description = "Comma-separated benchmarks: scale, join, failover (default: all).")
                    @Nullable List<ClusterWork> works,
            @Mixin RunOptions run,
            @Option(
                            names = "--puts",
                            defaultValue = "500",
                            paramLabel = "RATE",
                            description = "Puts per second during the change (default: 500).")
                    int puts,
            @Option(
                            names = "--megabytes",
                            defaultValue = "500",
                            paramLabel = "MB",
                            description = "Data size of the cluster that a learner joins (default: 500).")
                    int megabytes,
            @Option(
                            names = "--duration",
                            defaultValue = "20s",
                            paramLabel = "TIME",
                            description =
                                    "Duration of the load before each change, and of the baseline of the benchmark join (default: 20s).")
                    Duration duration)
            throws Exception {
        return measure(
                "cluster",
                run.output,
                () -> new ClusterBenchSettings(
                        works == null ? List.of(ClusterWork.values()) : works, run.runs, puts, megabytes, duration),
                ClusterBench::new);
    }

    /**
     * Measures, or stops all servers on SIGINT or SIGTERM. The folder with their logs is kept after a failure.
     *
     * @throws ParameterException an option has a value that is not allowed
     */
    private <S> int measure(String name, Output.Form output, Supplier<S> options, Factory<S> factory) throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        S settings;
        try {
            settings = options.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.subcommands().get(name), String.valueOf(e.getMessage()), e);
        }
        Path folder = Files.createTempDirectory("understudy-bench-");
        LogFile.use(folder.resolve("bench.log"));
        Bench bench = factory.create(settings, folder, Progress.onStandardError(err, System.getenv()));
        return Foreground.during(bench, STOP_DEADLINE, () -> {
            try (bench) {
                Experiment report = bench.run();
                out.println(output == Output.Form.JSON ? report.toJson() : report.toText());
                out.flush();
            } catch (RuntimeException e) {
                err.println("Data and logs: " + folder);
                throw e;
            }
            Folders.delete(folder);
            return ExitCode.OK;
        });
    }
}
