package io.understudy.bench;

import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Measures reads by way of the gateway beside the same reads by way of its peers, in turn, so that whatever else the
 * machine does meets all of them.
 */
public final class ReadBench implements AutoCloseable {

    private final ReadBenchSettings settings;
    private final Path folder;
    private final Progress progress;
    private volatile @Nullable TestBed testBed;

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data, logs and files of the load generator
     * @param progress where to show how far it is
     */
    public ReadBench(ReadBenchSettings settings, Path folder, Progress progress) {
        this.settings = settings;
        this.folder = folder;
        this.progress = progress;
    }

    /**
     * Starts the servers and measures.
     *
     * @throws BenchException a path failed, or answers something else than the learner; or there is no such load
     *     generator
     */
    public ReadReport run() throws InterruptedException {
        double otherLoad = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        LoadGenerator generator = generator();
        EtcdPrograms programs = new EtcdPrograms(progress);
        programs.find();
        TestBed servers = new TestBed(programs.found(), folder, settings.roundTrip(), progress);
        testBed = servers;
        servers.start();
        List<Server> processes = servers.servers();
        progress.close();
        Measuring measuring = new Measuring(generator, processes, settings);
        List<WorkResult> results = new ArrayList<>();
        for (Work work : settings.works()) {
            results.add(new WorkMeasuring(work, settings, servers, measuring, progress::note).run());
        }
        Surroundings surroundings = new Surroundings(
                Runtime.getRuntime().availableProcessors(),
                otherLoad,
                programs.found().version().toString(),
                System.getProperty("java.version"),
                Surroundings.jvmOptions(processes.get(0).pid()),
                generator.description());
        return new ReadReport(settings, surroundings, results);
    }

    private LoadGenerator generator() {
        return switch (settings.generator()) {
            case AUTO -> H2Load.find(System.getenv(), folder).orElseGet(OwnClient::new);
            case OWN -> new OwnClient();
            case H2LOAD ->
                H2Load.find(System.getenv(), folder)
                        .orElseThrow(() -> new BenchException(
                                "there is no h2load on PATH; Debian has it in the package" + " nghttp2-client"));
        };
    }

    /** Stops all servers; a run under way fails. Idempotent. */
    @Override
    public void close() {
        TestBed running = testBed;
        if (running != null) {
            running.close();
        }
    }
}
