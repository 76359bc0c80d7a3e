package io.understudy.bench;

import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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
    public BenchReport run() throws InterruptedException {
        TestBed servers = stage.start();
        CpuMeter cpu = new CpuMeter(servers.servers(), settings.schedule());
        List<WatchResult> results = new ArrayList<>();
        for (WatchWork work : settings.works()) {
            results.add(new WatchWorkMeasuring(work, settings, servers, cpu, stage::note).run());
        }
        return new WatchReport(
                settings, stage.surroundings(servers, "built-in client (Netty HTTP/2 frames, one thread)"), results);
    }

    @Override
    public void close() {
        stage.close();
    }
}
