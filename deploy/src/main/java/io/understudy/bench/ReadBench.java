package io.understudy.bench;

import io.understudy.bench.PathResult.Measured;
import io.understudy.bench.PathResult.NotServed;
import io.understudy.lab.part.EtcdPrograms;
import io.understudy.lab.progress.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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
        LoadGenerator generator = generator();
        EtcdPrograms programs = new EtcdPrograms(progress);
        programs.find();
        TestBed servers = new TestBed(programs.found(), folder, settings.roundTrip(), progress);
        testBed = servers;
        servers.start();
        List<Server> processes = servers.servers();
        progress.close();
        Map<Role, Double> idle = idleRates(processes);
        Measuring measuring = new Measuring(generator, processes, idle, settings);
        Aim aim = new Aim(servers, settings);
        List<WorkResult> results = new ArrayList<>();
        for (Work work : settings.works()) {
            results.add(measure(work, aim, measuring));
        }
        Surroundings surroundings = new Surroundings(
                Runtime.getRuntime().availableProcessors(),
                programs.found().version().toString(),
                System.getProperty("java.version"),
                Surroundings.jvmOptions(processes.get(0).pid()),
                generator.description());
        return new ReadReport(settings, surroundings, idle, results);
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

    private Map<Role, Double> idleRates(List<Server> processes) throws InterruptedException {
        progress.note("idle for " + settings.idle().toMillis() + " ms");
        CpuReading before = CpuReading.of(processes);
        TimeUnit.MILLISECONDS.sleep(settings.idle().toMillis());
        return CpuReading.of(processes).rateSince(before);
    }

    private WorkResult measure(Work work, Aim aim, Measuring measuring) {
        Map<ReadPath, PathResult> results = new EnumMap<>(ReadPath.class);
        Map<ReadPath, Shot> shots = new EnumMap<>(ReadPath.class);
        Map<ReadPath, List<Run>> runs = new EnumMap<>(ReadPath.class);
        for (ReadPath path : work.paths()) {
            try {
                shots.put(path, aim.at(path, work));
            } catch (NotServedException e) {
                results.put(path, new NotServed(String.valueOf(e.getMessage())));
                progress.note(work + ": not served by " + path);
            }
        }
        shots.forEach((path, shot) -> warmUp(work, path, shot, measuring));
        for (int number = 1; number <= settings.runs(); number++) {
            for (Map.Entry<ReadPath, Shot> each : shots.entrySet()) {
                runs.computeIfAbsent(each.getKey(), path -> new ArrayList<>())
                        .add(run(work, each.getKey(), number, each.getValue(), measuring));
            }
        }
        runs.forEach((path, its) -> results.put(path, new Measured(its)));
        return new WorkResult(work, results);
    }

    private void warmUp(Work work, ReadPath path, Shot shot, Measuring measuring) {
        try {
            progress.note(work + ", warm-up, " + path);
            measuring.warmUp(shot);
        } catch (BenchException e) {
            throw new BenchException(work + ", warm-up, " + path, e);
        }
    }

    private Run run(Work work, ReadPath path, int number, Shot shot, Measuring measuring) {
        try {
            Run run = measuring.run(path, shot);
            progress.note(String.format(
                    Locale.ROOT,
                    "%s, run %d of %d, %s: %.0f requests/s, p99 %.2f ms, CPU %.1f us/request",
                    work,
                    number,
                    settings.runs(),
                    path,
                    run.perSecond(),
                    run.p99Millis(),
                    run.cpuMicros()));
            return run;
        } catch (BenchException e) {
            throw new BenchException(
                    work + ", run " + number + ", " + path + ": no figures, since there were errors", e);
        }
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
