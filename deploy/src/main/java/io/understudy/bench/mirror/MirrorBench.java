package io.understudy.bench.mirror;

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
import java.util.Locale;
import java.util.Map;

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
        double load = RelayRuns.loadAverage();
        programs.find();
        String surroundings =
                RelayRuns.surroundings(load, programs.found().version().toString());
        Measurements measurements = new Measurements(programs.found(), folder, settings, progress);
        List<RelayReport.Result> results =
                RelayRuns.all(settings.works(), settings.runs(), measurements::run, progress);
        return new RelayReport(heading(surroundings), json(surroundings), results);
    }

    private List<String> heading(String surroundings) {
        List<String> lines = new ArrayList<>();
        lines.add(surroundings);
        lines.add("Source of three voters and a learner, target of one member, all new in each run; values of "
                + SourceLoad.VALUE_BYTES + " B; CPU: user and system time of the relay's process.");
        if (!settings.roundTrip().isZero()) {
            lines.add("The " + settings.far().name().toLowerCase(Locale.ROOT) + " is "
                    + settings.roundTrip().toMillis() + " ms (round trip) away from the relay.");
        }
        settings.works().forEach(work -> lines.add(work + ": " + demand(work)));
        return lines;
    }

    private String demand(MirrorWork work) {
        return switch (work) {
            case FIRST_SYNC -> settings.keys() + " keys, " + settings.peerKeys() + " for make-mirror";
            case BACKLOG -> settings.backlog() + " commits";
            case LIVE -> settings.writers() + " writers";
            case PACED -> settings.putsPerSecond() + " puts/s";
        };
    }

    private Map<String, Object> json(String surroundings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("surroundings", surroundings);
        all.put("durationMillis", settings.duration().toMillis());
        all.put("roundTripMillis", settings.roundTrip().toMillis());
        all.put("far", settings.far().name().toLowerCase(Locale.ROOT));
        return all;
    }

    /** Each run stops its own servers; those of one that is interrupted end with this JVM. */
    @Override
    public void close() {}
}
