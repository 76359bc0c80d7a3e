package io.understudy.bench.cluster;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchReport;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.Folders;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Measures what writers notice while a cluster is reconfigured. */
public final class ClusterBench implements Bench {

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
    public BenchReport run() throws InterruptedException {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        programs.find();
        ClusterMeasurements measurements = new ClusterMeasurements(programs.found(), settings);
        List<ClusterReport.Result> results = new ArrayList<>();
        for (ClusterWork work : settings.works()) {
            List<Map<ClusterFigure, Double>> runs = new ArrayList<>();
            for (int number = 1; number <= settings.runs(); number++) {
                Path place = folder.resolve(work + "-" + number);
                Map<ClusterFigure, Double> run = measurements.run(work, Folders.create(place));
                Folders.delete(place);
                runs.add(run);
                progress.note(work + ", run " + number + ": "
                        + run.entrySet().stream()
                                .map(each -> each.getKey().title() + " "
                                        + each.getKey().format(each.getValue()))
                                .collect(Collectors.joining(", ")));
            }
            results.add(new ClusterReport.Result(work, runs));
        }
        String surroundings = String.format(
                Locale.ROOT,
                "%d cores, load average before %.1f, etcd %s, Java %s",
                Runtime.getRuntime().availableProcessors(),
                load,
                programs.found().version(),
                System.getProperty("java.version"));
        return new ClusterReport(surroundings, settings, results);
    }

    /** Each run stops its own servers; those of one that is interrupted end with this JVM. */
    @Override
    public void close() {}
}
