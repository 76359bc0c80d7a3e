package io.understudy.bench;

import io.understudy.bench.PathResult.Measured;
import io.understudy.bench.PathResult.NotServed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** Takes one work through all its runs, the paths in turn. */
final class WorkMeasuring {

    private final Work work;
    private final ReadBenchSettings settings;
    private final TestBed servers;
    private final Measuring measuring;
    private final Consumer<String> notes;

    /** @param notes told how far it is */
    WorkMeasuring(Work work, ReadBenchSettings settings, TestBed servers, Measuring measuring, Consumer<String> notes) {
        this.work = work;
        this.settings = settings;
        this.servers = servers;
        this.measuring = measuring;
        this.notes = notes;
    }

    /** @throws BenchException a path failed, or answers something else than the learner */
    WorkResult run() throws InterruptedException {
        Map<ReadPath, PathResult> notServed = new EnumMap<>(ReadPath.class);
        Map<ReadPath, Shot> shots = new EnumMap<>(ReadPath.class);
        Aim aim = new Aim(servers, settings);
        for (ReadPath path : settings.paths(work)) {
            try {
                shots.put(path, aim.at(path, work));
            } catch (NotServedException e) {
                notes.accept(work + ", " + path + ": not served");
                notServed.put(path, new NotServed(String.valueOf(e.getMessage())));
            }
        }
        Map<ReadPath, Duration> warmUps = warmUps(shots);
        notes.accept(work + ", idle");
        Map<Role, Double> idle = measuring.idleRates();
        Map<ReadPath, PathResult> full = runs(shots, Pace.FULL, idle);
        Map<ReadPath, PathResult> equal = new EnumMap<>(ReadPath.class);
        if (!settings.equalLoad().isNone() && !full.isEmpty()) {
            equal.putAll(runs(shots, settings.equalLoad().pace(slowest(full)), idle));
        }
        full.putAll(notServed);
        return new WorkResult(work, warmUps, idle, full, equal);
    }

    private static double slowest(Map<ReadPath, PathResult> results) {
        return results.values().stream()
                .filter(Measured.class::isInstance)
                .mapToDouble(result -> ((Measured) result).median().perSecond())
                .min()
                .orElseThrow();
    }

    private Map<ReadPath, Duration> warmUps(Map<ReadPath, Shot> shots) {
        Map<ReadPath, Duration> lasted = new EnumMap<>(ReadPath.class);
        shots.forEach((path, shot) -> {
            notes.accept(work + ", " + path + ", warm-up");
            servers.prepare(path);
            try {
                lasted.put(path, measuring.warmUp(path, shot));
            } catch (BenchException e) {
                throw failed(path, e);
            }
        });
        return lasted;
    }

    private Map<ReadPath, PathResult> runs(Map<ReadPath, Shot> shots, Pace pace, Map<Role, Double> idle) {
        Map<ReadPath, List<Run>> runs = new EnumMap<>(ReadPath.class);
        for (int number = 1; number <= settings.runs(); number++) {
            for (Map.Entry<ReadPath, Shot> each : shots.entrySet()) {
                runs.computeIfAbsent(each.getKey(), path -> new ArrayList<>())
                        .add(run(each.getKey(), each.getValue(), pace, idle, number));
            }
        }
        Map<ReadPath, PathResult> results = new EnumMap<>(ReadPath.class);
        runs.forEach((path, its) -> results.put(path, new Measured(its)));
        return results;
    }

    private Run run(ReadPath path, Shot shot, Pace pace, Map<Role, Double> idle, int number) {
        servers.prepare(path);
        try {
            Run run = measuring.run(path, shot, pace, idle);
            notes.accept(String.format(
                    Locale.ROOT,
                    "%s, %s%s, run %d of %d: %.0f requests/s, p99 %.2f ms, CPU %.1f us/request",
                    work,
                    path,
                    pace.isFull() ? "" : ", equal load",
                    number,
                    settings.runs(),
                    run.perSecond(),
                    run.p99Millis(),
                    run.cpuMicros()));
            return run;
        } catch (BenchException e) {
            throw failed(path, e);
        }
    }

    private BenchException failed(ReadPath path, BenchException why) {
        return new BenchException(work + " at " + path + ": there are no figures, since not all went well", why);
    }
}
