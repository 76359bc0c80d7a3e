package io.understudy.bench.kafka;

import io.understudy.bench.BenchException;
import io.understudy.bench.Latencies;
import io.understudy.bench.ProcessCpu;
import io.understudy.bench.ProcessMemory;
import io.understudy.bench.relay.Relay;
import io.understudy.bench.relay.RelayFigure;
import io.understudy.bench.relay.RelayProcess;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.bench.relay.TargetView;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.Revision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;

/** One run of a work, on servers of its own. */
final class KafkaMeasurements {

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int FIRST_KEYS = 1_000;
    /** Who put at a time when it need only be quick. */
    private static final int WRITERS = 64;

    private final EtcdBinaries binaries;
    private final Path folder;
    private final KafkaBenchSettings settings;
    private final Progress progress;

    KafkaMeasurements(EtcdBinaries binaries, Path folder, KafkaBenchSettings settings, Progress progress) {
        this.binaries = binaries;
        this.folder = folder;
        this.settings = settings;
        this.progress = progress;
    }

    /** @throws BenchException something did not come to the topic */
    Map<RelayFigure, Double> run(KafkaWork work, Relay relay, int number) throws InterruptedException {
        Path ours = folder.resolve(work + "-" + relay.name().toLowerCase(Locale.ROOT) + "-" + number);
        try (Servers servers = Servers.start(binaries, ours);
                SourceLoad load = new SourceLoad(servers.writersUrl());
                RelayProcess mirror = RelayProcess.mirror(ours.resolve("mirror"), servers.intoKafka(), progress)) {
            load.bulk(FIRST_KEYS);
            return switch (work) {
                case HISTORY -> replay(servers, load, mirror, settings.changes(), work);
                case SINGLE ->
                    relay == Relay.WATCH
                            ? watch(servers, load)
                            : replay(servers, load, mirror, settings.commits(), work);
                case PACED ->
                    relay == Relay.CHAIN
                            ? chain(servers, load, mirror, ours.resolve("second"))
                            : paced(servers, load, mirror);
            };
        }
    }

    private Map<RelayFigure, Double> replay(
            Servers servers, SourceLoad load, RelayProcess mirror, int changes, KafkaWork work)
            throws InterruptedException {
        mirror.start();
        awaitTopic(servers);
        try (TopicView view = new TopicView(servers.bootstrapServers(), false)) {
            view.awaitComplete(revision(servers), PATIENCE);
            mirror.stop();
            write(load, changes, work);
            Revision end = revision(servers);
            view.begin();
            long began = System.nanoTime();
            mirror.start();
            double seconds = view.awaitComplete(end, PATIENCE) / 1e9;
            Map<RelayFigure, Double> figures = new EnumMap<>(RelayFigure.class);
            figures.put(RelayFigure.CHANGES_PER_SECOND, changes / seconds);
            figures.put(RelayFigure.SECONDS_WITH_START, (System.nanoTime() - began) / 1e9);
            figures.put(RelayFigure.CPU_MICROS, (double) ProcessCpu.micros(mirror.pid()) / changes);
            figures.put(RelayFigure.RESIDENT_MEGABYTES, ProcessMemory.residentBytes(mirror.pid()) / 1e6);
            return figures;
        }
    }

    private static void write(SourceLoad load, int changes, KafkaWork work) throws InterruptedException {
        if (work == KafkaWork.HISTORY) {
            load.bulk(changes);
        } else {
            load.singly(changes, WRITERS);
        }
    }

    /** The same history told to a client that only counts it. */
    private Map<RelayFigure, Double> watch(Servers servers, SourceLoad load) throws InterruptedException {
        long from = revision(servers).value() + 1;
        write(load, settings.commits(), KafkaWork.SINGLE);
        CountDownLatch missing = new CountDownLatch(settings.commits());
        AtomicLong first = new AtomicLong();
        try (TargetView follower = new TargetView(servers.followerUrl())) {
            follower.watch(from, number -> {
                first.compareAndSet(0, System.nanoTime());
                missing.countDown();
            });
            if (!missing.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new BenchException("a watch did not tell all history");
            }
        }
        double seconds = (System.nanoTime() - first.get()) / 1e9;
        return new EnumMap<>(Map.of(RelayFigure.CHANGES_PER_SECOND, settings.commits() / seconds));
    }

    private Map<RelayFigure, Double> paced(Servers servers, SourceLoad load, RelayProcess mirror)
            throws InterruptedException {
        mirror.start();
        awaitTopic(servers);
        try (TopicView view = new TopicView(servers.bootstrapServers(), true)) {
            view.awaitComplete(revision(servers), PATIENCE);
            return latencies(load, view.seen(), mirror);
        }
    }

    private Map<RelayFigure, Double> chain(Servers servers, SourceLoad load, RelayProcess mirror, Path place)
            throws InterruptedException {
        mirror.start();
        awaitTopic(servers);
        try (RelayProcess second = RelayProcess.mirror(place, servers.fromKafka(), progress);
                TargetView target = new TargetView(servers.readersUrl())) {
            second.start();
            target.awaitKeys(load.count(), PATIENCE);
            ConcurrentMap<Integer, Long> seen = new ConcurrentHashMap<>();
            target.watch(0, number -> seen.put(number, System.nanoTime()));
            return latencies(load, seen, second);
        }
    }

    /** @param seen when each key was seen, by its number */
    private Map<RelayFigure, Double> latencies(SourceLoad load, Map<Integer, Long> seen, RelayProcess relay)
            throws InterruptedException {
        load.paced(settings.putsPerSecond(), settings.warmUp(), number -> {});
        ConcurrentMap<Integer, Long> acknowledged = new ConcurrentHashMap<>();
        int before = load.count();
        double cpuBefore = ProcessCpu.micros(relay.pid());
        load.paced(
                settings.putsPerSecond(),
                settings.duration(),
                number -> acknowledged.put((int) number, System.nanoTime()));
        Waiting.until(
                PATIENCE,
                () -> seen.keySet().containsAll(acknowledged.keySet()) ? Optional.of(seen) : Optional.empty(),
                () -> new BenchException("not every put was seen"));
        Latencies all = Latencies.of(acknowledged.entrySet().stream()
                .mapToLong(put -> Math.max(0, (seen.getOrDefault(put.getKey(), 0L) - put.getValue()) / 1_000))
                .toArray());
        Map<RelayFigure, Double> figures = new EnumMap<>(RelayFigure.class);
        figures.put(RelayFigure.P50_MILLIS, all.millis(0.5));
        figures.put(RelayFigure.P99_MILLIS, all.millis(0.99));
        figures.put(RelayFigure.CPU_MICROS, (ProcessCpu.micros(relay.pid()) - cpuBefore) / (load.count() - before));
        return figures;
    }

    private static Revision revision(Servers servers) {
        try (TargetView leader = new TargetView(servers.writersUrl())) {
            return new Revision(leader.revision());
        }
    }

    private static void awaitTopic(Servers servers) {
        KafkaClients clients = new KafkaClients(KafkaSettings.of(servers.bootstrapServers()), "understudy-bench");
        try (Admin admin = clients.admin()) {
            Waiting.until(
                    PATIENCE,
                    () -> topicExists(admin) ? Optional.of(Servers.TOPIC) : Optional.empty(),
                    () -> new BenchException("the mirror has not created its topic"));
        }
    }

    private static boolean topicExists(Admin admin) {
        try {
            return admin.listTopics()
                    .names()
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .contains(Servers.TOPIC);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted while waiting for the topic", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new BenchException("the broker doesn't say which topics it has", e);
        }
    }
}
