package io.understudy.bench.kafka;

import io.understudy.bench.Bench;
import io.understudy.bench.BenchException;
import io.understudy.bench.Figure;
import io.understudy.bench.ProcessCpu;
import io.understudy.bench.ProcessMemory;
import io.understudy.bench.Run;
import io.understudy.bench.relay.Relay;
import io.understudy.bench.relay.RelayBench;
import io.understudy.bench.relay.RelayProcess;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.bench.relay.SourceLoad.SteadyPuts;
import io.understudy.bench.relay.TargetView;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.Revision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;

/** Measures the mirror into Kafka, and from there on. */
public final class KafkaBench {

    private KafkaBench() {}

    /**
     * Starts nothing yet.
     *
     * @param folder exists and is empty; gets data and logs
     * @param progress where to show how far it is
     */
    public static Bench of(KafkaBenchSettings settings, Path folder, Progress progress) {
        return new RelayBench<>(
                new RelayBench.Plan<>(settings.works(), settings.runs(), heading(settings), json(settings)),
                new KafkaMeasurements(folder, settings, progress),
                progress);
    }

    private static List<String> heading(KafkaBenchSettings settings) {
        List<String> lines = new ArrayList<>();
        lines.add(
                "Source of three voting members and a learner, one Kafka broker, a target cluster of one member, all new"
                        + " in each run; values of " + SourceLoad.VALUE_BYTES
                        + " B; CPU: user and system time of the last process on the path.");
        lines.add("Partitions: " + settings.partitions() + "; bytes per record: " + ProducerTool.recordBytes()
                + " (key, value, headers). The mirror writes each record to two topics. " + Relay.PRODUCER
                + " writes it to one, as a value, in transactions of " + ProducerTool.TRANSACTION_MILLIS
                + " ms with the mirror's producer properties; its p50 and p99 are from send to acknowledgement.");
        settings.works().forEach(work -> lines.add(work + ": " + demand(settings, work)));
        return lines;
    }

    private static String demand(KafkaBenchSettings settings, KafkaWork work) {
        return switch (work) {
            case HISTORY -> settings.changes() + " changes";
            case SINGLE -> settings.commits() + " commits";
            case PACED -> settings.putsPerSecond() + " puts/s";
        };
    }

    private static Map<String, Object> json(KafkaBenchSettings settings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("durationMillis", settings.duration().toMillis());
        all.put("changes", settings.changes());
        all.put("commits", settings.commits());
        all.put("putsPerSecond", settings.putsPerSecond());
        all.put("partitions", settings.partitions());
        return all;
    }

    /** Each run on servers of its own. */
    record KafkaMeasurements(Path folder, KafkaBenchSettings settings, Progress progress)
            implements RelayBench.Measuring<KafkaWork> {

        private static final Duration PATIENCE = Duration.ofMinutes(5);
        private static final int FIRST_KEYS = 1_000;
        /** Concurrent writers where only speed matters. */
        private static final int WRITERS = 64;

        /** @throws BenchException something did not come to the topic */
        @Override
        public Map<Relay, Map<Figure, Double>> run(EtcdBinaries etcd, KafkaWork work, Relay relay, int number)
                throws InterruptedException {
            Path ours = folder.resolve(work + "-" + relay.name().toLowerCase(Locale.ROOT) + "-" + number);
            if (relay == Relay.PRODUCER) {
                return Map.of(relay, producer(ours, work));
            }
            try (Servers servers = Servers.start(etcd, ours);
                    SourceLoad load = new SourceLoad(servers.writersUrl());
                    RelayProcess mirror = RelayProcess.mirror(
                            ours.resolve("mirror"), servers.intoKafka(settings.partitions()), progress)) {
                load.bulk(FIRST_KEYS);
                return switch (work) {
                    case HISTORY -> Map.of(relay, replay(servers, load, mirror, settings.changes(), work));
                    case SINGLE ->
                        Map.of(
                                relay,
                                relay == Relay.WATCH
                                        ? watch(servers, load)
                                        : replay(servers, load, mirror, settings.commits(), work));
                    case PACED ->
                        relay == Relay.CHAIN
                                ? Map.of(relay, chain(servers, load, mirror, ours.resolve("second")))
                                : paced(servers, load, mirror);
                };
            }
        }

        private Map<Figure, Double> producer(Path ours, KafkaWork work) throws InterruptedException {
            ProducerTool tool = new ProducerTool(ours, settings.partitions());
            return switch (work) {
                case HISTORY -> tool.run(settings.changes(), ProducerTool.UNLIMITED);
                case SINGLE -> tool.run(settings.commits(), ProducerTool.UNLIMITED);
                case PACED ->
                    tool.run(
                            Math.toIntExact(settings.duration().toMillis() * settings.putsPerSecond() / 1000),
                            settings.putsPerSecond());
            };
        }

        private Map<Figure, Double> replay(
                Servers servers, SourceLoad load, RelayProcess mirror, int changes, KafkaWork work)
                throws InterruptedException {
            mirror.start();
            awaitTopic(servers);
            try (TopicView view = new TopicView(servers.bootstrapServers(), settings.partitions(), false)) {
                view.awaitComplete(revision(servers), PATIENCE);
                mirror.stop();
                write(load, changes, work);
                Revision end = revision(servers);
                view.begin();
                long began = System.nanoTime();
                mirror.start();
                double seconds = view.awaitComplete(end, PATIENCE) / 1e9;
                Map<Figure, Double> figures = new EnumMap<>(Figure.class);
                figures.put(Figure.CHANGES_PER_SECOND, changes / seconds);
                figures.put(Figure.MEGABYTES_PER_SECOND, changes / seconds * ProducerTool.recordBytes() / 1e6);
                figures.put(Figure.SECONDS_WITH_START, (System.nanoTime() - began) / 1e9);
                figures.put(Figure.CPU_PER_KEY, (double) ProcessCpu.micros(mirror.pid()) / changes);
                figures.put(Figure.RESIDENT_MEGABYTES, ProcessMemory.residentBytes(mirror.pid()) / 1e6);
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

        /** The same history read by a client that only counts it. */
        private Map<Figure, Double> watch(Servers servers, SourceLoad load) throws InterruptedException {
            long from = revision(servers).value() + 1;
            write(load, settings.commits(), KafkaWork.SINGLE);
            try (TargetView follower = new TargetView(servers.followerUrl())) {
                double seconds = follower.awaitEvents(from, settings.commits(), PATIENCE) / 1e9;
                return Map.of(Figure.CHANGES_PER_SECOND, settings.commits() / seconds);
            }
        }

        /** With a watch beside it: its delays are those of the machine and etcd. */
        private Map<Relay, Map<Figure, Double>> paced(Servers servers, SourceLoad load, RelayProcess mirror)
                throws InterruptedException {
            mirror.start();
            awaitTopic(servers);
            try (TopicView view = new TopicView(servers.bootstrapServers(), settings.partitions(), true);
                    TargetView follower = new TargetView(servers.followerUrl())) {
                view.awaitComplete(revision(servers), PATIENCE);
                Map<Integer, Long> watched = follower.watch();
                Load brought = load(load, mirror);
                return Map.of(
                        Relay.MIRROR, figures(brought, view.seen(), mirror),
                        Relay.WATCH, Run.latencies(brought.puts().until(watched, PATIENCE)));
            }
        }

        private Map<Figure, Double> chain(Servers servers, SourceLoad load, RelayProcess mirror, Path place)
                throws InterruptedException {
            mirror.start();
            awaitTopic(servers);
            try (RelayProcess second = RelayProcess.mirror(place, servers.fromKafka(), progress);
                    TargetView target = new TargetView(servers.readersUrl())) {
                second.start();
                target.awaitKeys(load.count(), PATIENCE);
                Map<Integer, Long> seen = target.watch();
                return figures(load(load, second), seen, second);
            }
        }

        /** @param cpuMicrosBefore what the relay's process had taken */
        private record Load(SteadyPuts puts, long cpuMicrosBefore) {}

        private Load load(SourceLoad load, RelayProcess relay) throws InterruptedException {
            load.paced(settings.putsPerSecond(), settings.warmUp(), number -> {});
            long cpuBefore = ProcessCpu.micros(relay.pid());
            return new Load(SteadyPuts.put(load, settings.putsPerSecond(), settings.duration()), cpuBefore);
        }

        private static Map<Figure, Double> figures(Load load, Map<Integer, Long> seen, RelayProcess relay) {
            Map<Figure, Double> figures = Run.latencies(load.puts().until(seen, PATIENCE));
            double cpu = ProcessCpu.micros(relay.pid()) - load.cpuMicrosBefore();
            figures.put(Figure.CPU_PER_KEY, cpu / load.puts().count());
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
                throw new BenchException("cannot list the topics of the broker", e);
            }
        }
    }
}
