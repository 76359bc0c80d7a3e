package io.understudy.bench.mirror;

import io.understudy.bench.BenchException;
import io.understudy.bench.Figure;
import io.understudy.bench.Latencies;
import io.understudy.bench.ProcessCpu;
import io.understudy.bench.ProcessMemory;
import io.understudy.bench.Run;
import io.understudy.bench.relay.Relay;
import io.understudy.bench.relay.RelayBench;
import io.understudy.bench.relay.RelayProcess;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.bench.relay.SourceLoad.SteadyPuts;
import io.understudy.bench.relay.TargetView;
import io.understudy.lab.part.UnderstudyCommand;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Folders;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Each run on clusters of its own. */
record MirrorRuns(Path folder, MirrorBenchSettings settings, Progress progress)
        implements RelayBench.Measuring<MirrorWork> {

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /** make-mirror falls behind without bound: so long is waited for what it still has to bring. */
    private static final Duration DRAIN_PATIENCE = Duration.ofMinutes(2);

    /** @throws io.understudy.bench.BenchException something did not come to the target */
    @Override
    public Map<Relay, Map<Figure, Double>> run(EtcdBinaries etcd, MirrorWork work, Relay relay, int number)
            throws InterruptedException {
        Path ours = folder.resolve(work + "-" + relay.name().toLowerCase(Locale.ROOT) + "-" + number);
        try (Clusters clusters = Clusters.start(etcd, ours, settings);
                SourceLoad load = new SourceLoad(clusters.writersUrl());
                TargetView target = new TargetView(clusters.readersUrl());
                Copying copying = new Copying(process(etcd, relay, clusters, ours.resolve("relay")))) {
            return Map.of(
                    relay,
                    switch (work) {
                        case FIRST_SYNC -> firstSync(relay, clusters, load, target, copying);
                        case BACKLOG ->
                            relay == Relay.WATCH ? replay(clusters, load) : backlog(clusters, load, target, copying);
                        case LIVE -> live(relay, clusters, load, target, copying);
                        case PACED -> relay == Relay.NONE ? direct(clusters) : paced(clusters, load, target, copying);
                        case VERIFY -> verify(clusters, load, target, copying, ours);
                        case RESTART -> restart(clusters, load, target, copying);
                        case RESYNC -> resync(clusters, load, target, copying);
                    });
        }
    }

    private @Nullable RelayProcess process(EtcdBinaries etcd, Relay relay, Clusters clusters, Path place) {
        return switch (relay) {
            case MIRROR -> RelayProcess.mirror(place, clusters.sides(), progress);
            case MAKE_MIRROR -> makeMirror(etcd, clusters, place);
            case CHAIN, PRODUCER, WATCH, NONE -> null;
        };
    }

    /** {@code etcdctl make-mirror}, of everything. It ends if a learner answers, since etcd 3.6 rejects its watch for good. */
    private RelayProcess makeMirror(EtcdBinaries etcd, Clusters clusters, Path place) {
        String sources = clusters.voterUrls().stream()
                .map(each -> each.getHost() + ":" + each.getPort())
                .collect(Collectors.joining(","));
        URI target = clusters.targetUrl();
        return RelayProcess.of(new ServerCommand(
                "make-mirror",
                etcd.etcdctl(),
                List.of("--endpoints=" + sources, "make-mirror", target.getHost() + ":" + target.getPort()),
                Map.of("ETCDCTL_API", "3"),
                Folders.create(place),
                place.resolve("make-mirror.log")));
    }

    private Map<Figure, Double> firstSync(
            Relay relay, Clusters clusters, SourceLoad load, TargetView target, Copying copying)
            throws InterruptedException {
        int keys = relay == Relay.MIRROR ? settings.keys() : settings.peerKeys();
        load.bulk(keys);
        long began = System.nanoTime();
        clusters.beginCuts();
        copying.start();
        target.awaitKeys(keys, PATIENCE);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.KEYS_PER_SECOND, keys / secondsSince(began));
        figures.put(Figure.CPU_PER_KEY, copying.cpuMicros() / keys);
        figures.put(Figure.RESIDENT_MEGABYTES, copying.residentMegabytes());
        return figures;
    }

    private Map<Figure, Double> backlog(Clusters clusters, SourceLoad load, TargetView target, Copying copying)
            throws InterruptedException {
        synchronise(1_000, load, target, copying);
        copying.stop();
        load.singly(settings.backlog(), settings.writers());
        long began = System.nanoTime();
        clusters.beginCuts();
        copying.start();
        target.awaitKeys(load.count(), PATIENCE);
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.KEYS_PER_SECOND, settings.backlog() / secondsSince(began));
        figures.put(Figure.CPU_PER_KEY, copying.cpuMicros() / settings.backlog());
        return figures;
    }

    /** The same history read by a client that only counts it. */
    private Map<Figure, Double> replay(Clusters clusters, SourceLoad load) throws InterruptedException {
        load.bulk(1_000);
        try (TargetView follower = new TargetView(clusters.followerUrl())) {
            long from = follower.revision() + 1;
            load.singly(settings.backlog(), settings.writers());
            long began = System.nanoTime();
            follower.awaitEvents(from, settings.backlog(), PATIENCE);
            return Map.of(Figure.KEYS_PER_SECOND, settings.backlog() / secondsSince(began));
        }
    }

    private Map<Figure, Double> live(
            Relay relay, Clusters clusters, SourceLoad load, TargetView target, Copying copying)
            throws InterruptedException {
        warmUp(relay, load, target, copying);
        int before = load.count();
        double cpuBefore = copying.cpuMicros();
        long began = System.nanoTime();
        clusters.beginCuts();
        load.writers(settings.writers(), settings.duration());
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        int puts = load.count() - before;
        figures.put(Figure.PUTS_PER_SECOND, puts / secondsSince(began));
        if (relay != Relay.NONE) {
            long last = System.nanoTime();
            target.awaitKey(load.count() - 1, DRAIN_PATIENCE);
            figures.put(Figure.DRAIN_MILLIS, secondsSince(last) * 1e3);
            target.awaitKeys(load.count(), DRAIN_PATIENCE);
            figures.put(Figure.CPU_PER_KEY, (copying.cpuMicros() - cpuBefore) / puts);
            figures.put(Figure.RESIDENT_MEGABYTES, copying.residentMegabytes());
        }
        return figures;
    }

    private Map<Figure, Double> paced(Clusters clusters, SourceLoad load, TargetView target, Copying copying)
            throws InterruptedException {
        warmUp(Relay.MIRROR, load, target, copying);
        load.paced(settings.putsPerSecond(), settings.warmUp(), number -> {});
        target.awaitKey(load.count() - 1, DRAIN_PATIENCE);
        Map<Integer, Long> seen = target.watch();
        double cpuBefore = copying.cpuMicros();
        clusters.beginCuts();
        SteadyPuts puts = SteadyPuts.put(load, settings.putsPerSecond(), settings.duration());
        target.awaitKey(load.count() - 1, DRAIN_PATIENCE);
        Map<Figure, Double> figures = Run.latencies(puts.until(seen, DRAIN_PATIENCE));
        figures.put(Figure.CPU_PER_KEY, (copying.cpuMicros() - cpuBefore) / puts.count());
        return figures;
    }

    /** How long a put at the target itself takes. */
    private Map<Figure, Double> direct(Clusters clusters) throws InterruptedException {
        try (SourceLoad load = new SourceLoad(clusters.readersUrl())) {
            ConcurrentMap<Long, Long> took = new ConcurrentHashMap<>();
            load.paced(settings.putsPerSecond(), settings.warmUp(), number -> {});
            long pause = TimeUnit.SECONDS.toNanos(1) / settings.putsPerSecond();
            long began = System.nanoTime();
            int first = load.count();
            load.paced(
                    settings.putsPerSecond(),
                    settings.duration(),
                    number -> took.put(number, System.nanoTime() - began - (number - first) * pause));
            return Run.latencies(Latencies.of(took.values().stream()
                    .mapToLong(nanos -> Math.max(0, nanos / 1_000))
                    .toArray()));
        }
    }

    private Map<Figure, Double> verify(
            Clusters clusters, SourceLoad load, TargetView target, Copying copying, Path folder)
            throws InterruptedException {
        synchronise(settings.keys(), load, target, copying);
        Usage before = clusters.usage();
        long began = System.nanoTime();
        ServerCommand command = UnderstudyCommand.ofThisBuild()
                .running(
                        "verify",
                        folder,
                        "",
                        System.getenv(),
                        "mirror",
                        "verify",
                        "--config",
                        folder.resolve("relay").resolve("mirror.yaml").toString());
        double peak = 0;
        double cpu = 0;
        try (ServerProcess process = new LocalProcesses().prepare(command)) {
            process.start();
            while (process.isAlive() && secondsSince(began) < PATIENCE.toSeconds()) {
                OptionalLong pid = process.pid();
                try {
                    peak = pid.isEmpty() ? peak : ProcessMemory.peakBytes(pid.getAsLong());
                    cpu = pid.isEmpty() ? cpu : ProcessCpu.micros(pid.getAsLong());
                } catch (BenchException e) {
                    // It is ending; what was read last is 10 ms old.
                }
                TimeUnit.MILLISECONDS.sleep(10);
            }
            double seconds = secondsSince(began);
            if (process.exitStatus().orElse(-1) != 0) {
                throw new BenchException("mirror verify failed, or took more than " + PATIENCE.toSeconds()
                        + " s; end of its log:\n  "
                        + String.join("\n  ", process.log().tail(12)));
            }
            return clusters.usage().since(before, seconds, cpu / 1e6, peak / 1e6);
        }
    }

    private Map<Figure, Double> restart(Clusters clusters, SourceLoad load, TargetView target, Copying copying)
            throws InterruptedException {
        synchronise(settings.keys(), load, target, copying);
        copying.stop();
        load.singly(1, 1);
        Usage before = clusters.usage();
        long began = System.nanoTime();
        copying.start();
        target.awaitKey(load.count() - 1, PATIENCE);
        return copying.usage(clusters.usage(), before, secondsSince(began));
    }

    private Map<Figure, Double> resync(Clusters clusters, SourceLoad load, TargetView target, Copying copying)
            throws InterruptedException {
        synchronise(settings.keys(), load, target, copying);
        copying.stop();
        load.singly(1_000, settings.writers());
        load.compact();
        Usage before = clusters.usage();
        long began = System.nanoTime();
        copying.start();
        target.awaitKeys(load.count(), PATIENCE);
        load.singly(1, 1);
        target.awaitKey(load.count() - 1, PATIENCE);
        return copying.usage(clusters.usage(), before, secondsSince(began));
    }

    /** Has the mirror make its first copy; returns when it follows the source. */
    private static void synchronise(int keys, SourceLoad load, TargetView target, Copying copying)
            throws InterruptedException {
        load.bulk(keys);
        copying.start();
        target.awaitKeys(keys, PATIENCE);
        // One more, so that the snapshot is over.
        load.singly(1, 1);
        target.awaitKey(load.count() - 1, PATIENCE);
    }

    private void warmUp(Relay relay, SourceLoad load, TargetView target, Copying copying) throws InterruptedException {
        load.bulk(1_000);
        copying.start();
        if (relay != Relay.NONE) {
            target.awaitKeys(load.count(), PATIENCE);
        }
        load.writers(settings.writers(), settings.warmUp());
        if (relay != Relay.NONE) {
            target.awaitKey(load.count() - 1, DRAIN_PATIENCE);
            target.awaitKeys(load.count(), DRAIN_PATIENCE);
        }
    }

    private static double secondsSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e9;
    }

    /** The relay, or none. */
    private record Copying(@Nullable RelayProcess process) implements AutoCloseable {

        void start() throws InterruptedException {
            if (process != null) {
                process.start();
            }
        }

        void stop() {
            if (process != null) {
                process.stop();
            }
        }

        double cpuMicros() {
            return process == null ? 0 : ProcessCpu.micros(process.pid());
        }

        Map<Figure, Double> usage(Usage now, Usage before, double seconds) {
            double peak = process == null ? 0 : ProcessMemory.peakBytes(process.pid());
            return now.since(before, seconds, cpuMicros() / 1e6, peak / 1e6);
        }

        double residentMegabytes() {
            return process == null ? 0 : ProcessMemory.residentBytes(process.pid()) / 1e6;
        }

        @Override
        public void close() {
            if (process != null) {
                process.close();
            }
        }
    }
}
