package io.understudy.bench.relay;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchReport;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Measures relays in turn, so that whatever else the machine does meets all of them. */
public final class RelayBench<W extends RelayWork> implements Bench {

    /**
     * What to measure.
     *
     * @param runs how often each
     * @param heading lines for people
     * @param settings for programs
     */
    public record Plan<W>(List<W> works, int runs, List<String> heading, Map<String, Object> settings) {

        public Plan {
            works = List.copyOf(works);
            heading = List.copyOf(heading);
            settings = new LinkedHashMap<>(settings);
        }
    }

    /** One run of a work. */
    public interface Measuring<W> {

        /**
         * One run of one relay.
         *
         * @param etcd of the servers
         * @param number of the run, from 1
         * @return the figures of that relay, and of each that was measured beside it in the same run
         */
        Map<Relay, Map<RelayFigure, Double>> run(EtcdBinaries etcd, W work, Relay relay, int number)
                throws InterruptedException;
    }

    private final Plan<W> plan;
    private final Measuring<W> measuring;
    private final Progress progress;
    private final EtcdPrograms programs;

    /**
     * Starts nothing yet.
     *
     * @param progress where to show how far it is
     */
    public RelayBench(Plan<W> plan, Measuring<W> measuring, Progress progress) {
        this.plan = plan;
        this.measuring = measuring;
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
        List<RelayReport.Result> results = new ArrayList<>();
        for (W work : plan.works()) {
            results.add(new RelayReport.Result(work, runs(work)));
        }
        List<String> heading = new ArrayList<>(List.of(surroundings));
        heading.addAll(plan.heading());
        Map<String, Object> settings = new LinkedHashMap<>(Map.of("surroundings", surroundings));
        settings.putAll(plan.settings());
        return new RelayReport(heading, settings, results);
    }

    private Map<Relay, List<Map<RelayFigure, Double>>> runs(W work) throws InterruptedException {
        Map<Relay, List<Map<RelayFigure, Double>>> runs = new EnumMap<>(Relay.class);
        for (int number = 1; number <= plan.runs(); number++) {
            Map<Relay, Map<RelayFigure, Double>> measured = new EnumMap<>(Relay.class);
            for (Relay relay : work.relays()) {
                if (!measured.containsKey(relay)) {
                    Map<Relay, Map<RelayFigure, Double>> run =
                            new EnumMap<>(measuring.run(programs.found(), work, relay, number));
                    note(work, number, run);
                    measured.putAll(run);
                }
            }
            measured.forEach((relay, figures) ->
                    runs.computeIfAbsent(relay, each -> new ArrayList<>()).add(figures));
        }
        return runs;
    }

    private void note(W work, int number, Map<Relay, Map<RelayFigure, Double>> run) {
        run.forEach((relay, figures) -> progress.note(work + ", " + relay + ", run " + number + ": "
                + figures.entrySet().stream()
                        .map(each -> each.getKey().title() + " " + each.getKey().format(each.getValue()))
                        .collect(Collectors.joining(", "))));
    }

    /** Each run stops its own servers; those of one that is interrupted end with this JVM. */
    @Override
    public void close() {}
}
