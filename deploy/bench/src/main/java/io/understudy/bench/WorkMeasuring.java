package io.understudy.bench;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.bench.CpuMeter.CpuReading;
import io.understudy.bench.LoadGenerator.Load;
import io.understudy.bench.LoadGenerator.Shot;
import io.understudy.bench.ServerConnections.NotServedException;
import io.understudy.bench.Work.Target;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/**
 * Takes one work through all its runs, the paths in turn.
 *
 * @param notes receives the progress
 */
record WorkMeasuring(
        Work work, ReadBenchSettings settings, TestBed servers, Measuring measuring, Consumer<String> notes) {

    /** @throws BenchException a path failed, or answers something else than the learner */
    List<Experiment.Result> run() throws InterruptedException {
        Map<ServerPath, Series> notServed = new EnumMap<>(ServerPath.class);
        Map<ServerPath, Shot> shots = new EnumMap<>(ServerPath.class);
        Aim aim = new Aim(servers, settings);
        for (ServerPath path : settings.paths(work)) {
            try {
                shots.put(path, aim.at(path, work));
            } catch (NotServedException e) {
                notes.accept(work + ", " + path + ": not served");
                notServed.put(path, Series.notServed(e));
            }
        }
        Map<ServerPath, Duration> warmUps = warmUps(shots);
        notes.accept(work + ", idle");
        Map<ProcessRole, Double> idle = measuring.idleRates();
        Map<ServerPath, Series> full = runs(shots, Pace.FULL, idle);
        Map<ServerPath, Series> equal = new EnumMap<>(ServerPath.class);
        if (!settings.equalLoad().isNone() && !full.isEmpty()) {
            equal.putAll(runs(shots, settings.equalLoad().pace(slowest(full)), idle));
        }
        full.putAll(notServed);
        List<Experiment.Result> results = new ArrayList<>();
        results.add(result(
                "",
                full,
                work.targets().stream().map(Target::cpu).toList(),
                List.of(Experiment.before(warmUps, idle))));
        if (!equal.isEmpty()) {
            List<Goal> goals =
                    new ArrayList<>(work.targets().stream().map(Target::p99).toList());
            // The round trip in progress, and the next one, which confirms the read.
            double most = work.isLinearizable()
                    ? 2.0 * settings.schedule().roundTrip().toMillis()
                    : Double.POSITIVE_INFINITY;
            goals.add(Goal.within(Figure.P50_MILLIS, ServerPath.GATEWAY_NEAR, Double.POSITIVE_INFINITY));
            goals.add(Goal.within(Figure.P99_MILLIS, ServerPath.GATEWAY_NEAR, most));
            results.add(result(", equal load", equal, goals, List.of()));
        }
        return results;
    }

    private Experiment.Result result(
            String load, Map<ServerPath, Series> measured, List<Goal> goals, List<String> notes) {
        Map<String, Series> paths = new LinkedHashMap<>();
        settings.paths(work).stream()
                .filter(measured::containsKey)
                .forEach(path -> paths.put(path.toString(), measured.get(path)));
        String description = work.description() + ", " + work.api() + ", " + work.inFlight() + " in flight on "
                + settings.connections(work) + " connections";
        return new Experiment.Result(work + load, description, ServerPath.GATEWAY.toString(), paths, goals, notes);
    }

    private static double slowest(Map<ServerPath, Series> results) {
        return results.values().stream()
                .flatMap(series -> series.median().stream())
                .mapToDouble(run -> run.figure(Figure.REQUESTS_PER_SECOND))
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

    private Map<ServerPath, Series> runs(Map<ServerPath, Shot> shots, Pace pace, Map<ProcessRole, Double> idle) {
        Map<ServerPath, List<Run>> runs = new EnumMap<>(ServerPath.class);
        for (int number = 1; number <= settings.schedule().runs(); number++) {
            for (Map.Entry<ServerPath, Shot> each : shots.entrySet()) {
                runs.computeIfAbsent(each.getKey(), path -> new ArrayList<>())
                        .add(run(each.getKey(), each.getValue(), pace, idle, number));
            }
        }
        Map<ServerPath, Series> results = new EnumMap<>(ServerPath.class);
        runs.forEach((path, its) -> results.put(path, new Series(its)));
        return results;
    }

    private Run run(ServerPath path, Shot shot, Pace pace, Map<ProcessRole, Double> idle, int number) {
        servers.prepare(path);
        try {
            Run run = measuring.run(path, shot, pace, idle);
            notes.accept(work + ", " + path + (pace.isFull() ? "" : ", equal load") + ", run " + number + " of "
                    + settings.schedule().runs() + ": " + run.toText());
            return run;
        } catch (BenchException e) {
            throw failed(path, e);
        }
    }

    private BenchException failed(ServerPath path, BenchException why) {
        return new BenchException(work + " at " + path + ": no figures, since a run failed", why);
    }

    /** Makes sure that a path answers a work as the learner does, before it is measured. */
    private record Aim(TestBed servers, ReadBenchSettings settings) {

        private static final Duration PATIENCE = Duration.ofSeconds(10);

        /**
         * What to send.
         *
         * @throws NotServedException the path doesn't answer such requests
         * @throws BenchException it fails, or answers something else than the learner
         */
        Shot at(ServerPath path, Work work) {
            servers.prepare(path);
            Object expected = expected(work);
            ByteString request = work.api().request(work.range());
            URI server = servers.url(path);
            try (ServerConnections caller = ServerConnections.open(work.api(), server, servers.access(), 1)) {
                byte[] answer = Waiting.until(
                        PATIENCE,
                        () -> Optional.of(answer(caller, request, path, work))
                                .filter(given -> work.api().content(given).equals(expected)),
                        () -> new BenchException(path + " and the learner return different responses to " + work));
                return new Shot(
                        server,
                        servers.access(),
                        work.api(),
                        request,
                        answer.length,
                        settings.connections(work),
                        work.inFlight());
            }
        }

        /** A learner only serves serializable reads, which no writes make different here. */
        private Object expected(Work work) {
            RangeRequest range = work.range().toBuilder().setSerializable(true).build();
            try (ServerConnections caller =
                    ServerConnections.open(work.api(), servers.url(ServerPath.LEARNER), servers.access(), 1)) {
                return work.api().content(answer(caller, work.api().request(range), ServerPath.LEARNER, work));
            }
        }

        private static byte[] answer(ServerConnections caller, ByteString request, ServerPath path, Work work) {
            try {
                return caller.call(request.toByteArray()).join();
            } catch (CompletionException e) {
                if (e.getCause() instanceof NotServedException notServed) {
                    throw notServed;
                }
                throw new BenchException(path + " failed in benchmark " + work, e);
            }
        }
    }

    /** One run after the other, each with its warm-up. */
    record Measuring(LoadGenerator generator, CpuMeter cpu, Schedule schedule) {

        /** As {@link CpuMeter#idleRates}. */
        Map<ProcessRole, Double> idleRates() throws InterruptedException {
            return cpu.idleRates();
        }

        /**
         * As {@link CpuMeter#warmUp}, then {@link CpuMeter#finishCompiling}.
         *
         * @throws BenchException a request failed
         */
        Duration warmUp(ServerPath path, Shot shot) {
            return cpu.warmUp(
                            path,
                            () -> generator.warmUp(shot, schedule.warmUp()).requests())
                    .plus(cpu.finishCompiling(path, () -> generator.warmUp(shot, schedule.warmUp())));
        }

        /**
         * Measures; at full pace after a warm-up, which determines how many requests make up the duration.
         *
         * @param idle as {@link #idleRates}
         * @throws BenchException a request failed
         */
        Run run(ServerPath path, Shot shot, Pace pace, Map<ProcessRole, Double> idle) {
            double perSecond =
                    pace.isFull() ? generator.warmUp(shot, schedule.warmUp()).perSecond() : pace.perSecond();
            double wanted = perSecond * schedule.duration().toMillis() / 1e3;
            long perConnection = Math.round(wanted / shot.connections());
            long requests = Math.max(perConnection * shot.connections(), shot.inFlight());
            CpuReading before = cpu.now();
            Load load = generator.run(shot, requests, pace);
            Map<ProcessRole, Double> used = cpu.used(path, before, idle);
            used.replaceAll((role, micros) -> micros / load.tally().requests());
            Map<Figure, Double> figures = Run.latencies(load.latencies());
            figures.put(Figure.REQUESTS_PER_SECOND, load.tally().perSecond());
            figures.put(Figure.CPU_PER_REQUEST, CpuMeter.sum(used));
            return new Run(figures, used);
        }
    }
}
