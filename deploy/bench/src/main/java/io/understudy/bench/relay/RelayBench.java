package io.understudy.bench.relay;

import io.understudy.bench.Bench;
import io.understudy.bench.Experiment;
import io.understudy.bench.Figure;
import io.understudy.bench.Goal;
import io.understudy.bench.Run;
import io.understudy.bench.Series;
import io.understudy.bench.Surroundings;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures relays in turn, so that whatever else the machine does meets all of them. */
public final class RelayBench<W extends RelayBench.RelayWork> implements Bench {

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
        Map<Relay, Map<Figure, Double>> run(EtcdBinaries etcd, W work, Relay relay, int number)
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
    public Experiment run() throws InterruptedException {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        programs.find();
        String surroundings = Surroundings.text(load, programs.found().version());
        List<Experiment.Result> results = new ArrayList<>();
        for (W work : plan.works()) {
            results.add(new Experiment.Result(
                    work.toString(), work.description(), Relay.MIRROR.toString(), runs(work), work.goals(), List.of()));
        }
        List<String> heading = new ArrayList<>(List.of(surroundings));
        heading.addAll(plan.heading());
        Map<String, Object> settings = new LinkedHashMap<>(Map.of("surroundings", surroundings));
        settings.putAll(plan.settings());
        return new Experiment(heading, settings, results);
    }

    private Map<String, Series> runs(W work) throws InterruptedException {
        Map<Relay, List<Run>> runs = new EnumMap<>(Relay.class);
        for (int number = 1; number <= plan.runs(); number++) {
            Map<Relay, Map<Figure, Double>> measured = new EnumMap<>(Relay.class);
            for (Relay relay : work.relays()) {
                if (!measured.containsKey(relay)) {
                    Map<Relay, Map<Figure, Double>> run =
                            new EnumMap<>(measuring.run(programs.found(), work, relay, number));
                    note(work, number, run);
                    measured.putAll(run);
                }
            }
            measured.forEach((relay, figures) ->
                    runs.computeIfAbsent(relay, each -> new ArrayList<>()).add(new Run(figures)));
        }
        Map<String, Series> series = new LinkedHashMap<>();
        work.relays().forEach(relay -> series.put(relay.toString(), new Series(runs.getOrDefault(relay, List.of()))));
        return series;
    }

    private void note(W work, int number, Map<Relay, Map<Figure, Double>> run) {
        run.forEach((relay, figures) ->
                progress.note(work + ", " + relay + ", run " + number + ": " + new Run(figures).toText()));
    }

    /** Each run stops its own servers; those of one that is interrupted end with this JVM. */
    @Override
    public void close() {}

    /** What is measured; as text, its name. */
    public interface RelayWork {

        /** In a line, for people. */
        String description();

        /** Measured in turn, in this order. */
        List<Relay> relays();

        /** What the mirror is to reach. */
        List<Goal> goals();
    }
}
