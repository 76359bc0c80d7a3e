package io.understudy.bench;

import io.understudy.bench.WorkMeasuring.Measuring;
import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures reads by way of the gateway beside the same reads by way of its peers, in turn, so that whatever else the
 * machine does meets all of them.
 */
public final class ReadBench implements Bench {

    private final ReadBenchSettings settings;
    private final Path folder;
    private final Stage stage;

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data, logs and files of the load generator
     * @param progress where to show how far it is
     */
    public ReadBench(ReadBenchSettings settings, Path folder, Progress progress) {
        this.settings = settings;
        this.folder = folder;
        this.stage = new Stage(folder, settings.schedule(), progress);
    }

    /**
     * Starts the servers and measures.
     *
     * @throws BenchException a path failed, or answers something else than the learner; or there is no such load
     *     generator
     */
    @Override
    public Experiment run() throws InterruptedException {
        LoadGenerator generator = generator();
        TestBed servers = stage.start();
        CpuMeter cpu = new CpuMeter(servers.servers(), settings.schedule());
        Measuring measuring = new Measuring(generator, cpu, settings.schedule());
        List<Experiment.Result> results = new ArrayList<>();
        for (Work work : settings.works()) {
            results.addAll(new WorkMeasuring(work, settings, servers, measuring, stage::note).run());
        }
        Surroundings surroundings = stage.surroundings(servers, generator.description());
        return new Experiment(heading(surroundings), settings.schedule().json(surroundings), results);
    }

    private List<String> heading(Surroundings surroundings) {
        Schedule schedule = settings.schedule();
        List<String> lines = new ArrayList<>();
        lines.add(surroundings.toText());
        lines.add("Paths in turn; each run has " + Experiment.seconds(schedule.warmUp()) + " of warm-up and about "
                + Experiment.seconds(schedule.duration())
                + " of measurement; runs at equal load have no warm-up. Medians are per figure.");
        lines.add("CPU: user and system time of all server processes of the path, minus idle usage.");
        lines.addAll(schedule.notes("load", ", except for gateway-near."));
        return lines;
    }

    private LoadGenerator generator() {
        return switch (settings.generator()) {
            case AUTO -> H2Load.find(System.getenv(), folder).orElseGet(OwnClient::new);
            case OWN -> new OwnClient();
            case H2LOAD ->
                H2Load.find(System.getenv(), folder)
                        .orElseThrow(() -> new BenchException(
                                "h2load is not on PATH; install it (Debian package nghttp2-client) or use"
                                        + " --load-generator=own"));
        };
    }

    @Override
    public void close() {
        stage.close();
    }
}
