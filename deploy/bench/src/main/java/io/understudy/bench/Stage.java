package io.understudy.bench;

import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The servers of a benchmark from finding etcd until all are stopped, and a description of their machine. */
final class Stage implements AutoCloseable {

    private final Path folder;
    private final Schedule schedule;
    private final Progress progress;
    private final EtcdPrograms programs;
    private double otherLoad;
    private volatile @Nullable TestBed testBed;

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    Stage(Path folder, Schedule schedule, Progress progress) {
        this.folder = folder;
        this.schedule = schedule;
        this.progress = progress;
        this.programs = new EtcdPrograms(progress);
    }

    /** Starts all servers, once; they serve when this returns. */
    TestBed start() throws InterruptedException {
        otherLoad = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        programs.find();
        TestBed servers = new TestBed(programs.found(), folder, schedule, progress);
        testBed = servers;
        servers.start();
        progress.close();
        return servers;
    }

    /** Reports progress. */
    void note(String line) {
        progress.note(line);
    }

    /** @param loadGenerator what makes the load */
    Surroundings surroundings(TestBed started, String loadGenerator) {
        return new Surroundings(
                Runtime.getRuntime().availableProcessors(),
                otherLoad,
                programs.found().version().toString(),
                System.getProperty("java.version"),
                Surroundings.jvmOptions(started.servers().get(0).pid()),
                loadGenerator);
    }

    /** Stops all servers. Idempotent. */
    @Override
    public void close() {
        TestBed running = testBed;
        if (running != null) {
            running.close();
        }
    }
}
