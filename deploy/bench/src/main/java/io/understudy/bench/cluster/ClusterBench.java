package io.understudy.bench.cluster;

import io.understudy.bench.Bench;
import io.understudy.bench.Experiment;
import io.understudy.bench.Run;
import io.understudy.bench.Series;
import io.understudy.bench.Surroundings;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.Folders;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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
}
