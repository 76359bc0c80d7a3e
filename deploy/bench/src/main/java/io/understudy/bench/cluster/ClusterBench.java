package io.understudy.bench.cluster;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchException;
import io.understudy.bench.Experiment;
import io.understudy.bench.Figure;
import io.understudy.bench.Latencies;
import io.understudy.bench.Run;
import io.understudy.bench.Series;
import io.understudy.bench.Surroundings;
import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.Scale;
import io.understudy.cluster.supervise.SupervisorProcess;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Folders;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Measures what writers notice while a cluster is reconfigured. */
public final class ClusterBench implements Bench {

    private static final String CLUSTER = "cluster";

    private final ClusterBenchSettings settings;
    private final Path folder;
    private final Progress progress;
    private final EtcdPrograms programs;

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    public ClusterBench(ClusterBenchSettings settings, Path folder, Progress progress) {
        this.settings = settings;
        this.folder = folder;
        this.progress = progress;
        this.programs = new EtcdPrograms(progress);
    }

    @Override
    public Experiment run() throws InterruptedException {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        programs.find();
        ClusterMeasurements measurements = new ClusterMeasurements(programs.found(), settings);
        List<Experiment.Result> results = new ArrayList<>();
        for (ClusterWork work : settings.works()) {
            List<Run> runs = new ArrayList<>();
            for (int number = 1; number <= settings.runs(); number++) {
                Path place = folder.resolve(work + "-" + number);
                Run run = new Run(measurements.run(work, Folders.create(place)));
                Folders.delete(place);
                runs.add(run);
                progress.note(work + ", run " + number + ": " + run.toText());
            }
            results.add(new Experiment.Result(
                    work.toString(),
                    work.description(),
                    CLUSTER,
                    Map.of(CLUSTER, new Series(runs)),
                    work.goals(),
                    List.of()));
        }
        String surroundings = Surroundings.text(load, programs.found().version());
        return new Experiment(
                List.of(
                        surroundings,
                        settings.putsPerSecond() + " puts/s; " + settings.megabytes()
                                + " MB of data in benchmark join"),
                Map.of(
                        "surroundings",
                        surroundings,
                        "putsPerSecond",
                        settings.putsPerSecond(),
                        "megabytes",
                        settings.megabytes()),
                results);
    }

    /** Each run stops its own servers; those of one that is interrupted end with this JVM. */
    @Override
    public void close() {}

    /** One run of one work, each on a cluster of its own. */
    private record ClusterMeasurements(EtcdBinaries etcd, ClusterBenchSettings settings) {

        private static final int FEW = 3;
        private static final int MANY = 5;

        /** A voter that has not responded for this long is replaced. */
        private static final Duration DEAD = Duration.ofSeconds(5);

        Map<Figure, Double> run(ClusterWork work, Path folder) throws InterruptedException {
            try (BenchCluster cluster = new BenchCluster(etcd, folder)) {
                if (work == ClusterWork.JOIN) {
                    cluster.rehearseJoin(cluster.places().get(FEW));
                    cluster.fill(settings.megabytes());
                }
                try (SteadyWriter writer = new SteadyWriter(cluster.clientUrls(), settings.putsPerSecond())) {
                    // Connections, and a JVM that has seen it before.
                    TimeUnit.MILLISECONDS.sleep(settings.duration().toMillis());
                    writer.take();
                    Map<Figure, Double> figures =
                            switch (work) {
                                case SCALE -> scale(cluster, writer);
                                case JOIN -> join(cluster, writer);
                                case FAILOVER -> failover(cluster, writer);
                            };
                    figures.put(Figure.LOST, (double) writer.stopAndCountLost());
                    return figures;
                }
            }
        }

        private static Map<Figure, Double> scale(BenchCluster cluster, SteadyWriter writer)
                throws InterruptedException {
            Map<Figure, Double> figures = new EnumMap<>(Figure.class);
            figures.put(Figure.GROW_SECONDS, cluster.reach(new Scale(MANY, cluster.places())));
            figures.put(Figure.SHRINK_SECONDS, cluster.reach(new Scale(FEW, cluster.places())));
            figures.put(Figure.STALL_MILLIS, longestStall(writer.take()) / 1e6);
            return figures;
        }

        private Map<Figure, Double> join(BenchCluster cluster, SteadyWriter writer) throws InterruptedException {
            TimeUnit.MILLISECONDS.sleep(settings.duration().toMillis());
            double undisturbed = p99(writer.take());
            Map<Figure, Double> figures = new EnumMap<>(Figure.class);
            figures.put(
                    Figure.JOIN_SECONDS,
                    cluster.reach(new AddMember(cluster.places().get(FEW), false)));
            double meanwhile = p99(writer.take());
            figures.put(Figure.UNDISTURBED_P99_MILLIS, undisturbed);
            figures.put(Figure.JOIN_P99_MILLIS, meanwhile);
            figures.put(Figure.RATIO, meanwhile / undisturbed);
            return figures;
        }

        private static Map<Figure, Double> failover(BenchCluster cluster, SteadyWriter writer)
                throws InterruptedException {
            try (SupervisorProcess supervisor = cluster.supervise(FEW, DEAD)) {
                cluster.awaitStandby(supervisor, FEW);
                writer.take();
                long killed = System.nanoTime();
                String dead = cluster.killFollower();
                cluster.awaitReplaced(FEW, dead);
                double seconds = (System.nanoTime() - killed - DEAD.toNanos()) / 1e9;
                Map<Figure, Double> figures = new EnumMap<>(Figure.class);
                figures.put(Figure.FAILOVER_SECONDS, seconds);
                figures.put(Figure.STALL_MILLIS, longestStall(writer.take()) / 1e6);
                return figures;
            }
        }

        /** The longest time in which nothing was acknowledged. */
        private static long longestStall(List<SteadyWriter.Put> puts) {
            long[] times =
                    puts.stream().mapToLong(SteadyWriter.Put::nanos).sorted().toArray();
            long longest = 0;
            for (int i = 1; i < times.length; i++) {
                longest = Math.max(longest, times[i] - times[i - 1]);
            }
            return longest;
        }

        private static double p99(List<SteadyWriter.Put> puts) {
            if (puts.isEmpty()) {
                throw new BenchException("no put was acknowledged");
            }
            return Latencies.of(puts.stream()
                            .mapToLong(put -> put.tookNanos() / 1_000)
                            .toArray())
                    .millis(0.99);
        }
    }
}
