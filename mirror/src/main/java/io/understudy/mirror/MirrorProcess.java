package io.understudy.mirror;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.config.ProcessName;
import io.understudy.feed.FeedKind;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.active.ActiveRole;
import io.understudy.mirror.kafka.KafkaSink;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import io.understudy.mirror.lease.LeaseKeeper.LeaseMetrics;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.mirror.pipeline.MirrorFailedException;
import io.understudy.mirror.pipeline.MirrorPlan;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.Pipeline;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.settings.MirrorCourses;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.MirrorShown;
import io.understudy.mirror.status.StatusServer;
import io.understudy.mirror.status.StatusServer.Shown;
import io.understudy.tls.TlsFileException;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mirrors of one process, and its status server.
 *
 * <p>Invariant M36: a process retries and reports while source or target is unavailable; a mirror that needs an
 * operator fails alone, with the reason, and is tried again.
 */
public final class MirrorProcess implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MirrorProcess.class);

    private static final Duration SAMPLE_INTERVAL = Duration.ofSeconds(1);

    private final ProcessMetrics process = new ProcessMetrics("mirror", ProcessMetrics.versionOf(MirrorProcess.class));
    private final MeterRegistry meters = process.registry();
    private final CompletableFuture<MirrorFailedException> failure = new CompletableFuture<>();
    /** Open resources, the last first. */
    private final Deque<AutoCloseable> open = new ConcurrentLinkedDeque<>();

    private final StatusServer status;

    /** The mirrors; empty until all have been started. */
    private volatile List<Pipeline> pipelines = List.of();

    /** Background tasks of mirrors to etcd, by mirror name. */
    private final Map<String, Supplier<Optional<MirrorBackgroundTasks>>> upkeeps = new ConcurrentHashMap<>();

    private MirrorProcess(MirrorSettings settings) throws IOException {
        status = new StatusServer(
                settings.status(),
                TlsFileException.at("tls", () -> settings.security().server(meters)),
                new ShownHere());
        open.push(process);
        open.push(status);
    }

    /**
     * Starts the status server and all mirrors. Each mirror retries alone while its source, target or files are
     * unavailable.
     *
     * @throws IOException the status address can't be listened at; the message names it
     * @throws TlsFileException if certificates or keys of the server, or of every mirror, can't be read
     */
    public static MirrorProcess start(MirrorSettings settings) throws IOException {
        requireOneReadable(settings);
        MirrorProcess process = new MirrorProcess(settings);
        try {
            process.startMirrors(settings);
            return process;
        } catch (RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** Fails if no mirror can read its files, which is a configuration error. */
    private static void requireOneReadable(MirrorSettings settings) {
        TlsFileException first = null;
        for (MirrorSettings.Mirror mirror : settings.mirrors()) {
            try {
                mirror.requireReadableFiles();
                return;
            } catch (TlsFileException e) {
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Returns the port of status and metrics. */
    public int statusPort() {
        return status.port();
    }

    /** Returns a future that completes when a mirror first fails. The others continue, and it is tried again. */
    public CompletableFuture<MirrorFailedException> failure() {
        return failure.copy();
    }

    /** Returns a report of each mirror. */
    public List<MirrorReport> reports() {
        return pipelines.stream().map(Pipeline::report).toList();
    }

    /** Completes pending writes, or interrupts them after a few seconds, then closes all connections. Idempotent. */
    @Override
    public synchronized void close() {
        pipelines.forEach(Pipeline::stop);
        // What they write ends by their connections, which were opened later.
        pipelines.forEach(Pipeline::close);
        close(open);
    }

    private static void close(Deque<AutoCloseable> resources) {
        for (AutoCloseable next = resources.poll(); next != null; next = resources.poll()) {
            try {
                next.close();
            } catch (Exception e) {
                LOG.atWarn().addKeyValue("resource", next).setCause(e).log("close failed");
            }
        }
    }

    private void startMirrors(MirrorSettings settings) {
        String writer = ProcessName.unique();
        // Shown all at once: to be ready means that each of them is.
        pipelines = settings.mirrors().stream()
                .map(mirror -> startMirror(mirror, writer, MirrorCourses.feeding(mirror, settings.mirrors())))
                .toList();
        ScheduledExecutorService clock =
                Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("mirror-query"));
        open.push(clock::shutdownNow);
        var unused = clock.scheduleAtFixedRate(
                () -> pipelines.forEach(Pipeline::sampleSource), 0, SAMPLE_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    private Pipeline startMirror(MirrorSettings.Mirror mirror, String writer, Set<String> feeding) {
        return mirror.target() instanceof MirrorSettings.Target.Kafka kafka
                ? started(mirror, () -> opened(opened -> intoKafka(mirror, kafka.options(), writer, opened)), null)
                : startEtcd(mirror, writer, feeding);
    }

    /** The other direction is opened when it is first used. Its connections and its feed have names of their own. */
    private Pipeline startEtcd(MirrorSettings.Mirror mirror, String writer, Set<String> feeding) {
        String name = mirror.name();
        LeaseMetrics leases = new LeaseMetrics(name, meters);
        Map<MirrorPlan, MirrorBackgroundTasks> started = new ConcurrentHashMap<>();
        CompletableFuture<Pipeline> running = new CompletableFuture<>();
        BiFunction<String, MirrorSettings.Mirror, MirrorPlan> opening = (label, direction) -> opened(opened -> {
            EtcdMirror etcd = new EtcdMirror(
                    label,
                    direction,
                    (MirrorSettings.Target.Etcd) direction.target(),
                    writer,
                    MirrorSource.open(label, direction, meters, opened),
                    direction.equals(mirror) ? feeding : Set.of(),
                    meters,
                    leases,
                    opened);
            MirrorPlan plan = etcd.plan(opened);
            MirrorBackgroundTasks upkeep = etcd.upkeep(() -> {
                Pipeline pipeline = running.getNow(null);
                return pipeline != null
                        && pipeline.follows(plan)
                        && pipeline.report().state().isFollowing();
            });
            opened.accept(upkeep);
            upkeep.start();
            started.put(plan, upkeep);
            return plan;
        });
        Pipeline pipeline = started(
                mirror,
                () -> opening.apply(name, mirror),
                mirror.reversed()
                        .<Supplier<MirrorPlan>>map(back -> () -> opening.apply(name + "-reversed", back))
                        .orElse(null));
        running.complete(pipeline);
        upkeeps.put(name, () -> started.entrySet().stream()
                .filter(each -> pipeline.follows(each.getKey()))
                .map(Map.Entry::getValue)
                .findFirst());
        pipeline.differing(
                () -> upkeep(name).map(MirrorBackgroundTasks::differing).orElse(0L));
        MirrorMeter.WARNINGS
                .gauge(() -> upkeep(name)
                        .map(MirrorBackgroundTasks::warnings)
                        .orElseGet(List::of)
                        .size())
                .tag("mirror", name)
                .register(meters);
        MirrorMeter.VERIFY_DIFFERENCES
                .gauge(() -> upkeep(name).map(MirrorBackgroundTasks::differing).orElse(0L))
                .tag("mirror", name)
                .register(meters);
        return pipeline;
    }

    /** Returns the tasks of the current direction; empty until it is open. */
    private Optional<MirrorBackgroundTasks> upkeep(String mirror) {
        return Optional.ofNullable(upkeeps.get(mirror)).flatMap(Supplier::get);
    }

    private MirrorPlan intoKafka(
            MirrorSettings.Mirror mirror, KafkaSinkOptions options, String writer, Consumer<AutoCloseable> opened) {
        MirrorSource source = MirrorSource.open(mirror, meters, opened);
        return new MirrorPlan(
                source.range(),
                FeedKind.HISTORY,
                mirror.source().shown(),
                source.feeds(),
                source.head(),
                source.cluster() != null,
                source::outage,
                () -> source.count().apply(source.range()),
                mirror.target().shown(),
                ActiveRole.ALWAYS,
                Optional::empty,
                KafkaSink.factory(mirror.name(), mirror.scope(), writer, options, meters));
    }

    private Pipeline started(
            MirrorSettings.Mirror mirror, Supplier<MirrorPlan> forward, @Nullable Supplier<MirrorPlan> back) {
        String source = mirror.source().shown();
        String target = mirror.target().shown();
        Pipeline pipeline =
                Pipeline.start(mirror.name(), source, target, mirror.source().patience(), forward, back, meters);
        open.push(pipeline);
        var unused = pipeline.failure().thenAccept(failure::complete);
        LOG.atInfo()
                .addKeyValue("mirror", mirror.name())
                .addKeyValue("source", source)
                .addKeyValue("target", target)
                .log("mirror started");
        return pipeline;
    }

    /** Registers opened resources for {@link #close}; on failure it closes them at once. Any thread. */
    private MirrorPlan opened(Function<Consumer<AutoCloseable>, MirrorPlan> opening) {
        Deque<AutoCloseable> resources = new ConcurrentLinkedDeque<>();
        try {
            MirrorPlan plan = opening.apply(resources::push);
            resources.descendingIterator().forEachRemaining(open::push);
            return plan;
        } catch (RuntimeException e) {
            close(resources);
            throw e;
        }
    }

    /** Provides the state of these mirrors to the status server. */
    private final class ShownHere implements Shown {

        @Override
        public List<MirrorShown> mirrors() {
            return reports().stream().map(this::mirror).toList();
        }

        private MirrorShown mirror(MirrorReport report) {
            return upkeep(report.mirror())
                    .map(upkeep -> upkeep.shown(report))
                    .orElseGet(() -> new MirrorShown(report, null, 0, null, null, List.of()));
        }

        @Override
        public ProcessMetrics.Scrape metrics(@Nullable String accept) {
            return process.scrape(accept);
        }

        @Override
        public Optional<RevisionMap> revisions(String mirror) {
            return upkeep(mirror).map(MirrorBackgroundTasks::revisions);
        }
    }
}
