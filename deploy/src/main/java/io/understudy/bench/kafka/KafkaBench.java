package io.understudy.bench.kafka;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchReport;
import io.understudy.bench.relay.RelayReport;
import io.understudy.bench.relay.RelayRuns;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures the mirror into Kafka, and from there on. */
public final class KafkaBench implements Bench {

    private final KafkaBenchSettings settings;
    private final Path folder;
    private final Progress progress;
    private final EtcdPrograms programs;

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    public KafkaBench(KafkaBenchSettings settings, Path folder, Progress progress) {
        this.settings = settings;
        this.folder = folder;
        this.progress = progress;
        this.programs = new EtcdPrograms(progress);
    }

    @Override
    public BenchReport run() throws InterruptedException {
        double load = RelayRuns.loadAverage();
        programs.find();
        String surroundings =
                RelayRuns.surroundings(load, programs.found().version().toString());
        KafkaMeasurements measurements = new KafkaMeasurements(programs.found(), folder, settings, progress);
        List<RelayReport.Result> results =
                RelayRuns.all(settings.works(), settings.runs(), measurements::run, progress);
        return new RelayReport(heading(surroundings), json(surroundings), results);
    }

    private List<String> heading(String surroundings) {
        List<String> lines = new ArrayList<>();
        lines.add(surroundings);
        lines.add(
                "Source of three voters and a learner, one Kafka broker, a cluster of one member behind it, all new in"
                        + " each run; values of " + SourceLoad.VALUE_BYTES
                        + " B; CPU: user and system time of the process that brings it there last.");
        settings.works().forEach(work -> lines.add(work + ": " + demand(work)));
        return lines;
    }

    private String demand(KafkaWork work) {
        return switch (work) {
            case HISTORY -> settings.changes() + " changes";
            case SINGLE -> settings.commits() + " commits";
            case PACED -> settings.putsPerSecond() + " puts/s";
        };
    }

    private Map<String, Object> json(String surroundings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("surroundings", surroundings);
        all.put("durationMillis", settings.duration().toMillis());
        all.put("changes", settings.changes());
        all.put("commits", settings.commits());
        all.put("putsPerSecond", settings.putsPerSecond());
        return all;
    }

    /** Each run stops its own servers; those of one that is interrupted end with this JVM. */
    @Override
    public void close() {}
}
