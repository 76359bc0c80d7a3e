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
import java.util.stream.Stream;

/** Takes one work through all its runs, the paths in turn. */
final class WorkMeasuring {

    private final Work work;
    private final ReadBenchSettings settings;
    private final TestBed servers;
    private final Measuring measuring;
    private final Consumer<String> notes;

    /** @param notes receives the progress */
    WorkMeasuring(Work work, ReadBenchSettings settings, TestBed servers, Measuring measuring, Consumer<String> notes) {
        this.work = work;
        this.settings = settings;
        this.servers = servers;
        this.measuring = measuring;
        this.notes = notes;
    }

    /** @throws BenchException a path failed, or answers something else than the learner */
    WorkResult run() throws InterruptedException {
        Map<ServerPath, PathResult<Run>> notServed = new EnumMap<>(ServerPath.class);
        Map<ServerPath, Shot> shots = new EnumMap<>(ServerPath.class);
        Aim aim = new Aim(servers, settings);
        for (ServerPath path : settings.paths(work)) {
            try {
                shots.put(path, aim.at(path, work));
            } catch (NotServedException e) {
                notes.accept(work + ", " + path + ": not served");
                notServed.put(path, new NotServed<>(String.valueOf(e.getMessage())));
            }
        }
        Map<ServerPath, Duration> warmUps = warmUps(shots);
        notes.accept(work + ", idle");
        Map<Role, Double> idle = measuring.idleRates();
        Map<ServerPath, PathResult<Run>> full = runs(shots, Pace.FULL, idle);
        Map<ServerPath, PathResult<Run>> equal = new EnumMap<>(ServerPath.class);
        if (!settings.equalLoad().isNone() && !full.isEmpty()) {
            equal.putAll(runs(shots, settings.equalLoad().pace(slowest(full)), idle));
        }
        full.putAll(notServed);
        return new WorkResult(work, warmUps, idle, full, equal);
    }

    private static double slowest(Map<ServerPath, PathResult<Run>> results) {
        return results.values().stream()
                .flatMap(
                        result -> result instanceof Measured<Run> measured ? Stream.of(measured.median()) : Stream.of())
                .mapToDouble(Run::perSecond)
                .min()
                .orElseThrow();
    }

    private Map<ServerPath, Duration> warmUps(Map<ServerPath, Shot> shots) {
        Map<ServerPath, Duration> lasted = new EnumMap<>(ServerPath.class);
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

    private Map<ServerPath, PathResult<Run>> runs(Map<ServerPath, Shot> shots, Pace pace, Map<Role, Double> idle) {
        Map<ServerPath, List<Run>> runs = new EnumMap<>(ServerPath.class);
        for (int number = 1; number <= settings.schedule().runs(); number++) {
            for (Map.Entry<ServerPath, Shot> each : shots.entrySet()) {
                runs.computeIfAbsent(each.getKey(), path -> new ArrayList<>())
                        .add(run(each.getKey(), each.getValue(), pace, idle, number));
            }
        }
        Map<ServerPath, PathResult<Run>> results = new EnumMap<>(ServerPath.class);
        runs.forEach((path, its) -> results.put(path, Run.all(its)));
        return results;
    }

    private Run run(ServerPath path, Shot shot, Pace pace, Map<Role, Double> idle, int number) {
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
                    settings.schedule().runs(),
                    run.perSecond(),
                    run.p99Millis(),
                    run.cpuMicros()));
            return run;
        } catch (BenchException e) {
            throw failed(path, e);
        }
    }

    private BenchException failed(ServerPath path, BenchException why) {
        return new BenchException(work + " at " + path + ": no figures, since a run failed", why);
    }
}
