package io.understudy.bench;

import io.understudy.bench.ServerConnections.NotServedException;
import io.understudy.bench.WatchWork.Demand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Takes one work through all its runs, the paths in turn. */
final class WatchWorkMeasuring {

    private final WatchWork work;
    private final WatchBenchSettings settings;
    private final TestBed servers;
    private final CpuMeter cpu;
    private final WatchProbe probe;
    private final Consumer<String> notes;
    private final Map<ServerPath, Series> results = new EnumMap<>(ServerPath.class);

    /** @param notes receives the progress */
    WatchWorkMeasuring(
            WatchWork work, WatchBenchSettings settings, TestBed servers, CpuMeter cpu, Consumer<String> notes) {
        this.work = work;
        this.settings = settings;
        this.servers = servers;
        this.cpu = cpu;
        this.probe = work.demand() == Demand.NONE
                ? new WatchMemoryProbe(work.watchers(), servers)
                : new WatchLoadProbe(work, settings, servers, cpu);
        this.notes = notes;
    }

    /** @throws BenchException something was lost at the gateway */
    Experiment.Result run() throws InterruptedException {
        Map<ServerPath, Duration> warmUps = new EnumMap<>(ServerPath.class);
        for (ServerPath path : work.paths()) {
            on(path, () -> {
                WatchClient.open(servers.url(path), servers.access(), Watchers.one())
                        .close();
                notes.accept(work + ", " + path + ", warm-up");
                warmUps.put(path, probe.warmUp(path));
            });
        }
        notes.accept(work + ", idle");
        // Servers have to clear away the watchers of the warm-ups first.
        cpu.idleRates();
        Map<ProcessRole, Double> idle = cpu.idleRates();
        Map<ServerPath, List<Run>> runs = new EnumMap<>(ServerPath.class);
        for (int number = 1; number <= probe.runs(); number++) {
            String count = ", run " + number + " of " + probe.runs() + ": ";
            for (ServerPath path : work.paths()) {
                on(path, () -> {
                    Run run = probe.run(path, idle);
                    runs.computeIfAbsent(path, key -> new ArrayList<>()).add(run);
                    notes.accept(work + ", " + path + count + run.toText());
                });
            }
        }
        runs.forEach((path, its) -> results.putIfAbsent(path, new Series(its)));
        Map<String, Series> paths = new LinkedHashMap<>();
        work.paths().forEach(path -> paths.put(path.toString(), results.get(path)));
        return new Experiment.Result(
                work.toString(),
                work.description() + settings.demand(work),
                ServerPath.GATEWAY.toString(),
                paths,
                work.goals(),
                List.of(Experiment.before(warmUps, idle)));
    }

    /** What is done with a path. */
    private interface Step {
        void take() throws InterruptedException;
    }

    /** Unless the path has failed before. A peer's failure is a result, the gateway's is none. */
    private void on(ServerPath path, Step step) throws InterruptedException {
        if (results.containsKey(path)) {
            return;
        }
        servers.prepare(path);
        try {
            step.take();
        } catch (NotServedException e) {
            notes.accept(work + ", " + path + ": not served");
            results.put(path, Series.notServed(e));
        } catch (BenchException e) {
            if (path == ServerPath.GATEWAY) {
                throw new BenchException(work + ": no figures, since a run failed", e);
            }
            notes.accept(work + ", " + path + ": " + e.getMessage());
            results.put(path, Series.failed(e));
        }
    }
}
