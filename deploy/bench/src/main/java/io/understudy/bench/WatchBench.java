package io.understudy.bench;

import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Measures watchers at the gateway beside the same watchers at the leader and at grpc-proxy, in turn, so that whatever
 * else the machine does meets all of them.
 */
public final class WatchBench implements Bench {

    private final WatchBenchSettings settings;
    private final Stage stage;

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    public WatchBench(WatchBenchSettings settings, Path folder, Progress progress) {
        this.settings = settings;
        this.stage = new Stage(folder, settings.schedule(), progress);
    }

    /**
     * Starts the servers and measures.
     *
     * @throws BenchException a watcher was refused, or didn't get each event once
     */
    @Override
    public Experiment run() throws InterruptedException {
        TestBed servers = stage.start();
        CpuMeter cpu = new CpuMeter(servers.servers(), settings.schedule());
        List<Experiment.Result> results = new ArrayList<>();
        for (WatchWork work : settings.works()) {
            results.add(new WatchWorkMeasuring(work, settings, servers, cpu, stage::note).run());
        }
        Surroundings surroundings = stage.surroundings(servers, "built-in client (Netty HTTP/2 frames, one thread)");
        return new Experiment(heading(surroundings), json(surroundings), results);
    }

    private List<String> heading(Surroundings surroundings) {
        List<String> lines = new ArrayList<>();
        lines.add(surroundings.toText());
        lines.add("Paths in turn; each run has about "
                + Experiment.seconds(settings.schedule().duration())
                + " of measurement. Medians are per figure. Values of " + DataSet.VALUE_BYTES
                + " B are put at the leader; the event count of every watcher was checked.");
        lines.add("p50, p99: from the acknowledgement of a put to its delivery; sent p50, p99: from sending the put.");
        lines.add(
                "CPU: user and system time of all server processes of the path, minus usage without watchers and puts;"
                        + " less puts: also minus the cost of as many puts with one watcher.");
        lines.addAll(settings.schedule().notes("watchers", "; to the writer: none."));
        return lines;
    }

    private Map<String, Object> json(Surroundings surroundings) {
        Map<String, Object> json = settings.schedule().json(surroundings);
        json.put("putsPerSecond", settings.putsPerSecond());
        json.put("putsInFlight", settings.inFlight());
        return json;
    }

    @Override
    public void close() {
        stage.close();
    }
}
