package io.understudy.bench.mirror;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchReport;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Measures the mirror beside make-mirror, in turn, so that whatever else the machine does meets both. */
public final class MirrorBench implements Bench {

    private final MirrorBenchSettings settings;
    private final Path folder;
    private final Progress progress;
    private final EtcdPrograms programs;

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    public MirrorBench(MirrorBenchSettings settings, Path folder, Progress progress) {
        this.settings = settings;
        this.folder = folder;
        this.progress = progress;
        this.programs = new EtcdPrograms(progress);
    }

    @Override
    public BenchReport run() throws InterruptedException {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        programs.find();
        String surroundings = String.format(
                Locale.ROOT,
                "%d cores, load average before %.1f, etcd %s, Java %s",
                Runtime.getRuntime().availableProcessors(),
                load,
                programs.found().version(),
                System.getProperty("java.version"));
        Measurements measurements = new Measurements(programs.found(), folder, settings, progress);
        List<MirrorReport.Result> results = new ArrayList<>();
        for (MirrorWork work : settings.works()) {
            results.add(new MirrorReport.Result(work, runs(work, measurements)));
        }
        return new MirrorReport(settings, surroundings, results);
    }

    private Map<Relay, List<Map<MirrorFigure, Double>>> runs(MirrorWork work, Measurements measurements)
            throws InterruptedException {
        Map<Relay, List<Map<MirrorFigure, Double>>> runs = new EnumMap<>(Relay.class);
        for (int number = 1; number <= settings.runs(); number++) {
            for (Relay relay : work.relays()) {
                Map<MirrorFigure, Double> figures = measurements.run(work, relay, number);
                runs.computeIfAbsent(relay, each -> new ArrayList<>()).add(figures);
                progress.note(work + ", " + relay + ", run " + number + ": "
                        + figures.entrySet().stream()
                                .map(each -> each.getKey().title() + " "
                                        + each.getKey().format(each.getValue()))
                                .collect(Collectors.joining(", ")));
            }
        }
        return runs;
    }

    /** Each run stops its own servers; those of one that is interrupted end with this JVM. */
    @Override
    public void close() {}
}
